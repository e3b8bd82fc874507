#!/usr/bin/env bash
# Builds the documentation of all our targets into .build/docs, one archive: any web server shows it. A link to a name
# that does not exist, or a parameter that is not explained beside others that are, is an error.
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
work=.build/documentation
rm -rf "$work" .build/docs
mkdir -p "$work"

# The symbols are asked of the compiler itself, as a member of our package: the extractor that comes with it is none,
# and leaves out whatever names another target's `package` types.
package=$(sed -n '/"-package-name"/{s/.*"-package-name","\([^"]*\)".*/\1/p;q}' .build/debug.yaml)
compile=(-swift-version 6 -package-name "$package" -suppress-warnings -I "$bin/Modules")
compile+=(-Xfrontend -experimental-skip-all-function-bodies)
while read -r feature; do
    compile+=(-enable-upcoming-feature "$feature")
done < <(sed -n 's/.*enableUpcomingFeature("\(.*\)").*/\1/p' Package.swift)
# libpq's header is not where the compiler looks by itself.
for flag in $(pkg-config --cflags libpq); do compile+=(-Xcc "$flag"); done
for map in Sources/System/*/module.modulemap "$bin"/C*.build/module.modulemap; do
    compile+=(-Xcc "-fmodule-map-file=$map")
done

archives=()
for folder in Sources/*/; do
    module=$(basename "$folder")
    [[ $module != System ]] || continue
    mapfile -t sources < <(find "$folder" "$bin/$module.build" -name '*.swift')
    # Each archive may see its own symbols only, or merging them finds every page twice.
    symbols=$work/$module.symbols
    mkdir "$symbols"
    quietly swiftc -emit-module -module-name "$module" -o "$work/$module.swiftmodule" "${compile[@]}" \
        -emit-symbol-graph -emit-symbol-graph-dir "$symbols" -symbol-graph-minimum-access-level package \
        -symbol-graph-skip-synthesized-members "${sources[@]}"
    catalogue=()
    if [[ -d $folder$module.docc ]]; then catalogue=("$folder$module.docc"); fi
    archive=$work/$module.doccarchive
    quietly docc convert "${catalogue[@]}" --additional-symbol-graph-dir "$symbols" --output-path "$archive" \
        --fallback-display-name "$module" --fallback-bundle-identifier "assay.$module" --warnings-as-errors
    archives+=("$archive")
done

((failed == 0)) || exit 1
quietly docc merge "${archives[@]}" --synthesized-landing-page-name Assay --output-path .build/docs
((failed == 0)) || exit 1
echo "documentation of ${#archives[@]} targets: .build/docs"
