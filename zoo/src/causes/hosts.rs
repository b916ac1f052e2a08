//! Causes inside a host: its device, its rules, its queues.

use crate::case::Case;
use crate::family::{
    FIREWALL, FIREWALL_OF_SEGMENTS, FLOOD_GUARD, NARROW_PATH, NEIGHBOUR, OWN_DEVICE, REFUSALS,
    REFUSED_TO_SEND, RESULTS, SERVER_WAITS,
};
use crate::world::{Side, bucket};

pub const ALL: &[Case] = &[
    Case {
        name: "own-shaper",
        says: [
            "the asking host's device is shaped, Mb/s",
            "リクエスト側のデバイスが整形されている、Mb/s",
        ],
        family: &OWN_DEVICE,
        strengths: [8.0, 25.0],
        loads: &[
            "stream HOST --cc cubic",
            "datagram HOST --rate {2}Mb/s",
            "rr HOST --size 32KiB:64 --window 8",
        ],
        make: |world, rate| world.on(Side::Asking, bucket("eth0", rate, 150_000)),
    },
    Case {
        name: "own-shaper-of-messages",
        says: [
            "the same under a message bus",
            "メッセージバスの下の同じ整形",
        ],
        family: &OWN_DEVICE,
        strengths: [8.0, 25.0],
        loads: &["bus HOST --size 16KiB --inflight 4MiB"],
        make: |world, rate| world.on(Side::Asking, bucket("eth0", rate, 150_000)),
    },
    Case {
        name: "own-short-queue",
        says: [
            "the same with a queue of eleven packets",
            "11 パケットのキューを持つ同じ整形",
        ],
        family: &OWN_DEVICE,
        strengths: [8.0, 25.0],
        loads: &["datagram HOST --rate {2}Mb/s", "stream HOST --cc cubic"],
        make: |world, rate| world.on(Side::Asking, bucket("eth0", rate, 17_000)),
    },
    Case {
        name: "far-shaper",
        says: [
            "the far end's device is shaped, and it sends, Mb/s",
            "送信する遠端のデバイスが整形されている、Mb/s",
        ],
        family: &OWN_DEVICE,
        strengths: [8.0, 25.0],
        loads: &[
            "stream HOST --direction down --cc cubic",
            "rr HOST --size 64:32KiB --window 8",
        ],
        make: |world, rate| world.on(Side::Serving, bucket("eth0", rate, 150_000)),
    },
    Case {
        name: "firewall-drops-datagrams",
        says: [
            "the receiving host's firewall drops datagrams, %",
            "受信側のファイアウォールがデータグラムを捨てる、%",
        ],
        family: &FIREWALL,
        strengths: [5.0, 20.0],
        loads: &["datagram HOST --rate 1k/s"],
        make: |world, percent| {
            let share = percent / 100.0;
            let rule = format!(
                "iptables -A INPUT -p udp -m statistic --mode random --probability {share:.3} -j DROP"
            );
            world.on(Side::Serving, rule);
        },
    },
    Case {
        name: "firewall-drops-segments",
        says: [
            "the receiving host's firewall drops segments, %",
            "受信側のファイアウォールがセグメントを捨てる、%",
        ],
        family: &FIREWALL_OF_SEGMENTS,
        strengths: [1.0, 4.0],
        loads: &["stream HOST --cc cubic"],
        make: |world, percent| {
            let share = percent / 100.0;
            let rule = format!(
                "iptables -A INPUT -p tcp -m statistic --mode random --probability {share:.3} -j DROP"
            );
            world.on(Side::Serving, rule);
            world.delay_ms(5.0);
        },
    },
    Case {
        name: "firewall-refuses-to-send",
        says: [
            "the sending host's own firewall refuses datagrams, %",
            "送信側自身のファイアウォールが拒む、%",
        ],
        family: &REFUSED_TO_SEND,
        strengths: [5.0, 30.0],
        loads: &["datagram HOST --rate 1k/s"],
        make: |world, percent| {
            let share = percent / 100.0;
            let rule = format!(
                "iptables -A OUTPUT -p udp -m statistic --mode random --probability {share:.3} -j DROP"
            );
            world.on(Side::Asking, rule);
        },
    },
    Case {
        name: "firewall-guards-against-floods",
        says: [
            "a guard drops new connections beyond a rate per second",
            "毎秒の上限を超える新しい接続を捨てる",
        ],
        family: &FLOOD_GUARD,
        strengths: [20.0, 60.0],
        loads: &["crr HOST --threads 4", "crr HOST --rate {3}/s --threads 4"],
        make: |world, rate| {
            let rate = rate.round();
            let rule = format!(
                "iptables -A INPUT -p tcp --syn -m hashlimit --hashlimit-name guard \
                 --hashlimit-above {rate}/s --hashlimit-burst 20 -j DROP"
            );
            world.on(Side::Serving, rule);
        },
    },
    Case {
        name: "firewall-rates-datagrams",
        says: [
            "the receiving host's firewall bounds datagrams, per second",
            "受信側がデータグラムの速さを制限する、毎秒",
        ],
        family: &FIREWALL,
        strengths: [300.0, 600.0],
        loads: &["datagram HOST --rate 1500/s"],
        make: |world, rate| {
            let rate = rate.round();
            let rule = format!(
                "iptables -A INPUT -p udp -m hashlimit --hashlimit-name bound \
                 --hashlimit-above {rate}/s --hashlimit-burst 50 -j DROP"
            );
            world.on(Side::Serving, rule);
        },
    },
    Case {
        name: "results-go-to-a-slow-pipe",
        says: [
            "a slow taker of the rows of results, for which no load waits, and a think time, KB/s",
            "結果の行を受け取る側が遅い (負荷は待たない) 処理時間のあるサーバー、KB/s",
        ],
        family: &SERVER_WAITS,
        strengths: [20.0, 50.0],
        loads: &["jmx run pages.jmx -J url=http://HOST/ -J users=4 -l slow.jtl"],
        make: |world, rate| {
            let pause_s = 4.0 / rate;
            let reads = "dd bs=4000 count=1 2> /dev/null | grep -q .";
            world.files.push(("pages.jmx", include_str!("pages.jmx")));
            world.within(
                Side::Asking,
                format!(
                    "mkfifo slow.jtl; (while {reads}; do sleep {pause_s:.3}; done) < slow.jtl &"
                ),
            );
            world.served_by("think_ms=4");
        },
    },
    Case {
        name: "memory-is-short",
        says: ["a host short of memory", "メモリーが足りないホスト"],
        family: &NEIGHBOUR,
        strengths: [1.0, 2.0],
        loads: &["stream HOST"],
        make: |world, _| {
            world
                .lacks
                .push("a shortage of memory would reach the whole machine")
        },
    },
    Case {
        name: "results-go-to-a-slow-disk",
        says: [
            "a slow file system for results",
            "結果を書く遅いファイルシステム",
        ],
        family: &RESULTS,
        strengths: [1.0, 2.0],
        loads: &["stream HOST"],
        make: |world, _| {
            world
                .lacks
                .push("no file system here can be slowed down for one program")
        },
    },
    Case {
        name: "own-shaper-of-uploads",
        says: [
            "the same under uploads to a web server",
            "Web サーバーへのアップロードの下の同じ整形",
        ],
        family: &OWN_DEVICE,
        strengths: [6.0, 20.0],
        loads: &["http http://HOST/ -c 8 -X POST -b @body.txt"],
        make: |world, rate| {
            world.within(
                Side::Asking,
                "head -c 60000 /dev/zero | tr '\\0' x > body.txt",
            );
            world.served_by("body=100");
            world.on(Side::Asking, bucket("eth0", rate, 150_000));
        },
    },
    Case {
        name: "far-shaper-of-pages",
        says: [
            "a web server behind a shaped device of its own, Mb/s",
            "自身のデバイスが整形されている Web サーバー、Mb/s",
        ],
        family: &NARROW_PATH,
        strengths: [6.0, 20.0],
        loads: &[
            "http http://HOST/ -c 8",
            "http http://HOST/ -c 16 --rate 400/s",
        ],
        make: |world, rate| {
            world.served_by("body=40000");
            world.on(Side::Serving, bucket("eth0", rate, 400_000));
        },
    },
    Case {
        name: "firewall-drops-requests",
        says: [
            "the answering host's firewall drops requests, %",
            "応答側のファイアウォールがリクエストを捨てる、%",
        ],
        family: &FIREWALL,
        strengths: [3.0, 10.0],
        loads: &["rr HOST --transport udp --rate 400/s --window 64 --timeout 500ms"],
        make: |world, percent| {
            let share = percent / 100.0;
            let rule = format!(
                "iptables -A INPUT -p udp -m statistic --mode random --probability {share:.3} -j DROP"
            );
            world.on(Side::Serving, rule);
        },
    },
    Case {
        name: "firewall-guards-a-web-server",
        says: [
            "a guard drops a web server's new connections beyond a rate per second",
            "Web サーバーへの毎秒の上限を超える新しい接続を捨てる",
        ],
        family: &FLOOD_GUARD,
        strengths: [20.0, 60.0],
        loads: &[
            "http http://HOST/ --no-keepalive -c 16",
            "http http://HOST/ --no-keepalive -c 64 --rate {2.5}/s",
        ],
        make: |world, rate| {
            let rate = rate.round();
            let rule = format!(
                "iptables -A INPUT -p tcp --syn -m hashlimit --hashlimit-name guard \
                 --hashlimit-above {rate}/s --hashlimit-burst 20 -j DROP"
            );
            world.on(Side::Serving, rule);
            world.served_by("body=100");
        },
    },
    Case {
        name: "firewall-rejects-connections",
        says: [
            "a firewall refuses new connections beyond a rate per second",
            "毎秒の上限を超える新しい接続を拒むファイアウォール",
        ],
        family: &REFUSALS,
        strengths: [20.0, 60.0],
        loads: &[
            "crr HOST --rate {3}/s --threads 4",
            "http http://HOST/ --no-keepalive -c 8",
        ],
        make: |world, rate| {
            let rate = rate.round();
            let rule = format!(
                "iptables -A INPUT -p tcp --syn -m hashlimit --hashlimit-name guard \
                 --hashlimit-above {rate}/s --hashlimit-burst 20 -j REJECT --reject-with tcp-reset"
            );
            world.on(Side::Serving, rule);
        },
    },
];
