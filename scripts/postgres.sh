#!/usr/bin/env bash
# Runs a command beside a PostgreSQL server that is made for it and thrown away after it:
#
#     scripts/postgres.sh swift test --filter StorageTests
#
# The command finds the server in ASSAY_TEST_POSTGRES, and a PgBouncer before it (transaction mode) in
# ASSAY_TEST_PGBOUNCER. Nothing else on the machine is touched: the ports are free ones, the files are in .build/postgres.
#
# The server does not sync its disk (fsync = off): its promises are PostgreSQL's to keep, and none of our tests cuts the
# power under it. Do not measure with it. With POSTGRES_FSYNC=on it does. POSTGRES_BUFFERS is how much of a large database
# it holds in memory itself, such as 4GB.
#
# POSTGRES_RESTART is a program that restarts the server; its argument is how: fast or immediate.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly folder=$PWD/.build/postgres
# Tests open a store each, and many run at once.
readonly connections_max=400
readonly fsync=${POSTGRES_FSYNC:-off} buffers=${POSTGRES_BUFFERS:-256MB}

bin=$(find /usr/lib/postgresql -maxdepth 3 -name initdb 2>/dev/null | sort -V | tail -n 1)
if [[ -z $bin ]]; then
    echo "postgres: PostgreSQL is not installed; scripts/bootstrap.sh sees to it" >&2
    exit 1
fi
bin=$(dirname "$bin")

# Neither of the two programs runs as root.
as_server=()
if ((EUID == 0)); then as_server=(runuser -u postgres --); fi

# A socket's path may have 107 characters, and the server's user may not be able to walk to here.
place=$(mktemp -d /tmp/assay-postgres.XXXXXX)
if ((EUID == 0)); then chown postgres "$place"; fi
data=$place/data
rm -rf "$folder"
mkdir -p "$folder"
if ((EUID == 0)); then
    chown postgres "$folder"
    if runuser -u postgres -- test -w "$folder" 2>/dev/null; then data=$folder/data; fi
else
    data=$folder/data
fi

is_running=
bouncer=
stop() {
    if [[ -n $bouncer ]] && kill "$bouncer" 2>/dev/null; then wait "$bouncer" 2>/dev/null || true; fi
    if [[ -n $is_running ]]; then
        "${as_server[@]}" "$bin/pg_ctl" --pgdata "$data" --mode immediate --wait stop >/dev/null 2>&1 || true
    fi
    rm -rf "$place" "$folder/data"
}
trap stop EXIT

is_free() { ! (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

free_port() {
    local port
    while true; do
        port=$((20000 + RANDOM % 12000))
        if is_free "$port"; then
            echo "$port"
            return
        fi
    done
}

start_server() {
    (cd / && "${as_server[@]}" "$bin/initdb" --pgdata "$data" --username postgres --auth trust --encoding UTF8 \
        --locale C --no-sync --no-instructions) >"$folder/initdb.log"
    local attempt
    for attempt in {1..10}; do
        port=$(free_port)
        # Another program may take the port in between.
        if (cd / && "${as_server[@]}" "$bin/pg_ctl" --pgdata "$data" --log "$data/server.log" --wait start --options \
            "-p $port -k $place -c listen_addresses=127.0.0.1 -c max_connections=$connections_max -c fsync=$fsync \
            -c full_page_writes=$fsync -c max_wal_size=4GB -c log_min_messages=fatal -c shared_buffers=$buffers") \
            >"$folder/start.log" 2>&1; then
            is_running=1
            return
        fi
    done
    echo "postgres: the server did not start in $attempt attempts: see $folder/start.log" >&2
    exit 1
}

start_bouncer() {
    bouncer_port=$(free_port)
    printf '"postgres" ""\n' >"$place/users"
    cat >"$place/pgbouncer.ini" <<INI
[databases]
* = host=127.0.0.1 port=$port
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = $bouncer_port
unix_socket_dir =
auth_type = trust
auth_file = $place/users
pool_mode = transaction
default_pool_size = 3
max_client_conn = $connections_max
INI
    chmod -R a+rX "$place"
    "${as_server[@]}" "$(command -v pgbouncer || echo /usr/sbin/pgbouncer)" --quiet "$place/pgbouncer.ini" \
        >"$folder/pgbouncer.log" 2>&1 &
    bouncer=$!
    local waited
    for waited in {1..100}; do
        if ! is_free "$bouncer_port"; then return; fi
        sleep 0.1
    done
    echo "postgres: PgBouncer did not start in $waited tenths of a second: see $folder/pgbouncer.log" >&2
    exit 1
}

# With the options of its start, which are kept beside the data.
write_restart() {
    local command=("${as_server[@]}" "$bin/pg_ctl" --pgdata "$data" --log "$data/server.log" --wait restart --mode)
    # shellcheck disable=SC2016 # the argument of the script that is written
    printf '#!/usr/bin/env bash\ncd / && exec %s "$1" </dev/null >/dev/null 2>&1\n' "${command[*]@Q}" >"$folder/restart"
    chmod +x "$folder/restart"
}

start_server
start_bouncer
write_restart
export POSTGRES_RESTART=$folder/restart POSTGRES_FSYNC=$fsync
export ASSAY_TEST_POSTGRES=postgresql://postgres@127.0.0.1:$port/postgres
export ASSAY_TEST_PGBOUNCER=postgresql://postgres@127.0.0.1:$bouncer_port/postgres
"$@"
