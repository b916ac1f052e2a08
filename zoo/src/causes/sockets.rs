//! Buffers and windows that are too small, and what small segments wait for.

use crate::case::Case;
use crate::family::{NAGLE, RECEIVE_BUFFER, RECEIVE_WINDOW, SEND_BUFFER, WINDOW};
use crate::world::Side;

pub const ALL: &[Case] = &[
    Case {
        name: "small-receive-buffer",
        says: [
            "a small receive buffer on a long way, KiB",
            "長い経路での小さな受信バッファー、KiB",
        ],
        family: &RECEIVE_WINDOW,
        strengths: [32.0, 96.0],
        loads: &["stream HOST --rcvbuf {}KiB"],
        make: |world, _| world.delay_ms(20.0),
    },
    Case {
        name: "small-receive-default",
        says: [
            "a system whose receive buffers stay small, KiB",
            "受信バッファーが小さいままのシステム、KiB",
        ],
        family: &RECEIVE_WINDOW,
        strengths: [32.0, 96.0],
        loads: &["stream HOST", "bus HOST --inflight 8MiB"],
        make: |world, kib| {
            let bytes = (kib * 1024.0).round();
            world.on(
                Side::Serving,
                format!("sysctl -q -w net.ipv4.tcp_rmem='4096 {bytes} {bytes}'"),
            );
            world.delay_ms(20.0);
        },
    },
    Case {
        name: "clamped-window",
        says: [
            "a receive window that is clamped, KiB",
            "制限された受信ウィンドウ、KiB",
        ],
        family: &RECEIVE_WINDOW,
        strengths: [32.0, 80.0],
        loads: &["stream HOST --window-clamp {}KiB"],
        make: |world, _| world.delay_ms(20.0),
    },
    Case {
        name: "small-send-buffer",
        says: [
            "a small send buffer on a long way, KiB",
            "長い経路での小さな送信バッファー、KiB",
        ],
        family: &SEND_BUFFER,
        strengths: [32.0, 96.0],
        loads: &["stream HOST --sndbuf {}KiB"],
        make: |world, _| world.delay_ms(20.0),
    },
    Case {
        name: "small-send-default",
        says: [
            "a system whose send buffers stay small, KiB",
            "送信バッファーが小さいままのシステム、KiB",
        ],
        family: &SEND_BUFFER,
        strengths: [32.0, 96.0],
        loads: &["stream HOST"],
        make: |world, kib| {
            let bytes = (kib * 1024.0).round();
            world.on(
                Side::Asking,
                format!("sysctl -q -w net.ipv4.tcp_wmem='4096 {bytes} {bytes}'"),
            );
            world.delay_ms(30.0);
        },
    },
    Case {
        name: "bus-window",
        says: [
            "few messages under way on a long way",
            "長い経路で同時に送れるメッセージが少ない",
        ],
        family: &WINDOW,
        strengths: [8.0, 24.0],
        loads: &["bus HOST --inflight {}"],
        make: |world, _| world.delay_ms(20.0),
    },
    Case {
        name: "request-window",
        says: [
            "requests come faster than answers on a long way, ms",
            "長い経路で応答より速く来るリクエスト、ms",
        ],
        family: &WINDOW,
        strengths: [15.0, 30.0],
        loads: &["rr HOST --rate 200/s", "rr HOST --rate 400/s --window 2"],
        make: |world, ms| world.delay_ms(ms),
    },
    Case {
        name: "datagrams-overflow-a-small-buffer",
        says: [
            "a small receive buffer under a burst, KiB",
            "バースト時の小さな受信バッファー、KiB",
        ],
        family: &RECEIVE_BUFFER,
        strengths: [8.0, 24.0],
        loads: &["datagram HOST --rcvbuf {}KiB"],
        make: |_, _| (),
    },
    Case {
        name: "requests-overflow-a-small-buffer",
        says: [
            "requests over UDP to a small receive buffer, KiB",
            "小さな受信バッファーへの UDP リクエスト、KiB",
        ],
        family: &RECEIVE_BUFFER,
        strengths: [3.0, 6.0],
        loads: &["rr HOST --transport udp --window 128 --size 1200:64 --timeout 1s"],
        make: |world, kib| {
            let bytes = (kib * 1024.0).round();
            world.on(
                Side::Serving,
                format!("sysctl -q -w net.core.rmem_default={bytes} net.core.rmem_max={bytes}"),
            );
        },
    },
    Case {
        name: "nagle-holds-back",
        says: [
            "small requests wait for held-back acknowledgements",
            "小さなリクエストが遅延確認応答を待つ",
        ],
        family: &NAGLE,
        strengths: [2.0, 4.0],
        loads: &[
            "rr HOST --nagle --window {}",
            "rr HOST --nagle --window {} --size 200:64",
        ],
        // Without a way, each answer is back before the next request is written.
        make: |world, _| world.delay_ms(2.0),
    },
];
