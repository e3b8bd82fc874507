#!/usr/bin/env bash
# Tries software that others wrote against the simulated App Store. Takes it from PyPI into an environment of its own;
# `scripts/interop.sh environment` only makes that, and tells its Python.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly tests=Tests/Interop environment=.build/interop/venv

if ! cmp -s "$tests/requirements.txt" "$environment/installed.txt"; then
    rm -rf "$environment"
    python3 -m venv "$environment"
    "$environment/bin/pip" install --quiet --disable-pip-version-check --requirement "$tests/requirements.txt"
    cp "$tests/requirements.txt" "$environment/installed.txt"
fi
if [[ ${1:-} == environment ]]; then
    echo "$environment/bin/python"
    exit
fi

swift build --product assay
ASSAY=$(swift build --show-bin-path)/assay
export ASSAY
PYTHONDONTWRITEBYTECODE=1 "$environment/bin/python" -m unittest discover --start-directory "$tests"
