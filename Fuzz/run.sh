#!/usr/bin/env bash
# Compiles the fuzzers of our parsers, replays their seeds, and lets each look for a crash for a while.
#
#   Fuzz/run.sh [SECONDS [TARGET …]]     SECONDS for each target, 10 unless told; all targets unless named
#
# Each target runs in two builds at once: optimised, as served, and with all checks and the address sanitizer. Inputs
# that reached something new stay in .build/fuzz/found; an input that crashed a target is in .build/fuzz/crashes.
# Fails when a target crashes, hangs for ten seconds, or takes a gigabyte.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly seconds=${1:-10}
if (($# > 0)); then shift; fi
readonly work=.build/fuzz
readonly flags=(-parse-as-library -wmo -swift-version 6 -package-name assay -suppress-warnings
    -enable-upcoming-feature InternalImportsByDefault -enable-upcoming-feature MemberImportVisibility
    -I Sources/System/COpenSSL -I Sources/System/CArgon2 -I Sources/System/CCurl)
readonly modules=(Encoding AppleFormats PurchaseModel Crypto)

targets=("$@")
if ((${#targets[@]} == 0)); then
    for file in Fuzz/targets/[a-z]*.swift; do targets+=("$(basename "$file" .swift)"); done
fi

# module BUILD NAME FLAG…: compiles one of our targets, unless nothing changed since.
module() {
    local build=$1 name=$2
    shift 2
    local object=$work/$build/$name.o
    if [[ -f $object && -z $(find "Sources/$name" "$work/$build/Encoding.o" Fuzz/run.sh -newer "$object" -print -quit 2>/dev/null) ]]; then
        return
    fi
    find "Sources/$name" -name '*.swift' -print0 | sort -z |
        xargs -0 swiftc "${flags[@]}" "$@" -I "$work/$build" -module-name "$name" \
            -emit-module -emit-module-path "$work/$build/$name.swiftmodule" -c -o "$object"
}

# own TARGET: sources that no other module may see into, compiled into the fuzzer itself.
own() {
    case $1 in
        address) printf '%s\n' Sources/HTTP/HTTPRemote.swift Sources/HTTP/Calling/{AddressBlock,EgressRule,EgressURL}.swift ;;
        certificates)
            printf '%s\n' Sources/Verification/Chain/*.swift \
                Sources/Verification/Report/{CertificateFacts,Reason,Refusal,Verdict,Voucher}.swift
            ;;
        intake) printf '%s\n' Sources/Verification/Triage/*.swift Sources/Verification/Report/{Reason,Refusal,Verdict}.swift ;;
    esac
}

# compile BUILD FLAG…: our modules and the fuzzers in one build.
compile() {
    local build=$1 name target program sources
    shift
    local objects=("${modules[@]/#/$work/$build/}")
    objects=("${objects[@]/%/.o}")
    mkdir -p "$work/$build"
    for name in "${modules[@]}"; do module "$build" "$name" "$@"; done
    for target in "${targets[@]}"; do
        program=$work/$build/$target
        mapfile -t sources < <(own "$target")
        if [[ -f $program && -z $(find Fuzz/targets Fuzz/run.sh "${objects[@]}" "${sources[@]}" -newer "$program" -print -quit) ]]; then
            continue
        fi
        swiftc "${flags[@]}" "$@" -use-ld=lld -I "$work/$build" -module-name "Fuzz_$target" -o "$program" \
            Fuzz/targets/FuzzInput.swift "Fuzz/targets/$target.swift" "${sources[@]}" \
            "${objects[@]}"
    done
}

# fuzz BUILD TARGET: seeds first, then new inputs made from them.
fuzz() {
    local build=$1 target=$2 log=$work/$1/$2.log
    mkdir -p "$work/found/$target" "$work/crashes"
    if ! "$work/$build/$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 -max_len=16384 \
        -artifact_prefix="$work/crashes/$target-" "$work/found/$target" "Fuzz/seeds/$target" &>"$log"; then
        tail -n 40 "$log"
        echo "$target crashed in the $build build; see $work/crashes" >&2
        return 1
    fi
    printf '%-12s %-9s %s\n' "$target" "$build" "$(grep -E '^Done' "$log")"
}

compile checked -Onone -sanitize=fuzzer,address &
checked=$!
compile optimised -O -sanitize=fuzzer
wait "$checked"

failures=0
for target in "${targets[@]}"; do
    fuzz checked "$target" &
    checked=$!
    fuzz optimised "$target" || failures=$((failures + 1))
    wait "$checked" || failures=$((failures + 1))
done
exit $((failures > 0))
