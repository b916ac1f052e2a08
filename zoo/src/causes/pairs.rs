//! Two causes at once.

use crate::case::Pair;

const fn pair(first: &'static str, second: &'static str, load: &'static str) -> Pair {
    Pair {
        first,
        second,
        load,
    }
}

pub const ALL: &[Pair] = &[
    pair(
        "database-waits-for-its-disk",
        "database-behind-a-small-pool",
        "tpcb --target postgres://bench@HOST/bench -c 16 --pool 3 --variant no-branch",
    ),
    pair(
        "database-waits-for-its-disk",
        "database-has-one-hot-row",
        "tpcb --target postgres://bench@HOST/bench -c 16",
    ),
    pair(
        "own-shaper",
        "small-receive-buffer",
        "stream HOST --rcvbuf 64KiB",
    ),
    pair(
        "own-shaper",
        "firewall-drops-datagrams",
        "datagram HOST --rate {2}Mb/s",
    ),
    pair(
        "own-short-queue",
        "firewall-drops-datagrams",
        "datagram HOST --rate {2}Mb/s",
    ),
    pair(
        "own-shaper",
        "far-end-stands-still",
        "stream HOST --duration 4s",
    ),
    pair("way-is-narrow", "way-loses", "stream HOST --cc cubic"),
    pair(
        "way-is-narrow",
        "small-send-default",
        "stream HOST --cc cubic",
    ),
    pair(
        "way-is-narrow",
        "reader-takes-its-time",
        "stream HOST --read-rate 8Mb/s",
    ),
    pair(
        "way-is-narrow",
        "way-repeats",
        "datagram HOST --rate {2}Mb/s",
    ),
    pair(
        "way-is-narrow",
        "firewall-drops-datagrams",
        "datagram HOST --rate {2}Mb/s",
    ),
    pair(
        "way-is-policed",
        "way-reorders",
        "datagram HOST --rate {2}Mb/s",
    ),
    pair(
        "way-loses",
        "small-receive-default",
        "stream HOST --cc cubic",
    ),
    pair("way-loses", "small-send-default", "stream HOST --cc cubic"),
    pair(
        "way-loses-datagrams",
        "way-repeats",
        "datagram HOST --rate 1k/s",
    ),
    pair(
        "way-loses-datagrams",
        "way-reorders",
        "datagram HOST --rate 1k/s",
    ),
    pair(
        "way-loses-datagrams",
        "firewall-refuses-to-send",
        "datagram HOST --rate 1k/s",
    ),
    pair(
        "firewall-drops-datagrams",
        "firewall-refuses-to-send",
        "datagram HOST --rate 1k/s",
    ),
    pair(
        "switch-port-is-narrow",
        "firewall-drops-datagrams",
        "datagram HOST --rate {2}Mb/s",
    ),
    pair(
        "switch-port-is-narrow",
        "link-goes-down",
        "datagram HOST --rate {2}Mb/s --duration 4s",
    ),
    pair(
        "firewall-drops-datagrams",
        "link-goes-down",
        "datagram HOST --rate 1k/s --duration 4s",
    ),
    pair(
        "request-window",
        "far-end-stands-still",
        "rr HOST --rate 200/s --duration 4s",
    ),
    pair("server-thinks", "answers-503", "http http://HOST/ -c 8"),
    pair(
        "server-thinks",
        "server-closes-each",
        "http http://HOST/ -c 8",
    ),
    pair("workers-are-few", "answers-429", "http http://HOST/ -c 32"),
    pair(
        "workers-are-few",
        "server-pauses",
        "http http://HOST/ -c 32 --duration 4s",
    ),
    pair(
        "server-locks",
        "connections-bounded",
        "http http://HOST/ -c 32",
    ),
    pair(
        "server-closes-each",
        "accept-queue-is-short",
        "http http://HOST/ -c 16",
    ),
    pair(
        "pool-is-small",
        "one-worker-is-slow",
        "http http://HOST/ -c 32",
    ),
    pair(
        "server-computes",
        "ports-run-out-for-pages",
        "http http://HOST/ --no-keepalive -c 8",
    ),
    pair(
        "bodies-come-slowly",
        "answers-503",
        "http http://HOST/ -c 8",
    ),
    pair(
        "names-are-lost",
        "names-come-slowly",
        "dns HOST -q www.example. --rate 300/s --timeout 500ms",
    ),
    pair("server-thinks", "way-loses-pages", "http http://HOST/ -c 8"),
    pair(
        "way-is-narrow-for-pages",
        "answers-503",
        "http http://HOST/ -c 8",
    ),
    pair(
        "web-server-yields-to-others",
        "server-locks",
        "http http://HOST/ -c 8",
    ),
    pair(
        "uploads-through-small-send-buffers",
        "uploads-are-lost-on-the-way",
        "http http://HOST/ -c 2 -X POST -b @body.txt --duration 4s",
    ),
    pair(
        "database-keys-collide",
        "database-waits-for-its-disk",
        "sqlmix --target postgres://bench@HOST/bench --file opens.sql -D top={} -c 8",
    ),
    pair(
        "commits-wait-for-a-standby",
        "way-is-far-for-transactions",
        "tpcb --target postgres://bench@HOST/bench -c 6 --variant no-branch --duration 5s",
    ),
];
