#!/usr/bin/env bash
# Sees to it that a Debian 12 machine has what the build, the tests and the scripts need. Safe to repeat, and quick
# when nothing is missing: then neither apt-get nor the network is touched.
#
# Exit status: 0 all there; 1 packages are missing and cannot be installed from here; 2 no Swift, or one too old.
set -euo pipefail

readonly swift_major_min=6 swift_minor_min=3

# To build: the libraries that Package.swift names, and the C++ library for the HTTP shim.
readonly to_build=(
    libssl-dev libargon2-dev libsqlite3-dev libpq-dev libcurl4-openssl-dev libboost1.81-dev libstdc++-12-dev pkg-config
)
# To test: system calls that fail and clocks that go wrong on purpose, a database server and a pooler before it, and second
# opinions on what we sign, parse and serve: promtool, which comes with prometheus, on figures and alert rules, shells on
# their completions, groff on the manual page. The last ones try the Debian package out.
readonly to_test=(
    strace faketime curl python3 python3-venv openssl postgresql postgresql-contrib pgbouncer prometheus zsh fish groff-base
    adduser binutils iproute2 procps
)

check_swift() {
    local advice="Assay needs Swift $swift_major_min.$swift_minor_min or newer: https://www.swift.org/install/linux/"
    if ! command -v swift >/dev/null; then
        echo "bootstrap: there is no 'swift' in PATH. $advice" >&2
        exit 2
    fi
    local banner major minor
    banner=$(swift --version 2>/dev/null)
    if ! [[ $banner =~ Swift\ version\ ([0-9]+)\.([0-9]+) ]]; then
        echo "bootstrap: 'swift --version' does not tell a version. $advice" >&2
        exit 2
    fi
    major=${BASH_REMATCH[1]}
    minor=${BASH_REMATCH[2]}
    if ((major < swift_major_min || (major == swift_major_min && minor < swift_minor_min))); then
        echo "bootstrap: this is Swift $major.$minor. $advice" >&2
        exit 2
    fi
}

missing_packages() {
    local package
    for package in "${to_build[@]}" "${to_test[@]}"; do
        # The status is "ii " (installed), possibly for several architectures; anything else means: not usable.
        if [[ $(dpkg-query --show --showformat='${db:Status-Abbrev}' "$package" 2>/dev/null) != ii* ]]; then
            echo "$package"
        fi
    done
}

check_packages() {
    if ! command -v dpkg-query >/dev/null; then
        echo "bootstrap: no Debian here; please see yourself to: ${to_build[*]} ${to_test[*]}" >&2
        return
    fi
    local missing
    mapfile -t missing < <(missing_packages)
    ((${#missing[@]} > 0)) || return 0

    local install="apt-get install --yes --no-install-recommends ${missing[*]}"
    if ((EUID != 0)); then
        echo "bootstrap: missing: ${missing[*]}" >&2
        echo "bootstrap: only root can install them. Please run:" >&2
        echo "    sudo apt-get update && sudo $install" >&2
        exit 1
    fi
    echo "bootstrap: installing ${missing[*]}"
    export DEBIAN_FRONTEND=noninteractive
    # Package lists that cannot be renewed may still be good enough: what counts is whether the installation succeeds.
    apt-get update -qq </dev/null >&2 || true
    if ! $install -qq </dev/null >&2; then
        echo "bootstrap: apt-get failed (above). Is there a network? The command was: $install" >&2
        exit 1
    fi
}

check_swift
check_packages
