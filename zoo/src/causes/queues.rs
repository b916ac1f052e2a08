//! The queues of an application server: accept queue, connections, workers, pool, database.

use crate::case::Case;
use crate::family::{ACCEPT_QUEUE, REFUSALS, SERVER_CPU, SERVER_PAUSES, SERVER_WAITS};
use crate::world::Side;

/// A server whose requests hold a connection to the database for 10 ms, and compute next to nothing.
const CALM: &str = "pool.url=sim: stress.search_ms=10 stress.interval_ms=0 stress.update_ms=0 \
                    stress.bit=16 workers.core=64 workers.max=64 pool.max=64";

pub const ALL: &[Case] = &[
    Case {
        name: "app-has-few-workers",
        says: [
            "so few worker threads for 32 users",
            "32 ユーザーに対してわずかなワーカースレッド",
        ],
        family: &SERVER_WAITS,
        strengths: [2.0, 5.0],
        loads: &[
            "http http://HOST/stress/ -c 32",
            "http http://HOST/stress/ -c 32 --rate 1500/s",
        ],
        make: |world, workers| {
            let workers = workers.round();
            world.target(&format!(
                "{CALM} workers.core={workers} workers.max={workers}"
            ));
        },
    },
    Case {
        name: "app-has-a-small-pool",
        says: [
            "so few pooled connections for 32 users",
            "32 ユーザーに対してわずかなプール接続",
        ],
        family: &SERVER_WAITS,
        strengths: [2.0, 5.0],
        loads: &[
            "http http://HOST/stress/ -c 32",
            "http http://HOST/stress/ -c 32 --rate 1500/s",
        ],
        make: |world, pool| world.target(&format!("{CALM} pool.max={}", pool.round())),
    },
    Case {
        name: "app-has-a-slow-database",
        says: [
            "a database that takes its time, ms",
            "時間のかかるデータベース、ms",
        ],
        family: &SERVER_WAITS,
        strengths: [30.0, 100.0],
        loads: &[
            "http http://HOST/stress/ -c 16",
            "http http://HOST/stress/ -c 16 --rate 1500/s",
        ],
        make: |world, ms| world.target(&format!("{CALM} fault.db_ms={ms:.0}")),
    },
    Case {
        name: "app-has-no-database",
        says: [
            "a database that is down, users",
            "停止しているデータベース、ユーザー数",
        ],
        family: &REFUSALS,
        strengths: [8.0, 24.0],
        loads: &["http http://HOST/stress/ -c {}"],
        make: |world, _| world.target(&format!("{CALM} fault.db_down=true")),
    },
    Case {
        name: "app-resets-connections",
        says: [
            "so few connections for 48 users, others are reset",
            "48 ユーザーに対してわずかな接続、残りはリセット",
        ],
        family: &REFUSALS,
        strengths: [8.0, 24.0],
        loads: &["http http://HOST/stress/ -c 48"],
        make: |world, most| {
            world.target(&format!(
                "{CALM} listen.max_open={} listen.on_full=reset",
                most.round()
            ));
        },
    },
    Case {
        name: "app-answers-503",
        says: [
            "so few connections for 48 users, others get 503",
            "48 ユーザーに対してわずかな接続、残りは 503",
        ],
        family: &REFUSALS,
        strengths: [8.0, 24.0],
        loads: &["http http://HOST/stress/ -c 48"],
        make: |world, most| {
            world.target(&format!(
                "{CALM} listen.max_open={} listen.on_full=503",
                most.round()
            ));
        },
    },
    Case {
        name: "app-pauses-accepting",
        says: [
            "so few connections for 32 users, others wait behind a backlog of one",
            "32 ユーザーに対してわずかな接続、残りはバックログ 1 の後ろで待つ",
        ],
        family: &ACCEPT_QUEUE,
        strengths: [3.0, 8.0],
        loads: &["http http://HOST/stress/ -c 32 --no-keepalive"],
        make: |world, most| {
            let most = most.round();
            world.target(&format!(
                "{CALM} listen.max_open={most} listen.on_full=pause_accept listen.backlog=1"
            ));
        },
    },
    Case {
        name: "app-leaks-files",
        says: [
            "so many open files that lead nowhere, of 110",
            "110 のうち無駄に開かれたファイル",
        ],
        family: &REFUSALS,
        strengths: [66.0, 80.0],
        loads: &["http http://HOST/stress/ -c 48 --timeout 1s --connect-timeout 1s"],
        make: |world, files| {
            world.within(Side::Serving, "ulimit -n 110");
            world.target(&format!(
                "{CALM} workers.core=8 workers.max=8 fault.leak_fds={}",
                files.round()
            ));
        },
    },
    Case {
        name: "app-queue-is-bounded",
        says: [
            "so few workers and a queue of four for 32 users, others are turned away",
            "わずかなワーカーと長さ 4 のキュー、32 ユーザーの残りは断られる",
        ],
        family: &REFUSALS,
        strengths: [2.0, 5.0],
        loads: &["http http://HOST/stress/ -c 32"],
        make: |world, workers| {
            let workers = workers.round();
            world.target(&format!(
                "{CALM} workers.core={workers} workers.max={workers} workers.queue_max=4"
            ));
        },
    },
    Case {
        name: "app-pauses",
        says: [
            "pauses of an application server, ms",
            "アプリケーションサーバーの停止、ms",
        ],
        family: &SERVER_PAUSES,
        strengths: [200.0, 400.0],
        loads: &[
            "http http://HOST/stress/ -c 8 --duration 4s",
            "http http://HOST/stress/ -c 64 --rate 150/s --duration 4s",
        ],
        make: |world, ms| {
            world.target(&format!(
                "{CALM} stress.search_ms=2 fault.pause_every_ms=900 fault.pause_ms={ms:.0}"
            ));
        },
    },
    Case {
        name: "app-computes",
        says: [
            "CPU time of each request of an application server, µs",
            "アプリケーションサーバーのリクエストごとの CPU 時間、µs",
        ],
        family: &SERVER_CPU,
        strengths: [2000.0, 6000.0],
        loads: &["http http://HOST/stress/ -c 16"],
        make: |world, us| {
            world.within(Side::Serving, "taskset -p -c 1 $$ > /dev/null");
            world.target(&format!("{CALM} stress.search_ms=0 stress.spin_us={us:.0}"));
        },
    },
];
