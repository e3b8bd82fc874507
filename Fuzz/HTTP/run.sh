#!/usr/bin/env bash
# Compiles the fuzzer of the HTTP listener's parser with the address sanitizer, replays its seeds, and lets it look for
# a crash, or for a request that is understood in two ways.
#
#   Fuzz/HTTP/run.sh [SECONDS]     10 unless told
#
# Inputs that reached something new stay in .build/fuzz/found/requests; one that crashed is in .build/fuzz/crashes.
set -euo pipefail
cd "$(dirname "$0")/../.."

readonly seconds=${1:-10}
readonly work=.build/fuzz
readonly shim=Sources/System/CBeast
readonly program=$work/requests

mkdir -p "$work/found/requests" "$work/crashes"
if [[ ! -f $program || -n $(find "$shim" Fuzz/HTTP -name '*.[chs]*' -newer "$program" -print -quit) ]]; then
    clang++ -std=c++20 -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined \
        -I "$shim" -I "$shim/include" Fuzz/HTTP/requests.cpp -o "$program"
fi
log=$work/requests.log
if ! "$program" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 -max_len=4096 -dict=Fuzz/HTTP/words.dict \
    -artifact_prefix="$work/crashes/requests-" "$work/found/requests" Fuzz/seeds/requests &>"$log"; then
    tail -n 40 "$log"
    echo "requests crashed; see $work/crashes" >&2
    exit 1
fi
printf '%-10s %-8s %s\n' requests checked "$(grep -E '^Done' "$log")"
