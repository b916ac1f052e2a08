//! Causes on the way to servers of other programs, to folders, and in front of plans.

use std::time::Duration;

use sokudo_testkit::relay::{Fate, Which};

use crate::case::Case;
use crate::family::{
    ASKER_STOPPED, ERRORS, FAR_CONNECTIONS, FAR_OR_SLOW, FIREWALL_OF_SEGMENTS, GONE, INTERRUPTION,
    JITTER, LOSSY_PATH, LOST_ANSWERS, NARROW_FOR_ROWS, NARROW_PATH, NEIGHBOUR, OWN_DEVICE, POLICED,
    SERVER_WAITS, SHORT_INTERRUPTION,
};
use crate::world::{Engine, Event, Side, World, bucket, narrow};

use super::databases::NO_DISK;
use super::interruptions::{link_down, stands_still};

/// A rule that drops a share of the segments that reach the serving host.
fn drops_segments(world: &mut World, percent: f64) {
    let share = percent / 100.0;
    world.on(
        Side::Serving,
        format!(
            "iptables -A INPUT -p tcp -m statistic --mode random --probability {share:.3} -j DROP"
        ),
    );
}

/// Segments are lost on the way there, in this share.
fn loses(world: &mut World, percent: f64) {
    world.there(|script| script.rule(Which::Share(percent / 100.0), Fate::Drop));
}

pub const ALL: &[Case] = &[
    Case {
        name: "link-goes-down-under-transactions",
        says: [
            "the link to a database is down, s",
            "データベースへのリンクが落ちる、秒",
        ],
        family: &INTERRUPTION,
        strengths: [0.5, 1.2],
        loads: &[
            "tpcb --target postgres://bench@HOST/bench -c 4 --duration 5s",
            "tpcb --target postgres://bench@HOST/bench -c 8 --rate 60/s --duration 5s",
        ],
        make: |world, seconds| {
            world.database(Engine::Postgres, 4, NO_DISK);
            link_down(world, seconds);
        },
    },
    Case {
        name: "database-asker-stands-still",
        says: [
            "the program that loads a database is stopped, s",
            "データベースに負荷をかけるプログラム自身が止められる、秒",
        ],
        family: &ASKER_STOPPED,
        strengths: [0.5, 1.2],
        loads: &[
            "tpcb --target postgres://bench@HOST/bench -c 4 --duration 5s",
            "tpcb --target postgres://bench@HOST/bench -c 8 --rate 60/s --duration 5s",
        ],
        make: |world, seconds| {
            world.database(Engine::Postgres, 4, NO_DISK);
            stands_still(world, seconds, Side::Asking);
        },
    },
    Case {
        name: "rows-come-through-a-narrow-way",
        says: [
            "rows of 40 KB through a link in the middle, Mb/s",
            "途中のリンクを通る 40 KB の行、Mb/s",
        ],
        family: &NARROW_FOR_ROWS,
        strengths: [6.0, 20.0],
        loads: &["sqlmix --target postgres://bench@HOST/bench --file wide.sql -c 6"],
        make: |world, rate| {
            world
                .files
                .push(("wide.sql", "select repeat('x', 40000);\n"));
            world.database(Engine::Postgres, 1, NO_DISK);
            world.delay_ms(2.0);
            world.back(|script| script.narrow(narrow(rate, 200.0, true)));
        },
    },
    Case {
        name: "firewall-drops-transactions",
        says: [
            "the database host's firewall drops segments, %",
            "データベースのホストのファイアウォールがセグメントを捨てる、%",
        ],
        family: &FIREWALL_OF_SEGMENTS,
        strengths: [2.0, 6.0],
        loads: &["tpcb --target postgres://bench@HOST/bench -c 4 --duration 5s"],
        make: |world, percent| {
            world.database(Engine::Postgres, 4, NO_DISK);
            drops_segments(world, percent);
        },
    },
    Case {
        name: "way-loses-transactions-of-mariadb",
        says: [
            "random loss on the way to MariaDB, %",
            "MariaDB への経路のランダムな損失、%",
        ],
        family: &LOSSY_PATH,
        strengths: [2.0, 6.0],
        loads: &["tpcb --target mysql://bench@HOST/bench -c 4 --duration 5s"],
        make: |world, percent| {
            world.database(Engine::MariaDb, 4, &[]);
            world.delay_ms(2.0);
            loses(world, percent);
        },
    },
    Case {
        name: "mariadb-is-killed",
        says: [
            "MariaDB ends at once after so many ms",
            "この ms 後にいきなり終わる MariaDB",
        ],
        family: &GONE,
        strengths: [600.0, 1500.0],
        loads: &["tpcb --target mysql://bench@HOST/bench -c 4"],
        make: |world, ms| {
            world.database(Engine::MariaDb, 2, &[]);
            world.at(ms / 1e3, Event::Kill);
        },
    },
    Case {
        name: "link-goes-down-under-a-replica",
        says: [
            "the link to a folder of another host is down, s",
            "別のホストのフォルダーへのリンクが落ちる、秒",
        ],
        family: &INTERRUPTION,
        strengths: [1.2, 2.0],
        loads: &[
            "replicate dataset:10x1MB HOST:null --content random --level none --limit 20Mb/s",
            "replicate dataset:1000x10KB HOST:null --content random --level none --limit 20Mb/s",
        ],
        make: |world, seconds| link_down(world, seconds),
    },
    Case {
        name: "replica-stands-still",
        says: [
            "the program that takes files is stopped, s",
            "ファイルを受け取るプログラムが止められる、秒",
        ],
        family: &INTERRUPTION,
        strengths: [0.6, 1.5],
        loads: &["replicate dataset:2500x1MB HOST:null --content random --level none"],
        make: |world, seconds| {
            stands_still(world, seconds, Side::Serving);
        },
    },
    Case {
        name: "replica-behind-its-own-shaper",
        says: [
            "files through the sending host's shaped device, Mb/s",
            "送信側の整形されたデバイスを通るファイル、Mb/s",
        ],
        family: &OWN_DEVICE,
        strengths: [20.0, 60.0],
        loads: &["replicate dataset:{0.4}x1MB HOST:null --content random --level none"],
        make: |world, rate| world.on(Side::Asking, bucket("eth0", rate, 150_000)),
    },
    Case {
        name: "replica-behind-a-firewall",
        says: [
            "a firewall drops segments of files, tenths of a percent",
            "ファイルのセグメントを捨てるファイアウォール、0.1 % 単位",
        ],
        family: &FIREWALL_OF_SEGMENTS,
        strengths: [10.0, 30.0],
        loads: &["replicate dataset:16x1MB HOST:null --content random --level none --cc cubic"],
        make: |world, tenths| {
            drops_segments(world, tenths / 10.0);
            world.delay_ms(10.0);
        },
    },
    Case {
        name: "replica-over-a-policed-way",
        says: [
            "files over a policer without a queue, Mb/s",
            "キューのないポリサーを渡るファイル、Mb/s",
        ],
        family: &POLICED,
        strengths: [10.0, 30.0],
        loads: &["replicate dataset:{0.4}x1MB HOST:null --content random --level none --cc cubic"],
        make: |world, rate| {
            world.delay_ms(3.0);
            world.there(|script| script.narrow(narrow(rate, 20.0, false)));
        },
    },
    Case {
        name: "way-jitters-for-pages",
        says: [
            "a way that jitters, ms, under pages",
            "ページの下の揺らぐ経路、ms",
        ],
        family: &JITTER,
        strengths: [20.0, 60.0],
        loads: &["http http://HOST/ -c 2"],
        make: |world, ms| {
            world.served_by("body=2000");
            world.there(|script| script.jitter(Duration::from_secs_f64(ms / 1e3)));
        },
    },
    Case {
        name: "way-polices-pages",
        says: [
            "pages of 200 KB through a policer without a queue, Mb/s",
            "キューのないポリサーを通る 200 KB のページ、Mb/s",
        ],
        family: &POLICED,
        strengths: [8.0, 20.0],
        loads: &["http http://HOST/ -c 4"],
        make: |world, rate| {
            world.served_by("body=200000");
            world.delay_ms(3.0);
            world.back(|script| script.narrow(narrow(rate, 20.0, false)));
        },
    },
    Case {
        name: "large-pages-vanish",
        says: [
            "packets of pages beyond so many bytes vanish",
            "ある大きさを超えるページのパケットが消える",
        ],
        family: &LOST_ANSWERS,
        strengths: [1000.0, 1250.0],
        loads: &["http http://HOST/ -c 4 --timeout 2s --duration 5s"],
        make: |world, bytes| {
            let most = bytes as usize;
            world.served_by("body=20000");
            world.back(|script| {
                let script = script.only(move |packet| packet.len() > most);
                script.rule(Which::Share(1.1), Fate::Drop)
            });
        },
    },
    Case {
        name: "firewall-drops-pages",
        says: [
            "a web server's firewall drops segments, %",
            "Web サーバーのファイアウォールがセグメントを捨てる、%",
        ],
        family: &FIREWALL_OF_SEGMENTS,
        strengths: [2.0, 6.0],
        loads: &["http http://HOST/ -c 8 -X POST -b @body.txt --duration 4s"],
        make: |world, percent| {
            world.within(
                Side::Asking,
                "head -c 20000 /dev/zero | tr '\\0' x > body.txt",
            );
            world.served_by("body=100");
            drops_segments(world, percent);
        },
    },
    Case {
        name: "connections-over-a-lossy-way",
        says: [
            "new connections over a way that loses segments, %",
            "セグメントを失う経路を渡る新しい接続、%",
        ],
        family: &LOSSY_PATH,
        strengths: [2.0, 6.0],
        loads: &[
            "crr HOST --rate 100/s --threads 4 --duration 5s",
            "crr HOST --threads 4 --duration 5s",
        ],
        make: |world, percent| {
            world.delay_ms(3.0);
            loses(world, percent);
        },
    },
    Case {
        name: "connections-over-a-long-way",
        says: [
            "a connection for each request over a long way, ms there",
            "長い経路で毎回新しい接続、片道 ms",
        ],
        family: &FAR_CONNECTIONS,
        strengths: [10.0, 30.0],
        loads: &["http http://HOST/ --no-keepalive -c 4"],
        make: |world, ms| {
            world.served_by("body=200");
            world.delay_ms(ms);
        },
    },
    Case {
        name: "encrypted-connections-over-a-long-way",
        says: [
            "a TLS connection for each request over a long way, ms there",
            "長い経路で毎回新しい TLS 接続、片道 ms",
        ],
        family: &FAR_CONNECTIONS,
        strengths: [10.0, 30.0],
        loads: &["http https://HOST/ -k --no-keepalive -c 4"],
        make: |world, ms| {
            world.served_by("tls=1 body=200");
            world.delay_ms(ms);
        },
    },
    Case {
        name: "names-are-far",
        says: [
            "a name server at the end of a long way, ms there",
            "長い経路の先のネームサーバー、片道 ms",
        ],
        family: &FAR_OR_SLOW,
        strengths: [10.0, 30.0],
        loads: &["dns HOST -q www.example."],
        make: |world, ms| {
            world.served_by("dns=1");
            world.delay_ms(ms);
        },
    },
    Case {
        name: "name-server-is-killed",
        says: [
            "a name server ends at once after so many ms",
            "この ms 後にいきなり終わるネームサーバー",
        ],
        family: &GONE,
        strengths: [700.0, 1500.0],
        loads: &[
            "dns HOST -q www.example. --rate 300/s --timeout 500ms --duration 4s",
            "dns HOST -q www.example. --timeout 500ms --duration 4s",
        ],
        make: |world, ms| {
            world.served_by("dns=1");
            world.at(ms / 1e3, Event::Kill);
        },
    },
    Case {
        name: "requests-over-udp-are-lost",
        says: [
            "random loss of requests over UDP, %",
            "UDP のリクエストの無作為な損失、%",
        ],
        family: &LOSSY_PATH,
        strengths: [2.0, 8.0],
        loads: &[
            "rr HOST --transport udp --rate 500/s --window 16 --timeout 1s",
            "rr HOST --transport udp --timeout 500ms",
        ],
        make: |world, percent| {
            world.delay_ms(2.0);
            loses(world, percent);
        },
    },
    Case {
        name: "plan-over-a-lossy-way",
        says: [
            "random loss under a test plan, %",
            "テスト計画の下の無作為な損失、%",
        ],
        family: &LOSSY_PATH,
        strengths: [2.0, 6.0],
        loads: &["jmx run pages.jmx -J url=http://HOST/ -J users=8"],
        make: |world, percent| {
            world.files.push(("pages.jmx", include_str!("pages.jmx")));
            world.served_by("body=20000");
            world.delay_ms(5.0);
            world.back(|script| script.rule(Which::Share(percent / 100.0), Fate::Drop));
        },
    },
    Case {
        name: "plan-over-a-narrow-way",
        says: [
            "a test plan behind a link in the middle, Mb/s",
            "途中のリンクの先のテスト計画、Mb/s",
        ],
        family: &NARROW_PATH,
        strengths: [5.0, 15.0],
        loads: &["jmx run pages.jmx -J url=http://HOST/ -J users=8"],
        make: |world, rate| {
            world.files.push(("pages.jmx", include_str!("pages.jmx")));
            world.served_by("body=40000");
            world.delay_ms(2.0);
            world.back(|script| script.narrow(narrow(rate, 200.0, true)));
        },
    },
    Case {
        name: "plan-meets-errors",
        says: [
            "a share of a test plan's requests is answered with 500, %",
            "テスト計画のリクエストの一部に 500 が返る、%",
        ],
        family: &ERRORS,
        strengths: [30.0, 100.0],
        loads: &["jmx run pages.jmx -J url=http://HOST/ -J users=8"],
        make: |world, percent| {
            let share = (percent / 100.0).min(1.0);
            world.files.push(("pages.jmx", include_str!("pages.jmx")));
            world.served_by(format!("fail={share:.3} status=500 think_ms=4"));
        },
    },
    Case {
        name: "server-of-a-plan-is-killed",
        says: [
            "a test plan's server ends at once after so many s",
            "テスト計画のサーバーがいきなり終わる、秒後",
        ],
        family: &GONE,
        strengths: [0.7, 1.5],
        loads: &["jmx run pages.jmx -J url=http://HOST/ -J users=8"],
        make: |world, after| {
            world.files.push(("pages.jmx", include_str!("pages.jmx")));
            world.served_by("think_ms=4");
            world.at(after, Event::Kill);
        },
    },
    Case {
        name: "plan-stands-still",
        says: [
            "the program that executes a plan is stopped, s",
            "計画を実行するプログラム自身が止められる、秒",
        ],
        family: &ASKER_STOPPED,
        strengths: [0.5, 1.2],
        loads: &["jmx run pages.jmx -J url=http://HOST/ -J users=8"],
        make: |world, seconds| {
            world.files.push(("pages.jmx", include_str!("pages.jmx")));
            world.served_by("think_ms=4");
            stands_still(world, seconds, Side::Asking);
        },
    },
    Case {
        name: "server-of-a-plan-locks",
        says: [
            "a lock that each request of a test plan holds, ms",
            "テスト計画の各リクエストが保持するロック、ms",
        ],
        family: &SERVER_WAITS,
        strengths: [5.0, 20.0],
        loads: &["jmx run pages.jmx -J url=http://HOST/ -J users=16"],
        make: |world, ms| {
            world.files.push(("pages.jmx", include_str!("pages.jmx")));
            world.served_by(format!("lock_ms={ms:.1}"));
        },
    },
    Case {
        name: "neighbours-of-messages",
        says: [
            "other programs on the core of a consumer of messages, threads",
            "メッセージの受信側のコアの他のプログラム、スレッド数",
        ],
        family: &NEIGHBOUR,
        strengths: [2.0, 4.0],
        loads: &["bus HOST --size 64"],
        make: |world, threads| {
            world.within(Side::Serving, "taskset -p -c 0 $$ > /dev/null");
            world.hogs.push((0, threads.round() as usize));
        },
    },
    Case {
        name: "link-goes-down-under-names",
        says: [
            "the link to a name server is down, s",
            "ネームサーバーへのリンクが落ちる、秒",
        ],
        family: &SHORT_INTERRUPTION,
        strengths: [0.5, 1.2],
        loads: &["dns HOST -q www.example. --rate 300/s --timeout 300ms --duration 4s"],
        make: |world, seconds| {
            world.served_by("dns=1");
            link_down(world, seconds);
        },
    },
];
