//! Causes at one of several far ends, while the others are well.

use crate::case::Case;
use crate::family::{ONE_FIREWALL, ONE_INTERRUPTED, ONE_NEIGHBOUR, ONE_PEER};
use crate::world::{Event, Side, bucket};

use super::interruptions::stands_still;

/// Far ends of these worlds.
const PEERS: usize = 3;

pub const ALL: &[Case] = &[
    Case {
        name: "one-consumer-is-behind-a-slow-port",
        says: [
            "one of three consumers of messages behind a slow port, Mb/s",
            "3 つのメッセージ受信側のうち 1 つだけが遅いポートの先、Mb/s",
        ],
        family: &ONE_PEER,
        strengths: [2.0, 6.0],
        loads: &["bus HOST --size 4KiB --rate 1500/s"],
        make: |world, rate| {
            world.peers = PEERS;
            world.on(Side::Hub, bucket("sk-port2", rate, 60_000));
        },
    },
    Case {
        name: "one-consumer-stands-still",
        says: [
            "one of three consumers of messages is stopped, s",
            "3 つのメッセージ受信側のうち 1 つが止められる、秒",
        ],
        family: &ONE_INTERRUPTED,
        strengths: [0.5, 1.2],
        loads: &["bus HOST --rate 300/s --duration 4s"],
        make: |world, seconds| {
            world.peers = PEERS;
            stands_still(world, seconds, Side::Serving);
        },
    },
    Case {
        name: "chain-has-a-slow-link",
        says: [
            "messages along a chain of three hosts, of which the second has a slow port, Mb/s",
            "3 台の連鎖を通るメッセージ、2 台目のポートが遅い、Mb/s",
        ],
        family: &ONE_PEER,
        strengths: [6.0, 20.0],
        loads: &["bus HOST --relay --size 16KiB"],
        make: |world, rate| {
            world.peers = PEERS;
            world.on(Side::Hub, bucket("sk-port2", rate, 150_000));
        },
    },
    Case {
        name: "one-firewall-of-three-drops-requests",
        says: [
            "the firewall of one of three hosts drops requests, %",
            "3 台のうち 1 台のファイアウォールがリクエストを捨てる、%",
        ],
        family: &ONE_FIREWALL,
        strengths: [10.0, 30.0],
        loads: &["rr HOST --transport udp --rate 600/s --window 64 --timeout 500ms"],
        make: |world, percent| {
            world.peers = PEERS;
            let share = percent / 100.0;
            world.on(
                Side::Serving,
                format!(
                    "iptables -A INPUT -p udp -m statistic --mode random --probability {share:.3} -j DROP"
                ),
            );
        },
    },
    Case {
        name: "one-far-end-has-neighbours",
        says: [
            "other programs on the core of one of three far ends, threads",
            "3 つの遠端のうち 1 つのコアの他のプログラム、スレッド数",
        ],
        family: &ONE_NEIGHBOUR,
        strengths: [3.0, 6.0],
        // At a low rate the thread would sleep enough to be let before them.
        loads: &["rr HOST --window 32"],
        make: |world, threads| {
            world.peers = PEERS;
            let first = "case \"$*\" in *10.77.0.2:*) taskset -p -c 0 $$ > /dev/null;; *) taskset -p -c 1 $$ > /dev/null;; esac";
            world.within(Side::Serving, first);
            world.hogs.push((0, threads.round() as usize));
        },
    },
    Case {
        name: "one-of-three-is-cut-off",
        says: [
            "the link of one of three far ends is down, s",
            "3 つの遠端のうち 1 つのリンクが落ちる、秒",
        ],
        family: &ONE_INTERRUPTED,
        strengths: [0.6, 1.5],
        loads: &[
            "rr HOST --rate 300/s --window 64 --duration 4s",
            "datagram HOST --rate 900/s --duration 4s",
        ],
        make: |world, seconds| {
            world.peers = PEERS;
            for (at, state) in [(0.7, "down"), (0.7 + seconds, "up")] {
                let command = format!("ip link set sk-port3 {state}");
                world.at(at, Event::Command(Side::Hub, command));
            }
        },
    },
];
