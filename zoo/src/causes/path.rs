//! Causes on the way between two hosts.

use std::time::Duration;

use sokudo_testkit::relay::{Fate, Which};

use crate::case::Case;
use crate::family::{
    BEGINNING, CHECKSUMS, DISTANCE, FIREWALL, LOSSY_PATH, LOST_LARGE, NARROW_PATH, ONE_HOST,
    POLICED, REORDERING, REPETITION, SHORT, WINDOW,
};
use crate::world::{Engine, Side, bucket, narrow};

use super::databases::NO_DISK;

/// Byte of an IP packet that lies behind the headers of UDP and, with its options, of TCP.
const PAYLOAD_BYTE: usize = 60;

pub const ALL: &[Case] = &[
    Case {
        name: "way-is-narrow",
        says: [
            "a link in the middle with a queue of 60 ms, Mb/s",
            "60 ms のキューを持つ途中のリンク、Mb/s",
        ],
        family: &NARROW_PATH,
        strengths: [8.0, 25.0],
        loads: &[
            "stream HOST --cc cubic",
            "stream HOST --cc cubic --streams 3",
            "datagram HOST --rate {2}Mb/s",
        ],
        make: |world, rate| {
            world.delay_ms(2.0);
            world.there(|script| script.narrow(narrow(rate, 60.0, true)));
        },
    },
    Case {
        name: "way-is-narrow-for-messages",
        says: [
            "the same for a message bus",
            "メッセージバスに対する同じリンク",
        ],
        family: &NARROW_PATH,
        strengths: [6.0, 20.0],
        loads: &["bus HOST --size 16KiB --inflight 4MiB"],
        make: |world, rate| {
            world.delay_ms(2.0);
            world.there(|script| script.narrow(narrow(rate, 60.0, true)));
        },
    },
    Case {
        name: "switch-port-is-narrow",
        says: [
            "a bucket at the port of a switch, Mb/s",
            "スイッチのポートのトークンバケット、Mb/s",
        ],
        family: &NARROW_PATH,
        strengths: [10.0, 30.0],
        loads: &["stream HOST --cc cubic", "datagram HOST --rate {2}Mb/s"],
        make: |world, rate| world.on(Side::Hub, bucket("sk-port1", rate, 150_000)),
    },
    Case {
        name: "way-is-narrow-for-requests",
        says: [
            "large requests through a link in the middle, Mb/s",
            "途中のリンクを通る大きなリクエスト、Mb/s",
        ],
        family: &NARROW_PATH,
        strengths: [5.0, 15.0],
        loads: &[
            "rr HOST --size 32KiB:64 --window 8",
            "rr HOST --size 16KiB:64 --connections 8",
        ],
        make: |world, rate| {
            world.delay_ms(2.0);
            world.there(|script| script.narrow(narrow(rate, 200.0, true)));
        },
    },
    Case {
        name: "way-is-narrow-for-pages",
        says: [
            "pages of 40 KB through a link in the middle, Mb/s",
            "途中のリンクを通る 40 KB のページ、Mb/s",
        ],
        family: &NARROW_PATH,
        strengths: [5.0, 15.0],
        loads: &["http http://HOST/ -c 8"],
        make: |world, rate| {
            world.served_by("body=40000");
            world.delay_ms(2.0);
            world.back(|script| script.narrow(narrow(rate, 200.0, true)));
        },
    },
    Case {
        name: "queue-is-too-long",
        says: [
            "a queue of a second in front of a link, Mb/s",
            "リンクの前の 1 秒分のキュー、Mb/s",
        ],
        family: &NARROW_PATH,
        strengths: [6.0, 15.0],
        loads: &["stream HOST --cc cubic"],
        make: |world, rate| {
            world.delay_ms(5.0);
            world.there(|script| script.narrow(narrow(rate, 1_000.0, true)));
        },
    },
    Case {
        name: "way-is-far-for-transactions",
        says: [
            "a database at the end of a long way, ms there",
            "長い経路の先のデータベース、片道 ms",
        ],
        family: &DISTANCE,
        strengths: [10.0, 30.0],
        loads: &["tpcb --target postgres://bench@HOST/bench -c 4"],
        make: |world, ms| {
            world.database(Engine::Postgres, 4, &[]);
            world.delay_ms(ms);
        },
    },
    Case {
        name: "way-is-far-for-new-connections",
        says: [
            "pages of 300 KB, each from a new connection over a long way, ms there",
            "長い経路で、毎回新しい接続で取る 300 KB のページ、片道 ms",
        ],
        family: &BEGINNING,
        strengths: [15.0, 40.0],
        loads: &["http http://HOST/ --no-keepalive -c 4"],
        make: |world, ms| {
            world.served_by("body=300000");
            world.delay_ms(ms);
        },
    },
    Case {
        name: "way-loses-transactions",
        says: [
            "random loss on the way to a database, %",
            "データベースへの経路のランダムな損失、%",
        ],
        family: &LOSSY_PATH,
        strengths: [2.0, 6.0],
        loads: &["tpcb --target postgres://bench@HOST/bench -c 4 --duration 5s"],
        make: |world, percent| {
            world.database(Engine::Postgres, 4, NO_DISK);
            world.delay_ms(2.0);
            world.there(|script| script.rule(Which::Share(percent / 100.0), Fate::Drop));
        },
    },
    Case {
        name: "way-loses-names",
        says: [
            "random loss on the way to a name server, %",
            "ネームサーバーへの経路のランダムな損失、%",
        ],
        family: &LOSSY_PATH,
        strengths: [2.0, 10.0],
        loads: &["dns HOST -q www.example. --rate 300/s --timeout 500ms"],
        make: |world, percent| {
            world.served_by("dns=1");
            world.there(|script| script.rule(Which::Share(percent / 100.0), Fate::Drop));
        },
    },
    Case {
        name: "acknowledgements-are-squeezed",
        says: [
            "a way back that carries acknowledgements alone, kb/s",
            "確認応答しか通らない細い戻り経路、kb/s",
        ],
        family: &NARROW_PATH,
        strengths: [400.0, 900.0],
        loads: &["stream HOST --cc cubic"],
        make: |world, rate| {
            world.delay_ms(5.0);
            world.back(|script| script.narrow(narrow(rate / 1e3, 200.0, true)));
        },
    },
    Case {
        name: "way-is-policed",
        says: [
            "a policer without a queue, Mb/s",
            "キューのないポリサー、Mb/s",
        ],
        family: &POLICED,
        strengths: [6.0, 20.0],
        loads: &["stream HOST --cc cubic", "datagram HOST --rate {2}Mb/s"],
        make: |world, rate| {
            world.delay_ms(3.0);
            world.there(|script| script.narrow(narrow(rate, 20.0, false)));
        },
    },
    Case {
        name: "way-loses",
        says: ["random loss, %", "無作為な損失、%"],
        family: &LOSSY_PATH,
        strengths: [1.0, 4.0],
        loads: &[
            "stream HOST --cc cubic",
            "stream HOST --cc cubic --streams 2",
        ],
        make: |world, percent| {
            world.delay_ms(15.0);
            world.there(|script| script.rule(Which::Share(percent / 100.0), Fate::Drop));
        },
    },
    Case {
        name: "way-loses-messages",
        says: [
            "random loss under a message bus, %",
            "メッセージバスの下の無作為な損失、%",
        ],
        family: &LOSSY_PATH,
        strengths: [1.0, 3.0],
        loads: &["bus HOST --size 4KiB --inflight 4MiB"],
        make: |world, percent| {
            world.delay_ms(15.0);
            world.there(|script| script.rule(Which::Share(percent / 100.0), Fate::Drop));
        },
    },
    Case {
        name: "way-loses-requests",
        says: [
            "random loss under requests, %",
            "リクエストの下の無作為な損失、%",
        ],
        family: &LOSSY_PATH,
        strengths: [2.0, 6.0],
        loads: &["rr HOST --size 1KiB:1KiB --connections 8"],
        make: |world, percent| {
            world.delay_ms(5.0);
            world.there(|script| script.rule(Which::Share(percent / 100.0), Fate::Drop));
        },
    },
    Case {
        name: "way-loses-pages",
        says: ["random loss of pages, %", "ページの無作為な損失、%"],
        family: &LOSSY_PATH,
        strengths: [2.0, 6.0],
        loads: &["http http://HOST/ -c 8"],
        make: |world, percent| {
            world.served_by("body=20000");
            world.delay_ms(5.0);
            world.back(|script| script.rule(Which::Share(percent / 100.0), Fate::Drop));
        },
    },
    Case {
        name: "way-loses-datagrams",
        says: [
            "random loss of datagrams, %",
            "データグラムの無作為な損失、%",
        ],
        family: &LOSSY_PATH,
        strengths: [2.0, 10.0],
        loads: &[
            "datagram HOST --rate 2k/s",
            "datagram HOST --rate 500/s --size 200",
        ],
        make: |world, percent| {
            world.there(|script| script.rule(Which::Share(percent / 100.0), Fate::Drop))
        },
    },
    Case {
        name: "way-loses-in-runs",
        says: [
            "runs of twenty lost packets, every so many",
            "20 個連続の損失、間隔",
        ],
        family: &LOSSY_PATH,
        strengths: [400.0, 1500.0],
        loads: &["stream HOST --cc cubic", "datagram HOST --rate 1k/s"],
        make: |world, every| {
            world.delay_ms(10.0);
            world.there(|script| script.drop_runs(every as u64, 20));
        },
    },
    Case {
        name: "way-reorders",
        says: [
            "packets that are overtaken by three, %",
            "3 個に追い越されるパケット、%",
        ],
        family: &REORDERING,
        strengths: [2.0, 6.0],
        // Unbounded, the relay would be the limit.
        loads: &[
            "stream HOST --cc cubic --rate 50Mb/s",
            "datagram HOST --rate 1k/s",
        ],
        make: |world, percent| {
            world.delay_ms(10.0);
            world.there(|script| script.rule(Which::Share(percent / 100.0), Fate::Hold(6)));
        },
    },
    Case {
        name: "way-repeats",
        says: ["packets that arrive twice, %", "2 回届くパケット、%"],
        family: &REPETITION,
        strengths: [1.0, 10.0],
        loads: &["datagram HOST --rate 1k/s"],
        make: |world, percent| {
            world.there(|script| script.rule(Which::Share(percent / 100.0), Fate::Duplicate(1)));
        },
    },
    Case {
        name: "way-damages",
        says: [
            "packets with a flipped byte, %",
            "1 バイトが反転したパケット、%",
        ],
        family: &CHECKSUMS,
        strengths: [1.0, 6.0],
        loads: &["datagram HOST --rate 1k/s", "stream HOST --cc cubic"],
        make: |world, percent| {
            world.delay_ms(5.0);
            world.there(|script| {
                script.rule(Which::Share(percent / 100.0), Fate::Corrupt(PAYLOAD_BYTE))
            });
        },
    },
    Case {
        name: "way-jitters",
        says: [
            "a way that jitters, ms, and one request at a time",
            "揺らぐ経路 (ms) と 1 つずつのリクエスト",
        ],
        family: &WINDOW,
        strengths: [20.0, 60.0],
        loads: &["rr HOST --rate 200/s"],
        make: |world, ms| world.there(|script| script.jitter(Duration::from_secs_f64(ms / 1e3))),
    },
    Case {
        name: "large-packets-vanish",
        says: [
            "packets beyond so many bytes vanish without a word",
            "ある大きさを超えるパケットが黙って消える",
        ],
        family: &LOST_LARGE,
        strengths: [1000.0, 1250.0],
        loads: &["stream HOST", "rr HOST --size 8KiB --timeout 2s"],
        make: |world, bytes| {
            let most = bytes as usize;
            world.there(|script| {
                let script = script.only(move |packet| packet.len() > most);
                script.rule(Which::Share(1.1), Fate::Drop)
            });
        },
    },
    Case {
        name: "one-host-is-slow",
        says: [
            "one of six hosts behind a slow port, Mb/s",
            "6 台のうち 1 台だけが遅いポートの先、Mb/s",
        ],
        family: &ONE_HOST,
        strengths: [2.0, 8.0],
        loads: &["stream HOST --direction mesh --rate 100Mb/s"],
        make: |world, rate| {
            world.peers = 5;
            world.on(Side::Hub, bucket("sk-port2", rate, 60_000));
        },
    },
    Case {
        name: "connections-are-tracked",
        says: ["a full table of connections", "満杯の接続追跡テーブル"],
        family: &FIREWALL,
        strengths: [1.0, 2.0],
        loads: &["crr HOST"],
        make: |world, _| {
            world
                .lacks
                .push("the size of the table is one for the whole machine (nf_conntrack_max)")
        },
    },
    Case {
        name: "way-damages-requests",
        says: [
            "requests with a flipped byte, %",
            "1 バイトが反転したリクエスト、%",
        ],
        family: &CHECKSUMS,
        strengths: [3.0, 8.0],
        loads: &[
            "rr HOST --transport udp --rate 500/s --window 16 --timeout 1s",
            "rr HOST --size 1KiB:1KiB --connections 8",
        ],
        make: |world, percent| {
            world.delay_ms(3.0);
            world.there(|script| {
                script.rule(Which::Share(percent / 100.0), Fate::Corrupt(PAYLOAD_BYTE))
            });
        },
    },
    Case {
        name: "others-crowd-the-link",
        says: [
            "a link of a switch that traffic of others fills for the most part, Mb/s",
            "他の通信が大半を占めるスイッチのリンク、Mb/s",
        ],
        family: &NARROW_PATH,
        strengths: [10.0, 24.0],
        loads: &[
            "stream HOST --cc cubic",
            "rr HOST --size 32KiB:64 --window 8",
        ],
        make: |world, rate| {
            world.crowd = Some(rate * 0.7);
            world.on(Side::Hub, bucket("sk-port1", rate, 150_000));
        },
    },
    Case {
        name: "one-pair-is-slow",
        says: [
            "one of twelve pairs of hosts is slow, Mb/s",
            "12 組のホストのうち 1 組だけが遅い、Mb/s",
        ],
        family: &ONE_HOST,
        strengths: [2.0, 6.0],
        loads: &["stream HOST --direction mesh --rate 100Mb/s"],
        make: |world, rate| {
            world.peers = 3;
            let rate = (rate * 1e6).round();
            let pair = "u32 match ip src 10.77.0.1/32";
            world.on(
                Side::Hub,
                format!(
                    "tc qdisc replace dev sk-port2 root handle 1: htb default 2 && \
                     tc class add dev sk-port2 parent 1: classid 1:1 htb rate {rate}bit && \
                     tc class add dev sk-port2 parent 1: classid 1:2 htb rate 10gbit && \
                     tc filter add dev sk-port2 parent 1: protocol ip {pair} flowid 1:1"
                ),
            );
        },
    },
    Case {
        name: "transfer-is-short",
        says: [
            "a transfer that is over after a few round trips, KiB",
            "数往復で終わる転送、KiB",
        ],
        family: &SHORT,
        strengths: [256.0, 512.0],
        loads: &["stream HOST --bytes {}KiB"],
        make: |world, _| world.delay_ms(25.0),
    },
];
