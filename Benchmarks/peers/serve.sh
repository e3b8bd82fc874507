#!/usr/bin/env bash
# Starts the peer on 127.0.0.1 with a database of its own in a new folder, and takes both away again when it is ended.
#
#     serve.sh ROOT.der BUNDLE_ID APPLE_ID
#
# It listens on a free port and says on which. PEER_STORE chooses `postgresql` or `sqlite`; unset, it is PostgreSQL if
# its server is installed. All that runs is a child of this script, so that what it costs can be added up.
set -euo pipefail

root=$(realpath "$1")
readonly root bundle_id=$2 apple_id=$3
readonly workers=2
here=$(cd "$(dirname "$0")" && pwd)
readonly here environment=$here/../../.build/bench/venv

if ! cmp -s "$here/requirements.txt" "$environment/installed.txt"; then
    rm -rf "$environment"
    python3 -m venv "$environment"
    "$environment/bin/pip" install --quiet --requirement "$here/requirements.txt" >&2
    cp "$here/requirements.txt" "$environment/installed.txt"
fi

# Not below .build: PostgreSQL runs as another user, who may not look into our folders.
folder=$(mktemp -d)

# Ends one child; one that does not heed it in ten seconds is killed.
end() {
    kill "-$1" "$2" 2>/dev/null || return 0
    for _ in {1..100}; do
        kill -0 "$2" 2>/dev/null || break
        sleep 0.1
    done
    kill -KILL "$2" 2>/dev/null || true
    wait "$2" 2>/dev/null || true
}

finish() {
    # The web server first: it has connections that the database would wait for.
    if [[ -n ${web:-} ]]; then end TERM "$web"; fi
    if [[ -n ${cluster:-} ]]; then end INT "$cluster"; fi
    rm -rf "$folder"
}
trap finish EXIT
trap 'exit 0' TERM INT

database=$folder/peer.sqlite
shopt -s nullglob
servers=(/usr/lib/postgresql/*/bin/postgres)
if [[ ${PEER_STORE:-} == sqlite ]]; then
    servers=()
elif [[ ${PEER_STORE:-} == postgresql ]] && ((${#servers[@]} == 0)); then
    echo "peer: no PostgreSQL server is installed (apt-get install postgresql)" >&2
    exit 1
fi
for postgres in "${servers[@]}"; do
    bin=$(dirname "$postgres")
    as_owner=()
    # PostgreSQL does not run as root.
    if ((EUID == 0)); then
        id postgres >/dev/null 2>&1 || break
        chown postgres "$folder"
        as_owner=(setpriv --reuid=postgres --regid=postgres --init-groups)
    fi
    cd "$folder"
    "${as_owner[@]}" "$bin/initdb" --pgdata="$folder/cluster" --username=peer --auth=trust >/dev/null
    "${as_owner[@]}" "$postgres" -D "$folder/cluster" -k "$folder" -c listen_addresses= -c synchronous_commit=on \
        -c max_wal_size=8GB >"$folder/postgres.log" 2>&1 &
    cluster=$!
    for _ in {1..100}; do
        "$bin/pg_isready" --quiet --host="$folder" && break
        sleep 0.1
    done
    if ! "$bin/pg_isready" --host="$folder" >&2; then
        cat "$folder/postgres.log" >&2
        exit 1
    fi
    database="postgresql://peer@/postgres?host=$folder"
    break
done
if [[ ${PEER_STORE:-} == postgresql && $database != postgresql:* ]]; then
    echo "peer: PostgreSQL needs a user named postgres" >&2
    exit 1
fi

cd "$here"
PEER_ROOT=$root PEER_BUNDLE_ID=$bundle_id PEER_APPLE_ID=$apple_id PEER_DATABASE=$database PYTHONDONTWRITEBYTECODE=1 \
    "$environment/bin/uvicorn" peer:app --host 127.0.0.1 --port 0 --workers "$workers" --no-access-log &
web=$!
if [[ $database == postgresql:* ]]; then echo "database postgresql"; else echo "database sqlite"; fi
wait "$web"
