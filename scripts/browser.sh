#!/usr/bin/env bash
# Looks at every page of the dashboard in a real browser: Debian's Chromium, driven by Playwright from PyPI.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly tests=Tests/Browser environment=.build/browser/venv

if ! command -v chromium >/dev/null; then
    if ((EUID != 0)); then
        echo "browser: there is no chromium. Please run: sudo apt-get install --no-install-recommends chromium" >&2
        exit 1
    fi
    echo "browser: installing chromium"
    export DEBIAN_FRONTEND=noninteractive
    # Package lists that cannot be renewed may still be good enough.
    apt-get update -qq </dev/null >&2 || true
    apt-get install --yes -qq --no-install-recommends chromium </dev/null >&2
fi
if ! cmp -s "$tests/requirements.txt" "$environment/installed.txt"; then
    rm -rf "$environment"
    python3 -m venv "$environment"
    "$environment/bin/pip" install --quiet --disable-pip-version-check --requirement "$tests/requirements.txt"
    cp "$tests/requirements.txt" "$environment/installed.txt"
fi

swift build --product assay
ASSAY=$(swift build --show-bin-path)/assay
export ASSAY
# The other software's tests have what starts a server and a simulated store.
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=Tests/Interop "$environment/bin/python" -m unittest discover --start-directory "$tests"
