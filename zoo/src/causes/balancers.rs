//! Causes in nginx and HAProxy that answer, queue or refuse by themselves, and among the servers behind them.

use crate::case::Case;
use crate::family::{
    ACCEPT_QUEUE, FAR_CONNECTIONS, HANDSHAKES, PACED_CALLS, PLACES_OF_PROXY, REDIRECTS, REFUSALS,
    REFUSED_BY_PROXY, SLOW_SHARE, STREAMS_GRANTED,
};
use crate::world::{Maker, World};

/// Takes count of the requests of a caller in the last second.
const COUNTS: &str =
    "stick-table type ip size 1k expire 10s store http_req_rate(1s)\n http-request track-sc0 src\n";

/// HAProxy in front of a prompt server, with these lines where requests come in.
fn balanced(world: &mut World, entrance: String) {
    world.proxied_by(Maker::HaProxy, "", "think_ms=3");
    world.proxy(|proxy| proxy.entrance = entrance);
}

pub const ALL: &[Case] = &[
    Case {
        name: "proxy-grants-few-streams",
        says: [
            "nginx carries so few requests at a time on a connection of HTTP/2",
            "nginx が HTTP/2 の接続でこの数しか同時にリクエストを運ばない",
        ],
        family: &STREAMS_GRANTED,
        strengths: [2.0, 6.0],
        loads: &["http http://HOST/ --http2 -c 2 -m 32"],
        make: |world, most| {
            let lines = format!("http2_max_concurrent_streams {};", most.round());
            world.proxied_by(Maker::Nginx, lines, "think_ms=10");
            world.proxy(|proxy| proxy.listens = "http2".into());
        },
    },
    Case {
        name: "proxy-has-few-places",
        says: [
            "nginx has room for so few connections",
            "nginx がこの数の接続しか持てない",
        ],
        family: &PLACES_OF_PROXY,
        strengths: [14.0, 30.0],
        loads: &[
            "http http://HOST/ -c 48",
            "http http://HOST/ -c 64 --rate 2500/s",
        ],
        make: |world, most| {
            world.proxied_by(Maker::Nginx, "", "think_ms=20");
            world.proxy(|proxy| proxy.places = most.round() as u32);
        },
    },
    Case {
        name: "proxy-keeps-connections-shortly",
        says: [
            "nginx closes a connection over a long way after so many requests",
            "長い経路の接続を nginx がこの数のリクエストの後に閉じる",
        ],
        family: &FAR_CONNECTIONS,
        strengths: [2.0, 4.0],
        loads: &["http http://HOST/ -c 8"],
        make: |world, requests| {
            let lines = format!("keepalive_requests {};", requests.round());
            world.proxied_by(Maker::Nginx, lines, "body=100");
            world.delay_ms(15.0);
        },
    },
    Case {
        name: "proxy-has-one-slow-member",
        says: [
            "one of three servers behind HAProxy takes its time, ms",
            "HAProxy の後ろの 3 台のうち 1 台だけが遅い、ms",
        ],
        family: &SLOW_SHARE,
        strengths: [100.0, 300.0],
        loads: &[
            "http http://HOST/ -c 12",
            "http http://HOST/ -c 64 --rate 150/s",
        ],
        make: |world, ms| {
            world.proxied_by(Maker::HaProxy, "balance roundrobin", "think_ms=3");
            world.proxy(|proxy| {
                let slow = format!("think_ms={ms:.0}");
                proxy.behind.extend([slow, "think_ms=3".into()]);
            });
        },
    },
    Case {
        name: "proxy-has-one-failing-member",
        says: [
            "one of three servers behind nginx answers 500, % of its answers",
            "nginx の後ろの 3 台のうち 1 台が 500 を返す、その応答の %",
        ],
        family: &REFUSED_BY_PROXY,
        strengths: [50.0, 95.0],
        loads: &[
            "http http://HOST/ -c 8",
            "http http://HOST/ -c 16 --rate 200/s",
        ],
        make: |world, percent| {
            let fails = format!(
                "think_ms=4 status=500 fail={:.3}",
                (percent / 100.0).min(1.0)
            );
            world.proxied_by(Maker::Nginx, "", "think_ms=4");
            world.proxy(|proxy| proxy.behind.extend([fails, "think_ms=4".into()]));
        },
    },
    Case {
        name: "balancer-takes-few-connections",
        says: [
            "HAProxy accepts so few connections at a time for 32 users",
            "HAProxy が 32 ユーザーに対して同時にこの数の接続しか受けない",
        ],
        family: &ACCEPT_QUEUE,
        strengths: [4.0, 10.0],
        loads: &["http http://HOST/ -c 32"],
        make: |world, most| balanced(world, format!("maxconn {}", most.round())),
    },
    Case {
        name: "balancer-bounds-new-connections",
        says: [
            "HAProxy accepts so many new connections a second",
            "HAProxy が毎秒この数の新しい接続しか受けない",
        ],
        family: &PACED_CALLS,
        strengths: [30.0, 90.0],
        // What a fresh HAProxy lets through at once is over before the measurement begins.
        loads: &["http http://HOST/ --no-keepalive -c 16 --warmup 2s --duration 4s"],
        make: |world, rate| balanced(world, format!("rate-limit sessions {}", rate.round())),
    },
    Case {
        name: "balancer-answers-429",
        says: [
            "HAProxy answers 429 to a caller beyond so many requests in a second",
            "HAProxy が 1 秒にこの数を超える呼び出し元に 429 を返す",
        ],
        family: &REFUSED_BY_PROXY,
        strengths: [60.0, 150.0],
        loads: &[
            "http http://HOST/ -c 8 --rate {4}/s",
            "http http://HOST/ -c 8",
        ],
        make: |world, rate| {
            let rate = rate.round();
            let denies = format!(
                "{COUNTS} http-request deny deny_status 429 if {{ sc_http_req_rate(0) gt {rate} }}"
            );
            balanced(world, denies);
        },
    },
    Case {
        name: "balancer-tarpits",
        says: [
            "HAProxy lets a caller wait for 300 ms beyond so many requests in a second, and answers 500 then",
            "HAProxy が 1 秒にこの数を超える呼び出し元を 300 ms 待たせて 500 を返す",
        ],
        family: &REFUSED_BY_PROXY,
        strengths: [20.0, 50.0],
        loads: &["http http://HOST/ -c 32"],
        make: |world, rate| {
            let rate = rate.round();
            let tarpits = format!(
                "timeout tarpit 300ms\n {COUNTS} http-request tarpit if {{ sc_http_req_rate(0) gt {rate} }}"
            );
            balanced(world, tarpits);
        },
    },
    Case {
        name: "balancer-drops-silently",
        says: [
            "HAProxy forgets a share of its connections without a word, % of requests",
            "HAProxy がリクエストの一部で接続を黙って忘れる、%",
        ],
        family: &REFUSALS,
        strengths: [5.0, 20.0],
        loads: &["http http://HOST/ -c 16 --timeout 500ms"],
        make: |world, percent| {
            let drops = format!(
                "http-request silent-drop if {{ rand(1000) lt {:.0} }}",
                percent * 10.0
            );
            balanced(world, drops);
        },
    },
    Case {
        name: "balancer-redirects",
        says: [
            "HAProxy sends a share of the requests elsewhere, %",
            "HAProxy が一部のリクエストを別の場所へ案内する、%",
        ],
        family: &REDIRECTS,
        strengths: [40.0, 90.0],
        // In a closed loop the time of the other answers would be a limit, too.
        loads: &["http http://HOST/ -c 8 --rate 200/s"],
        make: |world, percent| {
            let redirects = format!(
                "http-request redirect location /moved code 302 if {{ rand(1000) lt {:.0} }}",
                percent * 10.0
            );
            balanced(world, redirects);
        },
    },
    Case {
        name: "proxy-has-a-long-key",
        says: [
            "a TLS handshake for each request with nginx's key of 4096 bits, users",
            "nginx の 4096 ビットの鍵での、リクエストごとの TLS ハンドシェイク、ユーザー数",
        ],
        family: &HANDSHAKES,
        strengths: [6.0, 16.0],
        loads: &["http https://HOST/ -k --no-keepalive -c {}"],
        make: |world, _| {
            world.needs("openssl", "no program that makes keys (openssl)");
            world.proxied_by(Maker::Nginx, "", "body=100");
            world.proxy(|proxy| {
                proxy.listens = "ssl".into();
                proxy.key_bits = 4096;
            });
        },
    },
];
