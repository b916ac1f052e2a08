//! Interruptions: something is gone for a while, and may come back.

use crate::case::Case;
use crate::family::{ASKER_STOPPED, GONE, INTERRUPTION};
use crate::world::{Event, Side, World};

/// Time of the beginning, after the first results, in seconds.
const BEGINS: f64 = 0.7;

fn between(world: &mut World, seconds: f64, side: Side, [begin, end]: [&str; 2]) {
    world.at(BEGINS, Event::Command(side, begin.into()));
    world.at(BEGINS + seconds, Event::Command(side, end.into()));
}

/// The far end's link is down for so many seconds.
pub fn link_down(world: &mut World, seconds: f64) {
    let link = ["ip link set sk-port1 down", "ip link set sk-port1 up"];
    between(world, seconds, Side::Hub, link);
}

/// The program of a side stands still for so many seconds.
pub fn stands_still(world: &mut World, seconds: f64, side: Side) {
    world.at(BEGINS, Event::Stop(side));
    world.at(BEGINS + seconds, Event::GoOn(side));
}

pub const ALL: &[Case] = &[
    Case {
        name: "link-goes-down",
        says: ["the far end's link is down, s", "遠端のリンクが落ちる、秒"],
        family: &INTERRUPTION,
        strengths: [0.5, 1.2],
        loads: &[
            "stream HOST --rate 20Mb/s --duration 4s",
            "datagram HOST --rate 1k/s --duration 4s",
            "rr HOST --rate 100/s --duration 4s",
            "bus HOST --rate 200/s --duration 4s",
        ],
        make: |world, seconds| {
            link_down(world, seconds);
        },
    },
    Case {
        name: "link-goes-down-under-load",
        says: [
            "the same for a stream without a bound",
            "上限のないストリームに対して同じ",
        ],
        family: &INTERRUPTION,
        strengths: [0.5, 1.2],
        loads: &["stream HOST --duration 4s"],
        make: |world, seconds| {
            link_down(world, seconds);
        },
    },
    Case {
        name: "route-goes-away",
        says: [
            "the route to the far end is gone, s",
            "遠端への経路が消える、秒",
        ],
        family: &INTERRUPTION,
        strengths: [0.5, 1.2],
        loads: &[
            "stream HOST --rate 20Mb/s --duration 4s",
            "datagram HOST --rate 1k/s --duration 4s",
            "rr HOST --rate 100/s --duration 4s",
        ],
        make: |world, seconds| {
            let route = [
                "ip route add unreachable 10.77.0.2/32",
                "ip route del unreachable 10.77.0.2/32",
            ];
            between(world, seconds, Side::Asking, route);
        },
    },
    Case {
        name: "way-dies",
        says: [
            "nothing passes any more after a while",
            "途中から何も通らなくなる",
        ],
        family: &INTERRUPTION,
        strengths: [0.5, 1.5],
        loads: &[
            "datagram HOST --rate 1k/s --duration 4s",
            "stream HOST --rate 20Mb/s --duration 4s",
        ],
        make: |world, after| {
            let rule = "iptables -A FORWARD -j DROP; ip link set sk-port1 down";
            world.at(after, Event::Command(Side::Hub, rule.into()));
            world.at(
                3.5,
                Event::Command(Side::Hub, "ip link set sk-port1 up".into()),
            );
        },
    },
    Case {
        name: "far-end-stands-still",
        says: [
            "the far end's process is stopped, s",
            "遠端のプロセスが止められる、秒",
        ],
        family: &INTERRUPTION,
        strengths: [0.5, 1.2],
        loads: &[
            "stream HOST --duration 4s",
            "rr HOST --rate 100/s --duration 4s",
            "rr HOST --duration 4s",
            "bus HOST --duration 4s",
        ],
        make: |world, seconds| {
            stands_still(world, seconds, Side::Serving);
        },
    },
    Case {
        name: "far-end-is-killed",
        says: [
            "the far end's process is killed after so many s",
            "遠端のプロセスが終了させられる、秒後",
        ],
        family: &GONE,
        strengths: [0.5, 1.5],
        loads: &[
            "stream HOST --duration 4s",
            "rr HOST --rate 100/s --duration 4s",
        ],
        make: |world, after| world.at(after, Event::Kill),
    },
    Case {
        name: "web-server-stands-still",
        says: [
            "a web server's process is stopped, s",
            "Web サーバーのプロセスが止められる、秒",
        ],
        family: &INTERRUPTION,
        strengths: [0.5, 1.2],
        loads: &[
            "http http://HOST/ --rate 100/s -c 32 --duration 4s",
            "http http://HOST/ -c 8 --duration 4s",
        ],
        make: |world, seconds| {
            world.served_by("think_ms=2");
            stands_still(world, seconds, Side::Serving);
        },
    },
    Case {
        name: "web-server-is-killed",
        says: [
            "a web server's process is killed after so many s",
            "Web サーバーのプロセスが終了させられる、秒後",
        ],
        family: &GONE,
        strengths: [0.7, 1.5],
        loads: &["http http://HOST/ --rate 100/s -c 16 --duration 4s"],
        make: |world, after| {
            world.served_by("think_ms=2");
            world.at(after, Event::Kill);
        },
    },
    Case {
        name: "link-goes-down-under-pages",
        says: ["the same for a web server", "Web サーバーに対して同じ"],
        family: &INTERRUPTION,
        strengths: [0.5, 1.2],
        loads: &[
            "http http://HOST/ --rate 100/s -c 16 --duration 4s",
            "http http://HOST/ -c 8 --duration 4s",
        ],
        make: |world, seconds| {
            world.served_by("think_ms=2");
            link_down(world, seconds);
        },
    },
    Case {
        name: "web-server-starts-again",
        says: [
            "a web server is restarted, s",
            "Web サーバーが再起動される、秒",
        ],
        family: &GONE,
        strengths: [0.4, 1.0],
        loads: &[
            "http http://HOST/ --rate 100/s -c 16 --duration 4s",
            "http http://HOST/ -c 8 --duration 4s",
        ],
        make: |world, seconds| {
            world.served_by("think_ms=2");
            world.at(BEGINS, Event::Kill);
            world.at(BEGINS + seconds, Event::Restart);
        },
    },
    Case {
        name: "asker-stands-still",
        says: [
            "the asking program itself is stopped, s",
            "要求するプログラム自身が止められる、秒",
        ],
        family: &ASKER_STOPPED,
        strengths: [0.5, 1.2],
        loads: &["http http://HOST/ --rate 100/s -c 16 --duration 4s"],
        make: |world, seconds| {
            world.served_by("think_ms=2");
            stands_still(world, seconds, Side::Asking);
        },
    },
    Case {
        name: "sender-stands-still",
        says: [
            "the sending program itself is stopped, s",
            "送信するプログラム自身が止められる、秒",
        ],
        family: &ASKER_STOPPED,
        strengths: [0.5, 1.2],
        loads: &[
            "rr HOST --rate 100/s --duration 4s",
            "datagram HOST --rate 500/s --duration 4s",
            "stream HOST --duration 4s",
        ],
        make: |world, seconds| {
            stands_still(world, seconds, Side::Asking);
        },
    },
];
