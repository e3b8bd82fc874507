#!/usr/bin/env bash
# Tries the Debian package out, without a network, on a copy of this machine's files that is thrown away:
#
#     scripts/deb-trial.sh [BINARY]
#
# Installs, serves, upgrades, removes and purges it, and looks after each step at what must hold. Needs root. The copy is an
# overlay: what is written goes into memory.
set -euo pipefail
cd "$(dirname "$0")/.."

binary=${1:-.build/debug/assay}
if ((EUID != 0)); then
    echo "deb-trial: only root can mount; skipped" >&2
    exit 0
fi
if ! unshare --mount --net --pid --fork true 2>/dev/null; then
    echo "deb-trial: this machine gives its root no rooms of its own (unshare); skipped" >&2
    exit 0
fi
if [[ -z ${DEB_TRIAL_INSIDE:-} ]]; then
    first=$(scripts/deb.sh --binary "$binary" --version 0.0.1 --compression none | tail -n 1)
    second=$(scripts/deb.sh --binary "$binary" --version 0.0.2 --compression none | tail -n 1)
    exec env DEB_TRIAL_INSIDE=1 DEB_TRIAL_FIRST="$PWD/$first" DEB_TRIAL_SECOND="$PWD/$second" unshare --mount --net --pid --fork \
        "$PWD/scripts/deb-trial.sh" "$binary"
fi

place=$(mktemp -d)
mount -t tmpfs tmpfs "$place"
mkdir "$place/up" "$place/work" "$place/root"
if ! mount -t overlay overlay -o "lowerdir=/,upperdir=$place/up,workdir=$place/work" "$place/root"; then
    echo "deb-trial: this machine's files cannot lie under an overlay; skipped" >&2
    exit 0
fi
root=$place/root
mount -t proc proc "$root/proc"
# The overlay has no sockets, and systemd's folder would say that it runs.
mkdir -p "$root/run" && mount -t tmpfs tmpfs "$root/run"
cp "$DEB_TRIAL_FIRST" "$root/first.deb"
cp "$DEB_TRIAL_SECOND" "$root/second.deb"
ip link set lo up 2>/dev/null || true

in_root() { chroot "$root" /usr/bin/env PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"; }
as_assay() { in_root runuser -u assay -- "$@"; }

step=
must() {
    if ! "$@"; then
        echo "deb-trial: $step: this does not hold: $*" >&2
        exit 1
    fi
}
mode_is() { [[ $(in_root stat --format '%U:%G %a' "$1") == "$2" ]]; }

step="it is well made"
must dpkg-deb --info "$DEB_TRIAL_FIRST" >/dev/null
dpkg-deb --contents "$DEB_TRIAL_FIRST" >"$place/contents"
for file in usr/bin/assay lib/systemd/system/assay.service etc/assay/assay.json usr/share/man/man1/assay.1.gz \
    usr/share/bash-completion/completions/assay usr/share/zsh/vendor-completions/_assay \
    usr/share/fish/vendor_completions.d/assay.fish usr/share/assay/alerts.yml usr/share/assay/grafana.json; do
    must grep -q " ./$file\$" "$place/contents"
done
must [ -z "$(awk '$2 != "root/root"' "$place/contents")" ]

step="it is installed"
in_root dpkg --install /first.deb >/dev/null
must in_root getent passwd assay >/dev/null
must mode_is /var/lib/assay "assay:assay 700"
must mode_is /var/backups/assay "assay:assay 700"
must mode_is /etc/assay/assay.json "root:assay 640"
# The unit's own line makes room before the next copy: what is younger than two weeks stays, the newest three, and what people
# have copied there.
line=$(sed -n "s|^ExecStartPre=-/bin/sh -c '\\(.*tail -n +4.*\\)'\$|\\1|p" Packaging/systemd/assay-backup.service)
must [ -n "$line" ]
copies=/var/backups/assay
for day in $(seq 10 29); do
    as_assay touch -d "$((30 - day)) days ago" "$copies/2026-01-${day}T030000Z.sqlite" "$copies/2026-01-${day}T030000Z.sqlite.sha256"
done
as_assay touch -d "90 days ago" "$copies/2025-by-hand.sqlite"
as_assay sh -c "${line//\$\$/\$}"
must [ "$(in_root ls "$copies" | grep -c '^2026.*[.]sqlite$')" = 13 ]
must [ "$(in_root ls "$copies" | grep -c '[.]sha256$')" = 13 ]
in_root sh -c "touch -d '90 days ago' $copies/*"
as_assay sh -c "${line//\$\$/\$}"
must [ "$(in_root ls "$copies" | grep -c '^2026.*[.]sqlite$')" = 3 ]
must in_root ls "$copies/2026-01-29T030000Z.sqlite" "$copies/2025-by-hand.sqlite" >/dev/null
in_root sh -c "rm $copies/*"
# shellcheck disable=SC2016 # dpkg-query fills it in
must [ "$(in_root dpkg-query --show --showformat='${Conffiles}' assay | awk '{ print $1 }' | xargs)" = /etc/assay/assay.json ]
must grep -q '^assay 0.1.0$' <(as_assay assay --version)
# Nobody has configured it: that is said, and nothing is served.
if as_assay assay serve --config /etc/assay/assay.json 2>"$place/unconfigured"; then exit 1; fi
must grep -q 'apps' "$place/unconfigured"

step="it serves"
in_root sh -c 'umask 077; printf sk_live_0123456789abcdef0123456789abcdef >/etc/assay/key; chown assay /etc/assay/key'
cat >"$root/etc/assay/assay.json" <<'JSON'
{
  "listen": "127.0.0.1:8080", "data": "/var/lib/assay",
  "apps": [{"id": "shop", "bundle_id": "com.example.shop"}],
  "keys": [{"name": "backend", "app": "shop", "secret_file": "/etc/assay/key"}]
}
JSON
serve() {
    # The last server's lines are none of this one's: it empties the file itself, but when it starts.
    : >"$place/log"
    as_assay assay serve --config /etc/assay/assay.json 2>"$place/log" &
    server=$!
    # It says when it listens: the log is followed, not the clock.
    # shellcheck disable=SC2016 # the inner shell's own argument
    timeout 60 sh -c 'until grep -q "\"listening\"" "$1"; do sleep 0.1; done' - "$place/log"
}
stop() {
    in_root pkill --uid assay --exact --signal TERM assay
    wait "$server"
}
ask() { as_assay env ASSAY_KEY_FILE=/etc/assay/key assay "$@"; }
serve
ask orders create --order before --customer ann --product com.example.coins >/dev/null
stop
must mode_is /var/lib/assay/assay.sqlite "assay:assay 600"
must as_assay assay check --data /var/lib/assay >/dev/null
as_assay sh -c 'assay backup --data /var/lib/assay --to /var/backups/assay/before.sqlite' >/dev/null

step="it is upgraded"
in_root dpkg --install /second.deb >/dev/null </dev/null
must grep -q com.example.shop "$root/etc/assay/assay.json"
must mode_is /etc/assay/assay.json "root:assay 640"
serve
must grep -q '"order_id":"before"' <(ask orders show before --json)
stop

step="it is rolled back"
in_root dpkg --install /first.deb >/dev/null 2>&1 </dev/null
serve
must grep -q '"order_id":"before"' <(ask orders show before --json)
stop

step="it is upgraded where its configuration was deleted"
mv "$root/etc/assay/assay.json" "$root/elsewhere.json"
in_root dpkg --install /second.deb >/dev/null </dev/null
must [ ! -e "$root/etc/assay/assay.json" ]
must mode_is /etc/assay "root:assay 750"
mv "$root/elsewhere.json" "$root/etc/assay/assay.json"

step="it is removed"
in_root dpkg --remove assay >/dev/null
must [ ! -e "$root/usr/bin/assay" ]
must grep -q com.example.shop "$root/etc/assay/assay.json"
must [ -e "$root/var/lib/assay/assay.sqlite" ]

step="it is purged"
in_root dpkg --purge assay >"$place/purged" 2>&1
must [ ! -e "$root/etc/assay/assay.json" ]
must grep -q '/var/lib/assay is kept' "$place/purged"
must [ -e "$root/var/lib/assay/assay.sqlite" ]
must [ -e "$root/var/backups/assay/before.sqlite" ]
echo "the package installs, serves, is upgraded, rolled back, removed and purged, and its ledger stays"
