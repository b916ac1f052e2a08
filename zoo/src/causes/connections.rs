//! Connections: ports, descriptors, queues of those that wait to be accepted, handshakes.

use crate::case::Case;
use crate::family::{ACCEPT_QUEUE, CHURN, GENERATOR, HANDSHAKES, REFUSALS, RESETTING_QUEUE};
use crate::world::Side;

pub const ALL: &[Case] = &[
    Case {
        name: "ports-run-out",
        says: [
            "a range of so few local ports",
            "わずかな数のローカルポート",
        ],
        family: &GENERATOR,
        strengths: [20.0, 60.0],
        loads: &["crr HOST", "crr HOST --rate 300/s"],
        make: |world, ports| {
            let last = 40_000.0 + ports.round();
            world.on(
                Side::Asking,
                format!("sysctl -q -w net.ipv4.ip_local_port_range='40000 {last}'"),
            );
        },
    },
    Case {
        name: "ports-run-out-for-pages",
        says: [
            "the same for a web server's client",
            "Web サーバーのクライアントに対して同じ",
        ],
        family: &GENERATOR,
        strengths: [20.0, 60.0],
        loads: &["http http://HOST/ --no-keepalive -c 4"],
        make: |world, ports| {
            let last = 40_000.0 + ports.round();
            world.on(
                Side::Asking,
                format!("sysctl -q -w net.ipv4.ip_local_port_range='40000 {last}'"),
            );
            world.on(Side::Asking, "sysctl -q -w net.ipv4.tcp_tw_reuse=0");
            world.served_by("body=100");
        },
    },
    Case {
        name: "files-run-out",
        says: [
            "so few open files for the program",
            "プログラムが開けるファイルがわずか",
        ],
        family: &GENERATOR,
        strengths: [40.0, 60.0],
        loads: &[
            "http http://HOST/ -c 128",
            "http http://HOST/ --rate 500/s -c 128",
        ],
        make: |world, files| {
            world.within(Side::Asking, format!("ulimit -n {}", files.round()));
            world.served_by("think_ms=20");
        },
    },
    Case {
        name: "server-files-run-out",
        says: [
            "so few open files for the server",
            "サーバーが開けるファイルがわずか",
        ],
        family: &REFUSALS,
        strengths: [12.0, 24.0],
        loads: &["http http://HOST/ -c 64 --timeout 1s --connect-timeout 1s"],
        make: |world, files| {
            world.within(Side::Serving, format!("ulimit -n {}", files.round()));
            world.served_by("think_ms=5");
        },
    },
    Case {
        name: "accept-queue-is-short",
        says: [
            "a backlog of one and a slow accept, ms",
            "バックログ 1 と遅い accept、ms",
        ],
        family: &ACCEPT_QUEUE,
        strengths: [20.0, 60.0],
        loads: &[
            "http http://HOST/ --no-keepalive -c 16",
            "http http://HOST/ --no-keepalive -c 32 --rate 100/s",
        ],
        make: |world, ms| world.served_by(format!("backlog=1 accept_ms={ms:.0}")),
    },
    Case {
        name: "connections-bounded",
        says: [
            "connections beyond a number are reset",
            "ある数を超える接続はリセットされる",
        ],
        family: &REFUSALS,
        strengths: [4.0, 10.0],
        loads: &["http http://HOST/ -c 32"],
        make: |world, most| world.served_by(format!("connections={most:.0} think_ms=5")),
    },
    Case {
        name: "server-closes-each",
        says: [
            "the server closes each connection, users",
            "サーバーが毎回接続を閉じる、ユーザー数",
        ],
        family: &CHURN,
        strengths: [4.0, 8.0],
        loads: &["http http://HOST/ -c {}"],
        make: |world, _| world.served_by("close=1"),
    },
    Case {
        name: "handshakes-cost",
        says: [
            "a TLS handshake for each request, on one core of the server",
            "リクエストごとの TLS ハンドシェイク、サーバーは 1 コア",
        ],
        family: &HANDSHAKES,
        strengths: [8.0, 16.0],
        loads: &[
            "http https://HOST/ -k --no-keepalive -c {}",
            "http https://HOST/ -k -c {}",
        ],
        make: |world, _| {
            world.within(Side::Serving, "taskset -p -c 1 $$ > /dev/null");
            world.served_by("tls=1 close=1");
        },
    },
    Case {
        name: "full-accept-queue-resets",
        says: [
            "a backlog of one, a slow accept and a system that resets what finds no room, ms",
            "バックログ 1 と遅い accept、入らない接続をリセットするシステム、ms",
        ],
        family: &RESETTING_QUEUE,
        strengths: [20.0, 60.0],
        loads: &[
            "http http://HOST/ --no-keepalive -c 16",
            "http http://HOST/ --no-keepalive -c 32 --rate 100/s",
        ],
        make: |world, ms| {
            world.on(
                Side::Serving,
                "sysctl -q -w net.ipv4.tcp_abort_on_overflow=1",
            );
            world.served_by(format!("backlog=1 accept_ms={ms:.0}"));
        },
    },
    Case {
        name: "files-run-out-for-a-plan",
        says: [
            "so few open files for a plan of 128 users",
            "128 ユーザーの計画が開けるファイルがわずか",
        ],
        family: &GENERATOR,
        strengths: [40.0, 60.0],
        loads: &["jmx run pages.jmx -J url=http://HOST/ -J users=128"],
        make: |world, files| {
            world.files.push(("pages.jmx", include_str!("pages.jmx")));
            world.within(Side::Asking, format!("ulimit -n {}", files.round()));
            world.served_by("think_ms=20");
        },
    },
];
