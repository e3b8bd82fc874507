#!/usr/bin/env bash
# Tests under the thread sanitizer and the address sanitizer, each in a build of its own, which takes its time at first.
#
#     scripts/sanitize.sh [thread|address|both [FILTER]]       both, and HTTPTests, unless told
#
# A report fails the run, and stands in .build/sanitize/thread.log or address.log. All 132 tests of HTTP are good under both
# (2026-11-27). Without Tests/Sanitizers/mutex.c the thread sanitizer makes 32 reports of what mutexes guard.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly which=${1:-both} filter=${2:-^HTTPTests\\.} work=.build/sanitize

# run KIND ENVIRONMENT…: the tests under one of them.
run() {
    local kind=$1 code=0
    shift
    swift build --build-tests --sanitize "$kind" --scratch-path "$work/$kind"
    env "$@" swift test --skip-build --sanitize "$kind" --scratch-path "$work/$kind" --filter "$filter" \
        &>"$work/$kind.log" || code=$?
    grep -E '✘|^SUMMARY|Test run with|error:|Fatal error' "$work/$kind.log" | tail -n 40 || true
    if ((code != 0)); then
        echo "sanitize: not good under the $kind sanitizer: see $work/$kind.log" >&2
        exit 1
    fi
}

mkdir -p "$work"
if [[ $which != address ]]; then
    clang -shared -fPIC -O -o "$work/mutex.so" Tests/Sanitizers/mutex.c
    run thread LD_PRELOAD="$PWD/$work/mutex.so" TSAN_OPTIONS="exitcode=66 history_size=4"
fi
if [[ $which != thread ]]; then run address LSAN_OPTIONS="suppressions=$PWD/Tests/Sanitizers/leaks.txt print_suppressions=0"; fi
