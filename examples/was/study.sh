#!/usr/bin/env bash
# The four experiments of an application server's queues on sokudo's own target.
#
#   examples/was/study.sh [FOLDER]
#
# Starts a target on loopback, loads it, changes the sizes of its queues while it runs, and stops it. Each
# record lies in a folder of FOLDER (default: study). SECONDS_EACH, SOKUDO, PORT, ADMIN and KNEE
# can be set (KNEE=none leaves the knee out).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=$(mkdir -p "${1:-study}" && cd "${1:-study}" && pwd)
each=${SECONDS_EACH:-15}
sokudo=$(command -v "${SOKUDO:-sokudo}") || { echo "no sokudo: put it on the PATH, or set SOKUDO" >&2; exit 2; }
port=${PORT:-9080} admin=${ADMIN:-127.0.0.1:9081}

"$sokudo" target app --set "listen.address=127.0.0.1:$port" --set "admin.address=$admin" --set workers.core=50 \
    --set workers.max=50 --set pool.max=10 &
target=$!
trap 'kill -INT $target 2>/dev/null; wait $target || true' EXIT
for ((i = 0; i < 60; i++)); do
    "$sokudo" target stat --at "$admin" >/dev/null 2>&1 && break
    sleep 0.5
done

knobs() { "$sokudo" target set --at "$admin" "$@"; }
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
    sokudo_in "$1" jmx run "$here/stress-db.jmx" -J "PORT=$port" -J "THREAD_NUMBER=$2" \
        -J "SUSTAIN=$each" -J HOLD=1000 --monitor "target:at=$admin" --monitor "listen:port=$port"
}
run a-pool-10 25
knobs pool.max=50
run a-pool-50 25
knobs workers.core=40 workers.max=40 pool.max=40
run c-flow-control 60
knobs listen.max_open=40 listen.on_full=reset
run d-limit 60
knobs listen.on_full=pause_accept listen.backlog=4
run d-backlog 60
[[ ${KNEE:-} == none ]] && exit
"$sokudo" target restore --at "$admin" >/dev/null
knobs workers.max=300 workers.core=300 pool.max=300
echo "== b-knee"
sokudo_in b-knee knee "$here/stress-cpu.jmx" --param "${KNEE:-THREAD_NUMBER=1..100}" \
    -J "PORT=$port" -J "SUSTAIN=${KNEE_SECONDS:-5}" --monitor "target:at=$admin"
"$sokudo" target restore --at "$admin" >/dev/null
echo "records: $folder"
