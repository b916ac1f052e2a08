//! Web servers and name servers with a fault of their own.

use crate::case::Case;
use crate::family::{
    BLOCKED_LOG, CHURN, DELAYED_BODY, ERRORS, NAMES, NARROW_PATH, REFUSALS, SERVER_CPU,
    SERVER_NEIGHBOUR, SERVER_PACES, SERVER_PAUSES, SERVER_TIMES, SERVER_WAITS, SLOW_BODY,
    SLOW_NAMES, SLOW_SHARE, SLOW_UPLOAD,
};
use crate::world::{Side, narrow};

/// An application server that does nothing but what a request names.
const PROMPT: &str = "pool.url=sim: stress.search_ms=1 stress.interval_ms=0 stress.update_ms=0 stress.bit=16 \
                      workers.core=64 workers.max=64 pool.max=64";

pub const ALL: &[Case] = &[
    Case {
        name: "server-thinks",
        says: ["a fixed think time, ms", "固定の処理時間、ms"],
        family: &SERVER_WAITS,
        strengths: [20.0, 60.0],
        loads: &[
            "http http://HOST/ -c 8",
            "http http://HOST/ -c 8 --rate 1000/s",
        ],
        make: |world, ms| world.served_by(format!("think_ms={ms:.1}")),
    },
    Case {
        name: "workers-are-few",
        says: [
            "so few workers for 32 connections",
            "32 接続に対してわずかなワーカー",
        ],
        family: &SERVER_WAITS,
        strengths: [2.0, 5.0],
        loads: &[
            "http http://HOST/ -c 32",
            "http http://HOST/ -c 32 --rate 1000/s",
        ],
        make: |world, workers| world.served_by(format!("workers={} think_ms=10", workers.round())),
    },
    Case {
        name: "server-locks",
        says: [
            "a lock that each request holds, ms",
            "各リクエストが保持するロック、ms",
        ],
        family: &SERVER_WAITS,
        strengths: [5.0, 20.0],
        loads: &["http http://HOST/ -c 16"],
        make: |world, ms| world.served_by(format!("lock_ms={ms:.1}")),
    },
    Case {
        name: "pool-is-small",
        says: [
            "so few connections to a database for 32 workers",
            "32 ワーカーに対してわずかな DB 接続",
        ],
        family: &SERVER_WAITS,
        strengths: [2.0, 4.0],
        loads: &["http http://HOST/ -c 32"],
        make: |world, pool| world.served_by(format!("workers=32 pool={} hold_ms=15", pool.round())),
    },
    Case {
        name: "server-computes",
        says: [
            "CPU time of each request on the server's only core, µs",
            "サーバー唯一のコアでのリクエストごとの CPU 時間、µs",
        ],
        family: &SERVER_CPU,
        strengths: [1500.0, 5000.0],
        loads: &[
            "http http://HOST/ -c 8",
            "http http://HOST/ -c 16 --rate 2000/s",
        ],
        make: |world, us| {
            world.within(Side::Serving, "taskset -p -c 1 $$ > /dev/null");
            world.served_by(format!("cpu_us={us:.0}"));
        },
    },
    Case {
        name: "server-pauses",
        says: [
            "pauses as a collector of garbage makes them, ms",
            "ガベージコレクターのような停止、ms",
        ],
        family: &SERVER_PAUSES,
        strengths: [200.0, 400.0],
        loads: &[
            "http http://HOST/ -c 8 --duration 4s",
            "http http://HOST/ -c 64 --rate 200/s --duration 4s",
        ],
        make: |world, ms| {
            world.served_by(format!("pause_every_ms=800 pause_ms={ms:.0} think_ms=2"))
        },
    },
    Case {
        name: "one-worker-is-slow",
        says: [
            "one request in eight takes longer, ms",
            "8 件に 1 件が長くかかる、ms",
        ],
        family: &SLOW_SHARE,
        strengths: [150.0, 400.0],
        loads: &[
            "http http://HOST/ -c 8",
            "http http://HOST/ -c 32 --rate 200/s",
        ],
        make: |world, ms| world.served_by(format!("think_ms=3 slow_one_in=8 slow_ms={ms:.0}")),
    },
    Case {
        name: "answers-429",
        says: ["a limit on requests per second", "毎秒のリクエスト数の上限"],
        family: &REFUSALS,
        strengths: [50.0, 150.0],
        loads: &[
            "http http://HOST/ -c 8 --rate {4}/s",
            "http http://HOST/ -c 8",
        ],
        make: |world, rate| world.served_by(format!("rate={} think_ms=2", rate.round())),
    },
    Case {
        name: "answers-503",
        says: [
            "a share of requests fails fast, %",
            "一部のリクエストがすぐに失敗する、%",
        ],
        family: &REFUSALS,
        strengths: [20.0, 80.0],
        loads: &[
            "http http://HOST/ -c 8",
            "http http://HOST/ -c 16 --rate 300/s",
        ],
        make: |world, percent| {
            world.served_by(format!(
                "fail={:.3} think_ms=5",
                (percent / 100.0).min(0.95)
            ))
        },
    },
    Case {
        name: "server-holds-to-a-rate",
        says: [
            "a limit on the rate for which requests wait, per second",
            "リクエストが順番を待つレート制限、毎秒",
        ],
        family: &SERVER_PACES,
        strengths: [300.0, 80.0],
        loads: &["http http://HOST/ -c 8", "http http://HOST/ -c 24"],
        make: |world, rate| world.served_by(format!("pace={rate:.0} think_ms=1")),
    },
    Case {
        name: "server-takes-varied-times",
        says: [
            "times of requests that vary by themselves around this mean, ms",
            "この平均のまわりで変動するリクエストごとの時間、ms",
        ],
        family: &SERVER_TIMES,
        strengths: [20.0, 60.0],
        loads: &["http http://HOST/ -c 16", "http http://HOST/ -c 4"],
        make: |world, ms| world.served_by(format!("varied_ms={ms:.1}")),
    },
    Case {
        name: "gateway-has-no-backend",
        says: [
            "a share of answers with status 502, %",
            "ステータス 502 の応答の割合、%",
        ],
        family: &ERRORS,
        strengths: [30.0, 100.0],
        loads: &[
            "http http://HOST/ -c 8",
            "http http://HOST/ -c 8 --rate 200/s",
        ],
        make: |world, percent| {
            let share = (percent / 100.0).min(1.0);
            world.served_by(format!("fail={share:.3} status=502 think_ms=4"));
        },
    },
    Case {
        name: "path-is-missing",
        says: [
            "a share of answers with status 404, %",
            "ステータス 404 の応答の割合、%",
        ],
        family: &ERRORS,
        strengths: [30.0, 100.0],
        loads: &["http http://HOST/ -c 8"],
        make: |world, percent| {
            let share = (percent / 100.0).min(1.0);
            world.served_by(format!("fail={share:.3} status=404 think_ms=4"));
        },
    },
    Case {
        name: "bodies-come-slowly",
        says: [
            "bodies in ten pieces over a time, ms",
            "10 個に分けて送られる本文、ms",
        ],
        family: &SLOW_BODY,
        strengths: [50.0, 200.0],
        loads: &[
            "http http://HOST/ -c 8",
            "http http://HOST/ -c 8 --rate 500/s",
        ],
        make: |world, ms| world.served_by(format!("body=20000 drip_ms={ms:.0}")),
    },
    Case {
        name: "pages-are-encrypted",
        says: [
            "pages over TLS from the server's only core, KiB",
            "サーバー唯一のコアからの TLS のページ、KiB",
        ],
        family: &SERVER_CPU,
        strengths: [128.0, 512.0],
        loads: &["http https://HOST/ -k -c 8"],
        make: |world, kib| {
            world.within(Side::Serving, "taskset -p -c 1 $$ > /dev/null");
            world.served_by(format!("tls=1 body={:.0}", kib * 1024.0));
        },
    },
    Case {
        name: "client-closes-each",
        says: [
            "the client opens a connection for each request, users",
            "クライアントがリクエストごとに接続を開く、ユーザー数",
        ],
        family: &CHURN,
        strengths: [4.0, 8.0],
        loads: &["http http://HOST/ --no-keepalive -c {}"],
        make: |world, _| world.served_by("body=100"),
    },
    Case {
        name: "uploads-are-taken-slowly",
        says: [
            "a server that takes so much of an upload, KB/s per connection",
            "アップロードをこれだけしか受け取らないサーバー、接続あたり KB/s",
        ],
        family: &SLOW_UPLOAD,
        strengths: [2000.0, 500.0],
        loads: &["http http://HOST/ -c 4 -X POST -b @body.txt"],
        make: |world, kb| {
            world.within(
                Side::Asking,
                "head -c 1500000 /dev/zero | tr '\\0' x > body.txt",
            );
            world.served_by(format!("body=100 take_kb={kb:.0}"));
        },
    },
    Case {
        name: "one-page-is-slow",
        says: [
            "one of three pages of a plan takes its time, ms",
            "テスト計画の 3 ページのうち 1 つだけが遅い、ms",
        ],
        family: &SLOW_SHARE,
        strengths: [150.0, 400.0],
        loads: &["jmx run slow_page.jmx -J server=HOST -J slow={}"],
        make: |world, _| {
            world
                .files
                .push(("slow_page.jmx", include_str!("slow_page.jmx")));
            world.target(PROMPT);
        },
    },
    Case {
        name: "names-come-slowly",
        says: [
            "a name server that takes its time, ms",
            "応答に時間をかけるネームサーバー、ms",
        ],
        family: &SERVER_WAITS,
        strengths: [5.0, 20.0],
        loads: &[
            "dns HOST -q www.example.",
            "dns HOST -q www.example. --rate 1000/s",
        ],
        make: |world, ms| world.served_by(format!("dns=1 think_ms={ms:.1}")),
    },
    Case {
        name: "names-are-lost",
        says: [
            "a name server that leaves queries unanswered, %",
            "答えない問い合わせがあるネームサーバー、%",
        ],
        family: &NAMES,
        strengths: [2.0, 20.0],
        loads: &["dns HOST -q www.example. --rate 300/s --timeout 500ms"],
        make: |world, percent| world.served_by(format!("dns=1 drop={:.3}", percent / 100.0)),
    },
    Case {
        name: "names-fail",
        says: ["a name server that fails, %", "失敗するネームサーバー、%"],
        family: &NAMES,
        strengths: [5.0, 40.0],
        loads: &["dns HOST -q www.example. --rate 300/s"],
        make: |world, percent| world.served_by(format!("dns=1 servfail={:.3}", percent / 100.0)),
    },
    Case {
        name: "bodies-are-cut",
        says: [
            "a share of bodies ends in the middle, %",
            "一部の本文が途中で終わる、%",
        ],
        family: &REFUSALS,
        strengths: [5.0, 30.0],
        loads: &[
            "http http://HOST/ -c 8",
            "http http://HOST/ -c 8 --rate 200/s",
        ],
        make: |world, percent| {
            world.served_by(format!("body=8000 think_ms=3 cut={:.3}", percent / 100.0))
        },
    },
    Case {
        name: "server-writes-twice",
        says: [
            "head and body are written apart with Nagle's algorithm on, bytes",
            "Nagle のアルゴリズムのまま、ヘッダーと本文を別々に書く、バイト",
        ],
        family: &DELAYED_BODY,
        strengths: [200.0, 900.0],
        loads: &["http http://HOST/ -c 8"],
        make: |world, bytes| world.served_by(format!("body={bytes:.0} nagle=1")),
    },
    Case {
        name: "neighbours-of-a-web-server",
        says: [
            "other programs on a web server's core, threads",
            "Web サーバーのコアの他のプログラム、スレッド数",
        ],
        family: &SERVER_NEIGHBOUR,
        strengths: [2.0, 4.0],
        loads: &["http http://HOST/ -c 8"],
        make: |world, threads| {
            world.within(Side::Serving, "taskset -p -c 1 $$ > /dev/null");
            world.served_by("cpu_us=400");
            world.hogs.push((1, threads.round() as usize));
        },
    },
    Case {
        name: "server-names-come-slowly",
        says: [
            "the name of a web server is found slowly, ms",
            "Web サーバーの名前解決が遅い、ms",
        ],
        family: &SLOW_NAMES,
        strengths: [150.0, 400.0],
        loads: &["jmx run names.jmx -J url=http://www.zoo.example:PORT/ -J names=10.77.0.2"],
        make: |world, ms| {
            world.files.push(("names.jmx", include_str!("names.jmx")));
            world.served_by(format!("body=100 think_ms=2 names_ms={ms:.0}"));
        },
    },
    Case {
        name: "cookies-fill-the-way",
        says: [
            "answers that set cookies of 12 KB, through a link in the middle, Mb/s",
            "12 KB のクッキーを設定する応答と途中のリンク、Mb/s",
        ],
        family: &NARROW_PATH,
        strengths: [2.0, 6.0],
        loads: &["http http://HOST/ -c 8"],
        make: |world, rate| {
            world.served_by("body=100 cookies_kb=12");
            world.delay_ms(2.0);
            world.back(|script| script.narrow(narrow(rate, 200.0, true)));
        },
    },
    Case {
        name: "server-logs-to-a-slow-pipe",
        says: [
            "a server that logs 200 bytes about each request to a pipe that is taken slowly, KB/s",
            "リクエストごとに 200 バイトの記録を、遅く読まれるパイプに書くサーバー、KB/s",
        ],
        family: &BLOCKED_LOG,
        strengths: [15.0, 50.0],
        loads: &["http http://HOST/ -c 8 --duration 5s"],
        make: |world, kb| world.served_by(format!("log_kb={kb:.1} think_ms=2")),
    },
    Case {
        name: "web-server-yields-to-others",
        says: [
            "a web server of a low priority beside another program on its core, nice",
            "同じコアの他のプログラムより優先度の低い Web サーバー、nice",
        ],
        family: &SERVER_NEIGHBOUR,
        strengths: [4.0, 9.0],
        loads: &["http http://HOST/ -c 8"],
        make: |world, nice| {
            world.within(
                Side::Serving,
                format!("taskset -p -c 1 $$ > /dev/null; renice -n {nice:.0} $$ > /dev/null"),
            );
            world.served_by("cpu_us=400");
            world.hogs.push((1, 1));
        },
    },
];
