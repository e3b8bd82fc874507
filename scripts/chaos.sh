#!/usr/bin/env bash
# Real processes under real faults, and a checker that joins the records of all of them: Tests/Chaos.
#
#     scripts/chaos.sh --cycles 100 --seed 7       (--help for the rest)
#     CONFIGURATION=release scripts/chaos.sh …     with a release build
#     scripts/chaos.sh race                        only the same purchases, by everybody at once
set -euo pipefail
cd "$(dirname "$0")/.."

# The database syncs its disk, as a shop's would.
if [[ -z ${POSTGRES_RESTART:-} ]]; then POSTGRES_FSYNC=on exec scripts/postgres.sh scripts/chaos.sh "$@"; fi

readonly tests=Tests/Chaos configuration=${CONFIGURATION:-debug}
python=$(scripts/interop.sh environment)

swift build --configuration "$configuration" --product assay
ASSAY=$(swift build --configuration "$configuration" --show-bin-path)/assay
export ASSAY PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=Tests/Interop:$tests

if [[ ${1:-} == race ]]; then exec "$python" -m unittest discover --start-directory "$tests" --pattern test_race.py; fi
"$python" "$tests/chaos.py" "$@"
