//! CPU time: of the programs themselves, of neighbours, of a bound.

use crate::case::Case;
use crate::family::{EITHER_CPU, GENERATOR, NEIGHBOUR, QUOTA, SENDER_CPU};
use crate::world::Side;

/// A line of a shell that keeps a program on the core where hogs are.
const BESIDE_HOGS: &str = "taskset -p -c 0 $$ > /dev/null";

pub const ALL: &[Case] = &[
    Case {
        name: "neighbours-of-the-sender",
        says: [
            "other programs on the sender's core, threads",
            "送信側のコアの他のプログラム、スレッド数",
        ],
        family: &NEIGHBOUR,
        strengths: [2.0, 4.0],
        loads: &["stream HOST --size 4KiB"],
        make: |world, threads| {
            world.within(Side::Asking, BESIDE_HOGS);
            world.hogs.push((0, threads.round() as usize));
        },
    },
    Case {
        name: "neighbours-of-the-receiver",
        says: [
            "other programs on the receiver's core, threads",
            "受信側のコアの他のプログラム、スレッド数",
        ],
        family: &NEIGHBOUR,
        strengths: [2.0, 4.0],
        loads: &["stream HOST --size 4KiB"],
        make: |world, threads| {
            world.within(Side::Serving, BESIDE_HOGS);
            world.hogs.push((0, threads.round() as usize));
        },
    },
    Case {
        name: "neighbours-of-the-asker",
        says: [
            "other programs on the core of an asking program, threads",
            "要求するプログラムのコアの他のプログラム、スレッド数",
        ],
        family: &NEIGHBOUR,
        strengths: [2.0, 4.0],
        loads: &["rr HOST", "rr HOST --rate 2k/s"],
        make: |world, threads| {
            world.within(Side::Asking, BESIDE_HOGS);
            world.hogs.push((0, threads.round() as usize));
        },
    },
    Case {
        name: "quota-of-the-sender",
        says: [
            "a bound on the sender's CPU time, % of a core",
            "送信側の CPU 時間の上限、コアの %",
        ],
        family: &QUOTA,
        strengths: [15.0, 35.0],
        loads: &["stream HOST", "bus HOST"],
        make: |world, percent| world.quota = Some((Side::Asking, percent / 100.0)),
    },
    Case {
        name: "quota-of-the-far-end",
        says: [
            "a bound on the far end's CPU time, % of a core",
            "遠端の CPU 時間の上限、コアの %",
        ],
        family: &QUOTA,
        strengths: [15.0, 35.0],
        loads: &["stream HOST", "rr HOST --connections 8"],
        make: |world, percent| world.quota = Some((Side::Serving, percent / 100.0)),
    },
    Case {
        name: "quota-of-a-web-server",
        says: [
            "a bound on a web server's CPU time, % of a core",
            "Web サーバーの CPU 時間の上限、コアの %",
        ],
        family: &QUOTA,
        strengths: [15.0, 35.0],
        loads: &["http http://HOST/ -c 8"],
        make: |world, percent| {
            world.quota = Some((Side::Serving, percent / 100.0));
            world.served_by("cpu_us=500");
        },
    },
    Case {
        name: "sender-computes",
        says: [
            "a system call for so few bytes",
            "わずかなバイトごとのシステムコール",
        ],
        family: &SENDER_CPU,
        strengths: [32.0, 96.0],
        loads: &["stream HOST --size {}"],
        make: |_, _| (),
    },
    Case {
        name: "encryption-computes",
        says: [
            "a stream over TLS, KiB per write",
            "TLS のストリーム、書き込みごとの KiB",
        ],
        family: &EITHER_CPU,
        strengths: [16.0, 128.0],
        loads: &["stream HOST --transport tls --size {}KiB"],
        make: |_, _| (),
    },
    Case {
        name: "generator-is-bounded",
        says: [
            "a bound on the CPU time of an HTTP load, % of a core",
            "HTTP 負荷の CPU 時間の上限、コアの %",
        ],
        family: &GENERATOR,
        strengths: [10.0, 25.0],
        // No generator carries this within a quarter of a core.
        loads: &["http http://HOST/ -c 32 --rate 200000/s"],
        make: |world, percent| {
            world.quota = Some((Side::Asking, percent / 100.0));
            world.served_by("body=100");
        },
    },
];
