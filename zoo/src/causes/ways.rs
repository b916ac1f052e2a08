//! Causes on ways that differ by direction, by what they carry, or from moment to moment.

use sokudo_testkit::relay::{Fate, Script, Which};

use crate::case::Case;
use crate::family::{
    DISTANCE, FRAGMENTS, INTERRUPTION, LOSSY_PATH, LOST_LARGE, LOST_ROWS, NARROW_PATH, POLICED,
    SQUEEZED_PAGES,
};
use crate::world::{Engine, Event, Side, World, narrow};

use super::databases::NO_DISK;

/// Interruptions of a link that flaps, and the time between their beginnings, in seconds.
const FLAPS: usize = 5;
const FLAP_EVERY: f64 = 0.8;

/// Packets beyond so many bytes vanish without a word.
fn swallows(script: Script, bytes: f64) -> Script {
    let most = bytes as usize;
    let script = script.only(move |packet| packet.len() > most);
    script.rule(Which::Share(1.1), Fate::Drop)
}

/// The far end's link is down for so many milliseconds, again and again.
fn flaps(world: &mut World, ms: f64) {
    for flap in 0..FLAPS {
        let begin = 0.5 + flap as f64 * FLAP_EVERY;
        for (at, state) in [(begin, "down"), (begin + ms / 1e3, "up")] {
            let command = format!("ip link set sk-port1 {state}");
            world.at(at, Event::Command(Side::Hub, command));
        }
    }
}

pub const ALL: &[Case] = &[
    Case {
        name: "acknowledgements-of-pages-are-squeezed",
        says: [
            "pages of 300 KB whose acknowledgements share a thin way there, kb/s",
            "300 KB のページの確認応答が細い往路を分け合う、kb/s",
        ],
        family: &SQUEEZED_PAGES,
        strengths: [60.0, 150.0],
        loads: &["http http://HOST/ -c 4"],
        make: |world, rate| {
            world.served_by("body=300000");
            world.delay_ms(5.0);
            world.there(|script| script.narrow(narrow(rate / 1e3, 300.0, true)));
        },
    },
    Case {
        name: "one-direction-is-narrow",
        says: [
            "both ends send, and the way there is a narrow link, Mb/s",
            "両端が送信し、往路だけが細いリンク、Mb/s",
        ],
        family: &NARROW_PATH,
        strengths: [8.0, 25.0],
        loads: &["stream HOST --direction both --cc cubic"],
        make: |world, rate| {
            world.delay_ms(2.0);
            world.there(|script| script.narrow(narrow(rate, 60.0, true)));
        },
    },
    Case {
        name: "way-is-narrow-for-quic",
        says: [
            "a stream of QUIC through a link in the middle, Mb/s",
            "途中のリンクを通る QUIC のストリーム、Mb/s",
        ],
        family: &NARROW_PATH,
        strengths: [8.0, 25.0],
        loads: &["stream HOST --transport quic"],
        make: |world, rate| {
            world.delay_ms(2.0);
            world.there(|script| script.narrow(narrow(rate, 60.0, true)));
        },
    },
    Case {
        name: "way-loses-quic",
        says: [
            "random loss under a stream of QUIC, %",
            "QUIC のストリームの下の無作為な損失、%",
        ],
        family: &LOSSY_PATH,
        strengths: [2.0, 5.0],
        loads: &["stream HOST --transport quic"],
        make: |world, percent| {
            world.delay_ms(10.0);
            world.there(|script| script.rule(Which::Share(percent / 100.0), Fate::Drop));
        },
    },
    Case {
        name: "answers-are-lost-on-the-way-back",
        says: [
            "random loss of answers of 8 KB, %",
            "8 KB の応答の無作為な損失、%",
        ],
        family: &LOSSY_PATH,
        strengths: [2.0, 6.0],
        loads: &["rr HOST --size 64:8KiB --connections 8"],
        make: |world, percent| {
            world.delay_ms(5.0);
            world.back(|script| script.rule(Which::Share(percent / 100.0), Fate::Drop));
        },
    },
    Case {
        name: "uploads-are-lost-on-the-way",
        says: [
            "random loss of uploads of 60 KB, %",
            "60 KB のアップロードの無作為な損失、%",
        ],
        family: &LOSSY_PATH,
        strengths: [2.0, 6.0],
        loads: &["http http://HOST/ -c 8 -X POST -b @body.txt --duration 4s"],
        make: |world, percent| {
            world.within(
                Side::Asking,
                "head -c 60000 /dev/zero | tr '\\0' x > body.txt",
            );
            world.served_by("body=100");
            world.delay_ms(5.0);
            world.there(|script| script.rule(Which::Share(percent / 100.0), Fate::Drop));
        },
    },
    Case {
        name: "way-polices-messages",
        says: [
            "messages through a policer without a queue, Mb/s",
            "キューのないポリサーを通るメッセージ、Mb/s",
        ],
        family: &POLICED,
        strengths: [8.0, 25.0],
        loads: &["bus HOST --size 16KiB --inflight 4MiB"],
        make: |world, rate| {
            world.delay_ms(3.0);
            world.there(|script| script.narrow(narrow(rate, 20.0, false)));
        },
    },
    Case {
        name: "fragments-are-lost",
        says: [
            "random loss of packets under datagrams of 8 KB, %",
            "8 KB のデータグラムの下のパケットの無作為な損失、%",
        ],
        family: &FRAGMENTS,
        strengths: [1.0, 4.0],
        loads: &["datagram HOST --size 8000 --rate 200/s --allow-fragments"],
        make: |world, percent| {
            world.there(|script| script.rule(Which::Share(percent / 100.0), Fate::Drop));
        },
    },
    Case {
        name: "link-flaps",
        says: [
            "the far end's link is down five times, ms",
            "遠端のリンクが 5 回落ちる、ms",
        ],
        family: &INTERRUPTION,
        strengths: [120.0, 300.0],
        loads: &[
            "rr HOST --rate 100/s --window 64 --duration 5s",
            "stream HOST --rate 20Mb/s --duration 5s",
        ],
        make: flaps,
    },
    Case {
        name: "large-messages-vanish",
        says: [
            "packets of messages beyond so many bytes vanish without a word",
            "ある大きさを超えるメッセージのパケットが黙って消える",
        ],
        family: &LOST_LARGE,
        strengths: [1000.0, 1250.0],
        loads: &["bus HOST --size 8KiB --timeout 2s"],
        make: |world, bytes| world.there(|script| swallows(script, bytes)),
    },
    Case {
        name: "large-rows-vanish",
        says: [
            "packets of rows of 8 KB beyond so many bytes vanish",
            "ある大きさを超える 8 KB の行のパケットが消える",
        ],
        family: &LOST_ROWS,
        strengths: [1000.0, 1250.0],
        loads: &[
            "sqlmix --target postgres://bench@HOST/bench --file wide.sql -c 4 --timeout 2s --duration 5s",
        ],
        make: |world, bytes| {
            world
                .files
                .push(("wide.sql", "select repeat('x', 8000);\n"));
            world.database(Engine::Postgres, 1, NO_DISK);
            world.back(|script| swallows(script, bytes));
        },
    },
    Case {
        name: "plan-over-a-long-way",
        says: [
            "a test plan at the end of a long way, ms there",
            "長い経路の先のテスト計画、片道 ms",
        ],
        family: &DISTANCE,
        strengths: [20.0, 60.0],
        loads: &["jmx run pages.jmx -J url=http://HOST/ -J users=8"],
        make: |world, ms| {
            world.files.push(("pages.jmx", include_str!("pages.jmx")));
            world.served_by("body=500");
            world.delay_ms(ms);
        },
    },
];
