#!/usr/bin/env bash
# The four experiments of an application server's queues on Open Liberty, with PostgreSQL behind it.
#
#   mvn package && ./study.sh [FOLDER]
#
# Starts a PostgreSQL and a Liberty of its own on loopback, loads them with sokudo, changes the sizes of the
# queues between the runs, and stops both. The records lie in FOLDER (default: target/study).
# SECONDS_EACH, SOKUDO, PORT, DB_PORT and KNEE can be set (KNEE=none leaves the knee out); PG_BIN names the
# folder of initdb.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=$(mkdir -p "${1:-$here/target/study}" && cd "${1:-$here/target/study}" && pwd)
each=${SECONDS_EACH:-15}
sokudo=$(command -v "${SOKUDO:-sokudo}") || { echo "no sokudo: put it on the PATH, or set SOKUDO" >&2; exit 2; }
port=${PORT:-9080} db_port=${DB_PORT:-5499}
plans=$here/../was
server=$here/target/wlp/usr/servers/defaultServer
pg=${PG_BIN:-$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -n 1)}

[[ -d $here/target/wlp ]] || { echo "run \`mvn package\` in $here first" >&2; exit 2; }
[[ -x $pg/initdb ]] || { echo "no initdb: install PostgreSQL, or set PG_BIN" >&2; exit 2; }
mkdir -p "$folder"
work=$(mktemp -d)
password=$(head -c 12 /dev/urandom | od -An -tx1 | tr -d ' \n')

# PostgreSQL refuses to run as root.
as_owner() {
    if ((EUID == 0)); then (cd "$work" && runuser -u postgres -- "$@"); else "$@"; fi
}
stop() {
    "$here/target/wlp/bin/server" stop >"$work/stop.log" 2>&1 || true
    as_owner "$pg/pg_ctl" -D "$work/db" -m immediate stop >"$work/stop-db.log" 2>&1 || true
    rm -rf "$work"
}
trap stop EXIT

if ((EUID == 0)); then chown postgres "$work"; fi
printf '%s' "$password" >"$work/password"
chmod 644 "$work/password"
as_owner "$pg/initdb" -D "$work/db" -U stress -A scram-sha-256 --pwfile="$work/password" >"$work/initdb.log"
as_owner "$pg/pg_ctl" -D "$work/db" -w -l "$work/db.log" \
    -o "-p $db_port -k $work -c listen_addresses=127.0.0.1 -c max_connections=400" start >/dev/null
export PGPASSWORD=$password
sql() { "$pg/psql" -q -h 127.0.0.1 -p "$db_port" -U stress -d "$1" -c "$2"; }
sql postgres "CREATE DATABASE stress"
sql stress "CREATE TABLE item AS SELECT id, 0 AS amount FROM generate_series(0, 1999) AS id"
sql stress "ALTER TABLE item ADD PRIMARY KEY (id)"

mkdir -p "$server/apps"
cp "$here/server.xml" "$server/"
cp "$here/target/stress.war" "$server/apps/"
umask 077
printf 'db.port=%s\ndb.password=%s\nport=%s\n' "$db_port" "$password" "$port" >"$server/bootstrap.properties"

# Sizes of the queues: limits THREADS POOL OPEN. Liberty reads them while it runs.
limits() {
    cat >"$server/limits.xml" <<END
<server>
  <variable name="threads" value="$1"/>
  <variable name="pool" value="$2"/>
  <variable name="open" value="$3"/>
</server>
END
    sleep 5
}
limits 50 10 20000
"$here/target/wlp/bin/server" start >"$work/start.log"
for ((i = 0; i < 120; i++)); do
    curl -fs -m 5 -o /dev/null "http://127.0.0.1:$port/stress/x?bit=0" && break
    sleep 1
done

monitors=(--monitor "target:kind=liberty,url=http://127.0.0.1:$port,timeout=2s"
    --monitor "listen:port=$port" --monitor process:name=java)
# Measures in a folder of that name, where the record then lies in runs/. Ending with a failed demand or with
# errors of the server (1) is a result, and so is a partial record (3).
sokudo_in() {
    local rc=0
    mkdir -p "$folder/$1"
    (cd "$folder/$1" && "$sokudo" "${@:2}") || rc=$?
    ((rc == 0 || rc == 1 || rc == 3))
}
run() { # NAME USERS
    echo "== $1: $2 users"
    sokudo_in "$1" jmx run "$plans/stress-db.jmx" -J "PORT=$port" -J "THREAD_NUMBER=$2" \
        -J "SUSTAIN=$each" -J HOLD=1000 "${monitors[@]}"
}
# Classes are loaded and compiled before anything is counted.
for ((i = 0; i < 100; i++)); do
    curl -fs -m 30 -o /dev/null "http://127.0.0.1:$port/stress/x?bit=512" || true
done
run a-pool-10 25
limits 50 50 20000
run a-pool-50 25
limits 40 40 20000
run c-flow-control 60
limits 40 40 40
run d-limit 60
[[ ${KNEE:-} == none ]] && exit
limits 300 300 20000
echo "== b-knee"
sokudo_in b-knee knee "$plans/stress-cpu.jmx" --param "${KNEE:-THREAD_NUMBER=1..100}" \
    -J "PORT=$port" -J "SUSTAIN=${KNEE_SECONDS:-5}" "${monitors[@]}" --rule bound
