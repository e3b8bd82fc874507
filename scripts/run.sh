#!/usr/bin/env bash
# Builds Assay for speed and serves it on this machine only, beside a simulated App Store that it trusts.
#
# The program is .build/release/assay. Everything it writes is in ./data; delete that folder to begin anew. Ctrl-C stops it.
set -euo pipefail
cd "$(dirname "$0")/.."

swift build --configuration release --static-swift-stdlib --product assay
assay=$(swift build --configuration release --show-bin-path)/assay

mkdir -p data
exec "$assay" demo --data data --listen 127.0.0.1:8080 --simulator 127.0.0.1:8081
