#!/usr/bin/env bash
# Runs all tests: ours, in four processes one after the other, other people's software against the simulator, and the
# dashboard in a real browser. Beside them runs a PostgreSQL server of their own.
#
# Tests that talk to sockets and start programs wait on real time; beside tests that compute on all cores they would
# wait for a processor instead, and call that a missed deadline. A test of a store or of a program holds its thread while
# it waits, and there are only as many threads as cores: the wire, whose deadlines are real, is tested before those, and
# with it the jobs, of which each test ends when it has hung for some minutes. Programs are tested apart from stores, whose
# long histories would have each of them wait a minute for its turn.
set -euo pipefail
cd "$(dirname "$0")/.."

# Whoever sets this variable has a server; the others get one.
if [[ -z ${ASSAY_TEST_POSTGRES:-} ]]; then exec scripts/postgres.sh scripts/test.sh; fi

readonly wire='^(HTTPTests\.|JobsTests\.|PurchaseClientTests\.TransportTests)'
readonly programs='^ServerTests\.' stores='^StorageTests\.'
readonly logs=.build/tests

# Runs tests, and repeats at the end what failed: thousands of lines may stand between a failure and the last one.
run_tests() {
    local log=$logs/$1.log
    shift
    mkdir -p "$logs"
    if swift test "$@" 2>&1 | tee "$log"; then return; fi
    printf '\n== what failed (all of it is in %s)\n' "$log"
    grep -E '✘|error:|Fatal error|signal code' "$log" | tail -n 40 || true
    return 1
}

run_tests computing --skip "$wire" --skip "$programs" --skip "$stores"
run_tests wire --skip-build --filter "$wire"
run_tests programs --skip-build --filter "$programs"
run_tests stores --skip-build --filter "$stores"
scripts/interop.sh
scripts/browser.sh
