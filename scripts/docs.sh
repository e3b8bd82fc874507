#!/usr/bin/env bash
# Builds the documentation of all our targets into .build/docs, one archive: open it with `docc preview` or any web
# server. A link to a name that does not exist is an error.
set -euo pipefail
cd "$(dirname "$0")/.."

# Shows what a tool said only when it failed: docc writes an empty line for every archive that is good. All targets are
# tried, so that all faults are seen at once.
failed=0
quietly() {
    local said
    if ! said=$("$@" 2>&1); then
        printf '%s\n' "$said" >&2
        failed=1
    fi
}

swift build
bin=$(swift build --show-bin-path)
triple=$(swift -print-target-info | python3 -c 'import json, sys; print(json.load(sys.stdin)["target"]["triple"])')
work=.build/documentation
rm -rf "$work" .build/docs
mkdir -p "$work"

clang=()
for map in Sources/System/*/module.modulemap "$bin/CBeast.build/module.modulemap"; do
    clang+=(-Xcc "-fmodule-map-file=$map")
done

archives=()
for folder in Sources/*/; do
    module=$(basename "$folder")
    [[ $module != System ]] || continue
    # Each archive may see its own symbols only, or merging them finds every page twice.
    symbols=$work/$module.symbols
    mkdir "$symbols"
    swift symbolgraph-extract -module-name "$module" -minimum-access-level package -skip-synthesized-members \
        -I "$bin/Modules" "${clang[@]}" -target "$triple" -output-dir "$symbols"
    catalogue=$folder$module.docc
    sources=()
    if [[ -d $catalogue ]]; then sources+=("$catalogue"); fi
    archive=$work/$module.doccarchive
    quietly docc convert "${sources[@]}" --additional-symbol-graph-dir "$symbols" --output-path "$archive" \
        --fallback-display-name "$module" --fallback-bundle-identifier "assay.$module" --warnings-as-errors
    archives+=("$archive")
done

((failed == 0)) || exit 1
quietly docc merge "${archives[@]}" --synthesized-landing-page-name Assay --output-path .build/docs
((failed == 0)) || exit 1
echo "documentation of ${#archives[@]} targets: .build/docs"
