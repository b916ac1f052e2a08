//! Limits that programs choose themselves.

use crate::case::Case;
use crate::family::{AS_ASKED, PROGRAM};

pub const ALL: &[Case] = &[
    Case {
        name: "reader-takes-its-time",
        says: [
            "a receiver that reads slowly, Mb/s",
            "ゆっくり読む受信側、Mb/s",
        ],
        family: &PROGRAM,
        strengths: [8.0, 30.0],
        loads: &["stream HOST --read-rate {}Mb/s"],
        make: |_, _| (),
    },
    Case {
        name: "consumer-takes-its-time",
        says: [
            "a consumer of messages that is slow, per second",
            "遅いメッセージの消費者、毎秒",
        ],
        family: &PROGRAM,
        strengths: [200.0, 800.0],
        loads: &["bus HOST --rx queue --consume-rate {}/s"],
        make: |_, _| (),
    },
    Case {
        name: "kernel-paces",
        says: [
            "a connection that is told to be slow, Mb/s",
            "遅くするよう指示された接続、Mb/s",
        ],
        family: &AS_ASKED,
        strengths: [8.0, 30.0],
        loads: &["stream HOST --pacing {}Mb/s"],
        make: |_, _| (),
    },
];
