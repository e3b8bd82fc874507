#!/usr/bin/env bash
# Everything that must hold before a change goes in; CI runs exactly this. Stops at the first step that fails.
#
# Every step uses the one debug build in .build, so nothing is compiled twice.
set -euo pipefail
cd "$(dirname "$0")/.."

# How long each fuzzer runs here: long enough to replay its seeds and to notice a parser that broke.
readonly fuzz_seconds=5
# For how long servers are struck here: each fault comes about once. After it everything has to come to rest.
readonly chaos_seconds=45

step() {
    local title=$1
    shift
    printf '\n== %s\n' "$title"
    local started=$SECONDS
    "$@"
    printf '== %s: good, %d s\n' "$title" $((SECONDS - started))
}

lint_scripts() {
    local script scripts
    mapfile -t scripts < <(find . -name .build -prune -o -name '*.sh' -print)
    scripts+=(.ci/run)
    for script in "${scripts[@]}"; do bash -n "$script"; done
    if command -v shellcheck >/dev/null; then
        shellcheck "${scripts[@]}"
    else
        echo "shellcheck is not installed: only the syntax was checked"
    fi
}

lint_swift() {
    local folder folders=()
    for folder in Sources Tests Benchmarks Fuzz; do
        if [[ -d $folder ]]; then folders+=("$folder"); fi
    done
    swift format lint --strict --parallel --recursive Package.swift "${folders[@]}"
}

# Warnings are errors by the manifest. The flag refuses an import of a target that the manifest does not declare.
build() {
    swift build --build-tests --explicit-target-dependency-import-check error
}

# Serializable, behind a pooler, and one statement in a hundred turned back.
less_able_database() {
    ASSAY_TEST_PORTABLE=1 scripts/postgres.sh swift test --skip-build --filter '^StorageTests\.' >.build/tests/portable.log 2>&1 || {
        grep -E '✘|error:|Fatal error|signal code' .build/tests/portable.log | tail -n 40
        return 1
    }
}

step "what is needed" scripts/bootstrap.sh
step "format: scripts" lint_scripts
step "format: Swift" lint_swift
step "build" build
step "tests" scripts/test.sh
step "stores, on a database that knows less" less_able_database
step "chaos: the same purchases by everybody" scripts/chaos.sh race
step "chaos, $chaos_seconds s of faults" scripts/chaos.sh --seconds "$chaos_seconds" --check-every 100 --seed 77
step "soak: some seconds, and a leak that is planted" scripts/soak.sh check
step "Debian package, tried out" scripts/deb-trial.sh
step "documentation" scripts/docs.sh
step "fuzzers, $fuzz_seconds s each" Fuzz/run.sh "$fuzz_seconds"
step "fuzzer of the listener" Fuzz/HTTP/run.sh "$fuzz_seconds"
printf '\nAll good, %d s.\n' "$SECONDS"
