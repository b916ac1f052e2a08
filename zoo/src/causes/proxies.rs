//! Causes in nginx and HAProxy, in front of a server that is well.

use crate::case::Case;
use crate::family::{
    CHURN, ERRORS, LATE_PROXY, PROXY_PACES, REFUSED_BY_PROXY, SERVER_WAITS, SHARED_CPU, SLOW_BODY,
};
use crate::world::{Event, Maker, Side};

use super::interruptions::stands_still;

pub const ALL: &[Case] = &[
    Case {
        name: "proxy-bounds-bodies",
        says: [
            "nginx sends each body of 200 KB at a rate, KB/s",
            "nginx が 200 KB の本文をこのレートで送る、KB/s",
        ],
        family: &SLOW_BODY,
        strengths: [800.0, 300.0],
        loads: &["http http://HOST/ -c 8 --duration 4s"],
        make: |world, kb| {
            let lines = format!("limit_rate {kb:.0}k;");
            world.proxied_by(Maker::Nginx, lines, "body=200000");
        },
    },
    Case {
        name: "proxy-refuses-beyond-a-rate",
        says: [
            "nginx answers 503 beyond so many requests per second",
            "nginx が毎秒この数を超えるリクエストに 503 を返す",
        ],
        family: &REFUSED_BY_PROXY,
        strengths: [50.0, 150.0],
        loads: &[
            "http http://HOST/ -c 8 --rate {4}/s",
            "http http://HOST/ -c 8",
        ],
        make: |world, rate| {
            let lines = format!(
                "limit_req_zone $server_port zone=a:1m rate={rate:.0}r/s; limit_req zone=a burst=5 nodelay;"
            );
            world.proxied_by(Maker::Nginx, lines, "think_ms=2");
        },
    },
    Case {
        name: "proxy-delays-beyond-a-rate",
        says: [
            "nginx lets requests wait beyond so many per second",
            "nginx が毎秒この数を超えるリクエストを待たせる",
        ],
        family: &PROXY_PACES,
        strengths: [80.0, 300.0],
        loads: &["http http://HOST/ -c 8", "http http://HOST/ -c 24"],
        make: |world, rate| {
            let lines = format!(
                "limit_req_zone $server_port zone=a:1m rate={rate:.0}r/s; limit_req zone=a burst=1000;"
            );
            world.proxied_by(Maker::Nginx, lines, "think_ms=1");
        },
    },
    Case {
        name: "proxy-bounds-connections",
        says: [
            "nginx answers 503 beyond so many requests at a time",
            "nginx が同時にこの数を超えるリクエストに 503 を返す",
        ],
        family: &REFUSED_BY_PROXY,
        strengths: [2.0, 6.0],
        loads: &["http http://HOST/ -c 16"],
        make: |world, most| {
            let lines = format!(
                "limit_conn_zone $server_port zone=b:1m; limit_conn b {};",
                most.round()
            );
            world.proxied_by(Maker::Nginx, lines, "think_ms=10");
        },
    },
    Case {
        name: "proxy-closes-each",
        says: [
            "nginx closes a connection after so many requests",
            "nginx がこの数のリクエストの後に接続を閉じる",
        ],
        family: &CHURN,
        strengths: [1.0, 1.2],
        loads: &["http http://HOST/ -c 4"],
        make: |world, requests| {
            let lines = format!("keepalive_requests {};", requests.round().max(1.0));
            world.proxied_by(Maker::Nginx, lines, "body=100");
        },
    },
    Case {
        name: "proxy-compresses",
        says: [
            "nginx compresses each body at the highest level, KB",
            "nginx が本文を最高レベルで圧縮する、KB",
        ],
        family: &SHARED_CPU,
        strengths: [300.0, 900.0],
        loads: &["http http://HOST/ -c 8 -H Accept-Encoding:gzip"],
        make: |world, kb| {
            let lines = "gzip on; gzip_types *; gzip_comp_level 9; gzip_http_version 1.0; gzip_proxied any;";
            world.proxied_by(Maker::Nginx, lines, &format!("body={:.0}", kb * 1e3));
        },
    },
    Case {
        name: "proxy-gives-up",
        says: [
            "a server behind nginx is slower than nginx waits, in one of so many requests",
            "この数に 1 件、nginx の待ち時間より遅いサーバー",
        ],
        family: &ERRORS,
        strengths: [3.0, 6.0],
        loads: &[
            "http http://HOST/ -c 8",
            "http http://HOST/ -c 16 --rate 100/s",
        ],
        make: |world, one_in| {
            let lines = "proxy_read_timeout 150ms; proxy_next_upstream off;";
            let behind = format!("think_ms=3 slow_one_in={:.0} slow_ms=600", one_in.round());
            world.proxied_by(Maker::Nginx, lines, &behind);
        },
    },
    Case {
        name: "proxy-loses-its-server",
        says: [
            "the server behind nginx ends at once after so many ms",
            "nginx の後ろのサーバーがこの ms 後にいきなり終わる",
        ],
        family: &LATE_PROXY,
        strengths: [700.0, 1500.0],
        loads: &[
            "http http://HOST/ -c 8 --rate 100/s --duration 4s",
            "http http://HOST/ -c 8 --duration 4s",
        ],
        make: |world, ms| {
            world.proxied_by(Maker::Nginx, "", "think_ms=2");
            world.at(ms / 1e3, Event::Kill);
        },
    },
    Case {
        name: "proxy-queues-for-its-server",
        says: [
            "HAProxy passes on so few requests at a time",
            "HAProxy が同時にこの数しかリクエストを渡さない",
        ],
        family: &SERVER_WAITS,
        strengths: [2.0, 5.0],
        loads: &[
            "http http://HOST/ -c 32",
            "http http://HOST/ -c 64 --rate 1000/s",
        ],
        make: |world, most| {
            world.proxied_by(Maker::HaProxy, "", "think_ms=10");
            world.treats(format!("maxconn {}", most.round()));
        },
    },
    Case {
        name: "proxy-queue-times-out",
        says: [
            "HAProxy answers 503 after so many ms in its queue",
            "HAProxy がキューでこの ms 待つと 503 を返す",
        ],
        family: &REFUSED_BY_PROXY,
        strengths: [30.0, 60.0],
        loads: &["http http://HOST/ -c 32"],
        make: |world, ms| {
            world.proxied_by(
                Maker::HaProxy,
                format!("timeout queue {ms:.0}ms"),
                "think_ms=20",
            );
            world.treats("maxconn 2");
        },
    },
    Case {
        name: "proxy-stands-before-a-paused-server",
        says: [
            "the server behind HAProxy stands still, s",
            "HAProxy の後ろのサーバーが止まる、秒",
        ],
        family: &LATE_PROXY,
        strengths: [0.5, 1.2],
        loads: &[
            "http http://HOST/ -c 8 --duration 4s",
            "http http://HOST/ -c 64 --rate 100/s --duration 4s",
        ],
        make: |world, seconds| {
            world.proxied_by(Maker::HaProxy, "", "think_ms=2");
            stands_still(world, seconds, Side::Serving);
        },
    },
];
