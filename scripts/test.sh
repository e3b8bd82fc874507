#!/usr/bin/env bash
# Runs all tests: ours, in two processes one after the other, and other people's software against the simulator.
#
# Tests that talk to sockets and start programs wait on real time; beside tests that compute on all cores they would
# wait for a processor instead, and call that a missed deadline.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly waiting='^(HTTPTests|ServerTests|StorageTests)\.'

swift test --skip "$waiting"
swift test --skip-build --filter "$waiting"
scripts/interop.sh
