#!/usr/bin/env bash
# One server under a steady load, and whether its memory, descriptors and threads stay what they are: Tests/Chaos/soak.py.
#
#     scripts/soak.sh --minutes 60 --rate 10       (--help for the rest)
#     scripts/soak.sh --postgres …                 on PostgreSQL instead of SQLite
#     CONFIGURATION=release scripts/soak.sh …      with a release build
#     scripts/soak.sh check                        some seconds, and that it finds leaks which are planted
set -euo pipefail
cd "$(dirname "$0")/.."

if [[ " $* " == *" --postgres "* && -z ${POSTGRES_RESTART:-} ]]; then
    POSTGRES_FSYNC=on exec scripts/postgres.sh scripts/soak.sh "$@"
fi

readonly tests=Tests/Chaos configuration=${CONFIGURATION:-debug}
python=$(scripts/interop.sh environment)

swift build --configuration "$configuration" --product assay
ASSAY=$(swift build --configuration "$configuration" --show-bin-path)/assay
export ASSAY PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=Tests/Interop:$tests

if [[ ${1:-} == check ]]; then
    exec "$python" -m unittest discover --start-directory "$tests" --pattern test_soak.py
fi
"$python" "$tests/soak.py" "$@"
