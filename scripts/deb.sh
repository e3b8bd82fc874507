#!/usr/bin/env bash
# Builds the Debian package:
#
#     scripts/deb.sh [--binary FILE] [--version VERSION] [--to FOLDER] [--compression KIND]
#
# Without a binary it builds one, with Swift's own libraries inside, so that nothing of Swift need be installed where the
# package goes. The package lies in the folder then, .build/deb if none is named; its path is the last line.
set -euo pipefail
cd "$(dirname "$0")/.."

binary=
folder=.build/deb
compression=xz
version=$(sed -n 's/.*static let text = "\(.*\)"/\1/p' Sources/Server/Reporting/Version.swift)
while (($# > 0)); do
    case $1 in
    --binary) binary=$2 ;;
    --version) version=$2 ;;
    --to) folder=$2 ;;
    --compression) compression=$2 ;;
    *)
        echo "deb: there is no $1" >&2
        exit 2
        ;;
    esac
    shift 2
done

if [[ -z $binary ]]; then
    swift build --configuration release --static-swift-stdlib --product assay >&2
    binary=$(swift build --configuration release --show-bin-path)/assay
fi
architecture=$(dpkg --print-architecture)
mkdir -p "$folder"
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

# Modes are those that are named here, whatever the umask.
put() { install -D -m "$1" "$2" "$root/$3"; }

made() {
    local file=$root/$2
    mkdir -p "$(dirname "$file")"
    "$binary" "${@:3}" >"$file"
    chmod "$1" "$file"
}

# With the symbols that a backtrace needs, and no more.
put 0755 "$binary" usr/bin/assay
strip --strip-debug "$root/usr/bin/assay"
put 0644 Packaging/systemd/assay.service lib/systemd/system/assay.service
put 0644 Packaging/systemd/assay-backup.service lib/systemd/system/assay-backup.service
put 0644 Packaging/systemd/assay-backup.timer lib/systemd/system/assay-backup.timer
put 0640 Packaging/debian/assay.json etc/assay/assay.json
for file in Packaging/monitoring/*; do put 0644 "$file" "usr/share/assay/$(basename "$file")"; done
put 0644 Packaging/debian/copyright usr/share/doc/assay/copyright
put 0644 CHANGELOG.md usr/share/doc/assay/changelog
for file in docs/operations.md docs/doctor.md docs/cli.md docs/api.md docs/keys.md; do
    put 0644 "$file" "usr/share/doc/assay/$(basename "$file")"
done
made 0644 usr/share/man/man1/assay.1 man
made 0644 usr/share/bash-completion/completions/assay completion bash
made 0644 usr/share/zsh/vendor-completions/_assay completion zsh
made 0644 usr/share/fish/vendor_completions.d/assay.fish completion fish
gzip --best --no-name "$root/usr/share/man/man1/assay.1" "$root/usr/share/doc/assay/changelog"

# The packages of the libraries that the binary names; what those need, their packages say. Swift's own are inside.
named=$(objdump -p "$binary" | awk '/NEEDED/ { print $2 }')
depends=$(for library in $named; do
    path=$(ldd "$binary" | awk -v name="$library" '$1 == name { print $3 }')
    if [[ -z $path || $path != /lib/* && $path != /usr/lib/* ]]; then continue; fi
    { dpkg-query --search "$path" 2>/dev/null || dpkg-query --search "/usr$path" 2>/dev/null \
        || dpkg-query --search "$(readlink -f "$path")" 2>/dev/null; } | head -n 1 | cut -d: -f1
done | sort -u | paste -sd, - | sed 's/,/, /g')

mkdir -p "$root/DEBIAN"
for script in postinst prerm postrm; do install -m 0755 "Packaging/debian/$script" "$root/DEBIAN/$script"; done
install -m 0644 Packaging/debian/conffiles "$root/DEBIAN/conffiles"
sed -e "s/@VERSION@/$version/" -e "s/@ARCHITECTURE@/$architecture/" -e "s/@DEPENDS@/$depends/" \
    -e "s/@SIZE@/$(du --summarize --block-size=1K "$root" | cut -f1)/" Packaging/debian/control >"$root/DEBIAN/control"
(cd "$root" && find usr etc lib -type f -print0 | sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"

package=$folder/assay_${version}_$architecture.deb
dpkg-deb --root-owner-group "-Z$compression" --build "$root" "$package" >&2
echo "$package"
