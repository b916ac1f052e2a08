//! Healthy worlds: the load asked for is far below what they carry.

use std::time::Duration;

use sokudo_testkit::relay::{Fate, Which};

use crate::case::Case;
use crate::family::AS_ASKED;
use crate::world::{Engine, Maker, Side, bucket, narrow};

pub const ALL: &[Case] = &[
    Case {
        name: "healthy-proxy",
        says: [
            "nginx in front of a web server, far from its limit",
            "限界から遠い Web サーバーの前の nginx",
        ],
        family: &AS_ASKED,
        strengths: [50.0, 200.0],
        loads: &["http http://HOST/ -c 16 --rate {}/s"],
        make: |world, _| world.proxied_by(Maker::Nginx, "", "think_ms=2 body=2000"),
    },
    Case {
        name: "healthy-balancer",
        says: [
            "HAProxy in front of a web server, far from its limit",
            "限界から遠い Web サーバーの前の HAProxy",
        ],
        family: &AS_ASKED,
        strengths: [50.0, 200.0],
        loads: &["http http://HOST/ -c 16 --rate {}/s"],
        make: |world, _| world.proxied_by(Maker::HaProxy, "", "think_ms=2 body=2000"),
    },
    Case {
        name: "healthy-far-database",
        says: [
            "few transactions a second on a database at the end of a long way",
            "長い経路の先のデータベースでの毎秒わずかなトランザクション",
        ],
        family: &AS_ASKED,
        strengths: [8.0, 20.0],
        loads: &["tpcb --target postgres://bench@HOST/bench -c 16 --rate {}/s"],
        make: |world, _| {
            world.database(Engine::Postgres, 4, &[]);
            world.delay_ms(5.0);
        },
    },
    Case {
        name: "healthy-database",
        says: [
            "few transactions a second on a database",
            "データベースでの毎秒わずかなトランザクション",
        ],
        family: &AS_ASKED,
        strengths: [10.0, 30.0],
        loads: &[
            "tpcb --target postgres://bench@HOST/bench -c 8 --rate {}/s",
            "tpcb --target postgres://bench@HOST/bench -c 16 --pool 8 --rate {}/s",
        ],
        make: |world, _| world.database(Engine::Postgres, 4, &[]),
    },
    Case {
        name: "healthy-embedded-database",
        says: [
            "few transactions a second on a file of SQLite",
            "SQLite のファイルでの毎秒わずかなトランザクション",
        ],
        family: &AS_ASKED,
        strengths: [10.0, 30.0],
        loads: &["tpcb -c 4 --rate {}/s"],
        make: |_, _| (),
    },
    Case {
        name: "healthy-mariadb",
        says: [
            "few transactions a second on MariaDB",
            "MariaDB での毎秒わずかなトランザクション",
        ],
        family: &AS_ASKED,
        strengths: [10.0, 30.0],
        loads: &["tpcb --target mysql://bench@HOST/bench -c 8 --rate {}/s"],
        make: |world, _| world.database(Engine::MariaDb, 4, &[]),
    },
    Case {
        name: "healthy-app",
        says: [
            "an application server far from its limits",
            "限界から遠いアプリケーションサーバー",
        ],
        family: &AS_ASKED,
        strengths: [20.0, 60.0],
        loads: &[
            "http http://HOST/ --rate {}/s -c 16",
            "http http://HOST/stress/ --rate {}/s -c 16",
        ],
        make: |world, _| {
            world.target("pool.url=sim: stress.search_ms=2 stress.interval_ms=0 stress.update_ms=0 stress.bit=16");
        },
    },
    Case {
        name: "healthy-bus",
        says: [
            "messages at a rate that anybody carries",
            "誰でも運べる速さのメッセージ",
        ],
        family: &AS_ASKED,
        strengths: [200.0, 800.0],
        loads: &["bus HOST --rate {}/s"],
        make: |_, _| (),
    },
    Case {
        name: "healthy-connections",
        says: ["few new connections a second", "毎秒わずかな新しい接続"],
        family: &AS_ASKED,
        strengths: [20.0, 60.0],
        loads: &[
            "crr HOST --rate {}/s",
            "crr HOST --transport tls --rate {}/s",
        ],
        make: |_, _| (),
    },
    Case {
        name: "healthy-datagrams",
        says: ["datagrams at a modest rate", "控えめな速さのデータグラム"],
        family: &AS_ASKED,
        strengths: [300.0, 1500.0],
        loads: &["datagram HOST --rate {}/s"],
        make: |_, _| (),
    },
    Case {
        name: "healthy-far-bus",
        says: [
            "messages over a long way, far below the window",
            "長い経路を通る、窓よりずっと少ないメッセージ",
        ],
        family: &AS_ASKED,
        strengths: [10.0, 25.0],
        loads: &["bus HOST --rate 100/s --size 256"],
        make: |world, ms| world.delay_ms(ms),
    },
    Case {
        name: "healthy-far-datagrams",
        says: ["datagrams over a long way", "長い経路を通るデータグラム"],
        family: &AS_ASKED,
        strengths: [10.0, 30.0],
        loads: &["datagram HOST --rate 500/s"],
        make: |world, ms| world.delay_ms(ms),
    },
    Case {
        name: "healthy-far-requests",
        says: [
            "requests over a long way, with enough under way",
            "長い経路を通る、同時数が足りているリクエスト",
        ],
        family: &AS_ASKED,
        strengths: [5.0, 15.0],
        loads: &["rr HOST --rate 100/s --window 16"],
        make: |world, ms| world.delay_ms(ms),
    },
    Case {
        name: "healthy-far-stream",
        says: [
            "a stream at a modest rate over a long way",
            "長い経路を通る控えめなストリーム",
        ],
        family: &AS_ASKED,
        strengths: [5.0, 20.0],
        loads: &["stream HOST --rate 4Mb/s"],
        make: |world, ms| world.delay_ms(ms),
    },
    Case {
        name: "healthy-http",
        says: [
            "a web server far from its limit",
            "限界から遠い Web サーバー",
        ],
        family: &AS_ASKED,
        strengths: [50.0, 200.0],
        loads: &[
            "http http://HOST/ --rate {}/s -c 16",
            "http http://HOST/ --rate {}/s -c 64",
        ],
        make: |world, _| world.served_by("body=500"),
    },
    Case {
        name: "healthy-http-far",
        says: [
            "a web server at the end of a long way",
            "長い経路の先の Web サーバー",
        ],
        family: &AS_ASKED,
        strengths: [10.0, 25.0],
        loads: &["http http://HOST/ --rate 50/s -c 32"],
        make: |world, ms| {
            world.served_by("body=500");
            world.delay_ms(ms);
        },
    },
    Case {
        name: "healthy-http-thinks",
        says: [
            "a web server with a short think time and connections enough",
            "短い処理時間と十分な接続の Web サーバー",
        ],
        family: &AS_ASKED,
        strengths: [3.0, 10.0],
        loads: &["http http://HOST/ --rate 50/s -c 32"],
        make: |world, ms| world.served_by(format!("think_ms={ms}")),
    },
    Case {
        name: "healthy-https",
        says: ["kept connections over TLS", "TLS 上の維持された接続"],
        family: &AS_ASKED,
        strengths: [30.0, 100.0],
        loads: &["http https://HOST/ -k --rate {}/s -c 8"],
        make: |world, _| world.served_by("tls=1 body=500"),
    },
    Case {
        name: "healthy-jitter",
        says: ["a way that jitters a little", "わずかに揺らぐ経路"],
        family: &AS_ASKED,
        strengths: [1.0, 3.0],
        loads: &[
            "rr HOST --rate 50/s --window 8",
            "datagram HOST --rate 500/s",
        ],
        make: |world, ms| world.there(|script| script.jitter(Duration::from_secs_f64(ms / 1e3))),
    },
    Case {
        name: "healthy-names",
        says: [
            "a name server that answers at once",
            "すぐに答えるネームサーバー",
        ],
        family: &AS_ASKED,
        strengths: [100.0, 300.0],
        loads: &["dns HOST -q www.example. --rate {}/s"],
        make: |world, _| world.served_by("dns=1"),
    },
    Case {
        name: "healthy-requests",
        says: ["requests at a modest rate", "控えめな速さのリクエスト"],
        family: &AS_ASKED,
        strengths: [100.0, 400.0],
        loads: &[
            "rr HOST --rate {}/s",
            "rr HOST --transport udp --rate {}/s",
            "rr HOST --transport tls --rate {}/s",
        ],
        make: |_, _| (),
    },
    Case {
        name: "healthy-shaped",
        says: [
            "a link that is four times as fast as the load",
            "負荷の 4 倍の速さのリンク",
        ],
        family: &AS_ASKED,
        strengths: [16.0, 40.0],
        loads: &[
            "stream HOST --rate {0.25}Mb/s",
            "datagram HOST --rate {0.25}Mb/s",
        ],
        make: |world, rate| world.there(|script| script.narrow(narrow(rate, 100.0, true))),
    },
    Case {
        name: "healthy-shaped-device",
        says: [
            "a device that is shaped to four times the load",
            "負荷の 4 倍に整形されたデバイス",
        ],
        family: &AS_ASKED,
        strengths: [16.0, 40.0],
        loads: &[
            "stream HOST --rate {0.25}Mb/s",
            "datagram HOST --rate {0.25}Mb/s",
        ],
        make: |world, rate| world.on(Side::Asking, bucket("eth0", rate, 150_000)),
    },
    Case {
        name: "healthy-stream",
        says: ["a stream at a modest rate", "控えめなストリーム"],
        family: &AS_ASKED,
        strengths: [8.0, 30.0],
        loads: &[
            "stream HOST --rate {}Mb/s",
            "stream HOST --transport tls --rate {}Mb/s",
        ],
        make: |_, _| (),
    },
    Case {
        name: "healthy-crowded",
        says: [
            "a link that others use in part, with room for the load",
            "他の通信が一部を使うが、負荷に足りるリンク",
        ],
        family: &AS_ASKED,
        strengths: [40.0, 80.0],
        loads: &[
            "stream HOST --rate {0.2}Mb/s",
            "datagram HOST --rate {0.2}Mb/s",
        ],
        make: |world, rate| {
            world.crowd = Some(rate * 0.2);
            world.on(Side::Hub, bucket("sk-port1", rate, 150_000));
        },
    },
    Case {
        name: "healthy-new-connections-to-a-web-server",
        says: [
            "few new connections a second to a web server",
            "Web サーバーへの毎秒わずかな新しい接続",
        ],
        family: &AS_ASKED,
        strengths: [20.0, 50.0],
        loads: &["http http://HOST/ --no-keepalive --rate {}/s -c 16"],
        make: |world, _| world.served_by("body=500"),
    },
    Case {
        name: "healthy-uploads",
        says: [
            "small uploads to a web server",
            "Web サーバーへの小さなアップロード",
        ],
        family: &AS_ASKED,
        strengths: [30.0, 100.0],
        loads: &["http http://HOST/ --rate {}/s -c 8 -X POST -b hello"],
        make: |world, _| world.served_by("body=200 think_ms=1"),
    },
    Case {
        name: "healthy-rare-requests",
        says: ["a request now and then", "ときどきのリクエスト"],
        family: &AS_ASKED,
        strengths: [2.0, 5.0],
        loads: &[
            "rr HOST --rate {}/s --duration 5s",
            "bus HOST --rate {}/s --duration 5s",
            "datagram HOST --rate {}/s --duration 5s",
        ],
        make: |_, _| (),
    },
    Case {
        name: "healthy-rare-pages",
        says: ["a page now and then", "ときどきのページ"],
        family: &AS_ASKED,
        strengths: [2.0, 5.0],
        loads: &["http http://HOST/ -c 4 --rate {}/s --duration 5s"],
        make: |world, _| world.served_by("body=500 think_ms=2"),
    },
    Case {
        name: "healthy-huge-pages",
        says: [
            "pages of 3 MB, a few a second",
            "毎秒わずかな 3 MB のページ",
        ],
        family: &AS_ASKED,
        strengths: [3.0, 8.0],
        loads: &["http http://HOST/ -c 8 --rate {}/s"],
        make: |world, _| world.served_by("body=3000000"),
    },
    Case {
        name: "healthy-huge-requests",
        says: [
            "requests and answers of 1 MiB, a few a second",
            "毎秒わずかな 1 MiB のリクエストと応答",
        ],
        family: &AS_ASKED,
        strengths: [3.0, 8.0],
        loads: &[
            "rr HOST --size 1MiB:1MiB --rate {}/s --window 4",
            "rr HOST --size 1:1 --rate {20}/s",
        ],
        make: |_, _| (),
    },
    Case {
        name: "healthy-many-connections",
        says: [
            "hundreds of connections that do little",
            "ほとんど何もしない数百の接続",
        ],
        family: &AS_ASKED,
        strengths: [50.0, 150.0],
        loads: &["http http://HOST/ -c 400 --rate {}/s"],
        make: |world, _| world.served_by("body=500"),
    },
    Case {
        name: "healthy-many-sessions",
        says: [
            "hundreds of connections between hosts that do little",
            "ほとんど何もしない、ホスト間の数百の接続",
        ],
        family: &AS_ASKED,
        strengths: [50.0, 150.0],
        loads: &["rr HOST --connections 200 --rate {}/s"],
        make: |_, _| (),
    },
    Case {
        name: "healthy-very-far",
        says: [
            "a web server on the other side of the earth, ms there",
            "地球の裏側の Web サーバー、片道 ms",
        ],
        family: &AS_ASKED,
        strengths: [90.0, 140.0],
        loads: &["http http://HOST/ -c 32 --rate 20/s --duration 5s"],
        make: |world, ms| {
            world.served_by("body=1000");
            world.delay_ms(ms);
        },
    },
    Case {
        name: "healthy-http2",
        says: [
            "nginx over HTTP/2, far from its limit",
            "限界から遠い HTTP/2 の nginx",
        ],
        family: &AS_ASKED,
        strengths: [50.0, 200.0],
        loads: &["http http://HOST/ --http2 -c 4 -m 16 --rate {}/s"],
        make: |world, _| {
            world.proxied_by(Maker::Nginx, "", "think_ms=2 body=2000");
            world.proxy(|proxy| proxy.listens = "http2".into());
        },
    },
    Case {
        name: "healthy-plan-with-pauses",
        says: [
            "a test plan whose users pause, ms",
            "ユーザーが待ち時間をとるテスト計画、ms",
        ],
        family: &AS_ASKED,
        strengths: [100.0, 300.0],
        loads: &["jmx run paced.jmx -J url=http://HOST/ -J users=6 -J pause={}"],
        make: |world, _| {
            world.files.push(("paced.jmx", include_str!("paced.jmx")));
            world.served_by("body=500 think_ms=2");
        },
    },
    Case {
        name: "healthy-statements",
        says: [
            "few transactions a second of six statements each",
            "それぞれ 6 文からなる、毎秒わずかなトランザクション",
        ],
        family: &AS_ASKED,
        strengths: [10.0, 30.0],
        loads: &["sqlmix --target postgres://bench@HOST/bench --file steps.sql -c 8 --rate {}/s"],
        make: |world, _| {
            world.files.push((
                "steps.sql",
                "\\set a random(1, 100000)\n\\set b random(1, 100000)\nbegin;\n\
                 select abalance from tpcb_accounts where aid = :a;\n\
                 update tpcb_accounts set abalance = abalance - 1 where aid = :a;\n\
                 select abalance from tpcb_accounts where aid = :b;\n\
                 update tpcb_accounts set abalance = abalance + 1 where aid = :b;\ncommit;\n",
            ));
            world.database(Engine::Postgres, 1, &[]);
        },
    },
    Case {
        name: "healthy-replica",
        says: [
            "files at two thirds of what a link carries, Mb/s",
            "リンクの 3 分の 2 の速さのファイル、Mb/s",
        ],
        family: &AS_ASKED,
        strengths: [15.0, 40.0],
        loads: &[
            "replicate dataset:{0.4}x1MB HOST:null --content random --level none --limit {}Mb/s",
        ],
        make: |world, rate| {
            world.delay_ms(2.0);
            world.there(|script| script.narrow(narrow(rate * 1.5, 100.0, true)));
        },
    },
    Case {
        name: "healthy-proxy-with-a-dead-member",
        says: [
            "nginx in front of two servers, of which one is not there",
            "2 台のうち 1 台がいない nginx",
        ],
        family: &AS_ASKED,
        strengths: [30.0, 100.0],
        loads: &["http http://HOST/ -c 16 --rate {}/s"],
        make: |world, _| {
            world.proxied_by(Maker::Nginx, "", "think_ms=2 body=2000");
            // Port 9 (discard, RFC 863), on which nothing listens.
            world.treats("; server 127.0.0.1:9");
        },
    },
    Case {
        name: "healthy-visitors",
        says: [
            "visitors who come by chance, a second",
            "偶然に来る訪問者、毎秒",
        ],
        family: &AS_ASKED,
        strengths: [40.0, 120.0],
        loads: &["http http://HOST/ -c 32 --rate {}/s --arrival poisson"],
        make: |world, _| world.served_by("body=1000 think_ms=3"),
    },
    Case {
        name: "healthy-way-that-repeats",
        says: [
            "a stream over a way that repeats packets, %",
            "パケットを重複させる経路のストリーム、%",
        ],
        family: &AS_ASKED,
        strengths: [2.0, 6.0],
        loads: &["stream HOST --rate 10Mb/s"],
        make: |world, percent| {
            world.delay_ms(3.0);
            world.there(|script| script.rule(Which::Share(percent / 100.0), Fate::Duplicate(1)));
        },
    },
    Case {
        name: "healthy-small-packets",
        says: [
            "links of a tunnel, whose largest packets are smaller, bytes",
            "最大パケットが小さいトンネルのリンク、バイト",
        ],
        family: &AS_ASKED,
        // Below 1280 B a link has no IPv6.
        strengths: [1400.0, 1480.0],
        loads: &[
            "stream HOST --rate 8Mb/s",
            "rr HOST --size 4KiB:4KiB --rate 100/s --window 8",
        ],
        make: |world, bytes| world.mtu = Some(bytes.round().min(1492.0) as u32),
    },
];
