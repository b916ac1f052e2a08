//! Causes at the two ends of loads: their systems' buffers, cores, filters, and programs that stop or end.

use crate::case::Case;
use crate::family::{
    ASKER_STOPPED, BOTH_ENDS, COPIER_STOPPED, COPY_WINDOW, FIREWALL, FIREWALL_OF_SEGMENTS, GONE,
    QUOTA, RECEIVE_WINDOW, REJECTED_QUERIES, SEND_BUFFER, STARVED_NAMES, STARVED_RECEIVER,
};
use crate::world::{Event, Side, World};

use super::interruptions::stands_still;

/// The system of a side has small buffers for what it sends (`wmem`) or receives (`rmem`), KiB.
fn small_buffers(world: &mut World, side: Side, kind: &str, kib: f64) {
    let bytes = (kib * 1024.0).round();
    world.on(
        side,
        format!("sysctl -q -w net.ipv4.tcp_{kind}='4096 {bytes} {bytes}'"),
    );
}

/// A side's firewall meets a share of the packets that come in with this end of a rule.
fn filtered(world: &mut World, side: Side, protocol: &str, percent: f64, fate: &str) {
    let share = percent / 100.0;
    world.on(
        side,
        format!(
            "iptables -A INPUT -p {protocol} -m statistic --mode random --probability {share:.3} -j {fate}"
        ),
    );
}

pub const ALL: &[Case] = &[
    Case {
        name: "uploads-through-small-send-buffers",
        says: [
            "uploads of 300 KB through the asking system's small send buffers, KiB",
            "要求側システムの小さな送信バッファーを通る 300 KB のアップロード、KiB",
        ],
        family: &SEND_BUFFER,
        strengths: [16.0, 48.0],
        loads: &["http http://HOST/ -c 2 -X POST -b @body.txt"],
        make: |world, kib| {
            world.within(
                Side::Asking,
                "head -c 300000 /dev/zero | tr '\\0' x > body.txt",
            );
            world.served_by("body=100");
            small_buffers(world, Side::Asking, "wmem", kib);
            world.delay_ms(20.0);
        },
    },
    Case {
        name: "pages-through-small-receive-buffers",
        says: [
            "pages of 300 KB through the asking system's small receive buffers, KiB",
            "要求側システムの小さな受信バッファーを通る 300 KB のページ、KiB",
        ],
        family: &RECEIVE_WINDOW,
        strengths: [24.0, 64.0],
        loads: &["http http://HOST/ -c 2"],
        make: |world, kib| {
            world.served_by("body=300000");
            small_buffers(world, Side::Asking, "rmem", kib);
            world.delay_ms(20.0);
        },
    },
    Case {
        name: "messages-through-small-send-buffers",
        says: [
            "messages through a system's small send buffers on a long way, KiB",
            "長い経路でシステムの小さな送信バッファーを通るメッセージ、KiB",
        ],
        family: &SEND_BUFFER,
        strengths: [32.0, 96.0],
        loads: &["bus HOST --size 16KiB --inflight 8MiB"],
        make: |world, kib| {
            small_buffers(world, Side::Asking, "wmem", kib);
            world.delay_ms(30.0);
        },
    },
    Case {
        name: "download-through-small-send-buffers",
        says: [
            "the far end's system has small send buffers, and it sends, KiB",
            "送信する遠端のシステムの小さな送信バッファー、KiB",
        ],
        family: &SEND_BUFFER,
        strengths: [32.0, 96.0],
        loads: &["stream HOST --direction down"],
        make: |world, kib| {
            small_buffers(world, Side::Serving, "wmem", kib);
            world.delay_ms(30.0);
        },
    },
    Case {
        name: "replica-on-a-system-with-small-buffers",
        says: [
            "files to a system whose receive buffers stay small, KiB",
            "受信バッファーが小さいままのシステムへのファイル、KiB",
        ],
        family: &COPY_WINDOW,
        strengths: [64.0, 160.0],
        loads: &["replicate dataset:8x1MB HOST:null --content random --level none --connections 1"],
        make: |world, kib| {
            small_buffers(world, Side::Serving, "rmem", kib);
            world.delay_ms(20.0);
        },
    },
    Case {
        name: "both-ends-have-one-core",
        says: [
            "sender and receiver share a core, KiB per write",
            "送信側と受信側が 1 つのコアを分け合う、書き込みごとの KiB",
        ],
        family: &BOTH_ENDS,
        strengths: [8.0, 64.0],
        loads: &["stream HOST --size {}KiB"],
        make: |world, _| {
            world.within(Side::Asking, "taskset -p -c 1 $$ > /dev/null");
            world.within(Side::Serving, "taskset -p -c 1 $$ > /dev/null");
        },
    },
    Case {
        name: "datagrams-meet-a-quota",
        says: [
            "a bound on the CPU time of a receiver of datagrams, % of a core",
            "データグラムの受信側の CPU 時間の上限、コアの %",
        ],
        family: &STARVED_RECEIVER,
        strengths: [4.0, 9.0],
        loads: &["datagram HOST --rate 40k/s --rcvbuf 256KiB"],
        make: |world, percent| world.quota = Some((Side::Serving, percent / 100.0)),
    },
    Case {
        name: "names-have-a-quota",
        says: [
            "a bound on the CPU time of a name server, % of a core",
            "ネームサーバーの CPU 時間の上限、コアの %",
        ],
        family: &STARVED_NAMES,
        strengths: [5.0, 12.0],
        loads: &["dns HOST -q www.example."],
        make: |world, percent| {
            world.served_by("dns=1");
            world.quota = Some((Side::Serving, percent / 100.0));
        },
    },
    Case {
        name: "replica-from-a-host-with-a-quota",
        says: [
            "a bound on the CPU time of the program that sends files, % of a core",
            "ファイルを送るプログラムの CPU 時間の上限、コアの %",
        ],
        family: &QUOTA,
        strengths: [10.0, 25.0],
        loads: &["replicate dataset:150x1MB HOST:null --level 1"],
        make: |world, percent| world.quota = Some((Side::Asking, percent / 100.0)),
    },
    Case {
        name: "asker-of-names-stands-still",
        says: [
            "the program that asks for names is stopped, s",
            "名前を問い合わせるプログラム自身が止められる、秒",
        ],
        family: &ASKER_STOPPED,
        strengths: [0.5, 1.2],
        loads: &["dns HOST -q www.example. --rate 300/s --duration 4s"],
        make: |world, seconds| {
            world.served_by("dns=1");
            stands_still(world, seconds, Side::Asking);
        },
    },
    Case {
        name: "copier-stands-still",
        says: [
            "the program that sends files is stopped, s",
            "ファイルを送るプログラムが止められる、秒",
        ],
        family: &COPIER_STOPPED,
        strengths: [0.6, 1.5],
        loads: &["replicate dataset:2500x1MB HOST:null --content random --level none"],
        make: |world, seconds| stands_still(world, seconds, Side::Asking),
    },
    Case {
        name: "replica-is-killed",
        says: [
            "the program that takes files is killed after so many s",
            "ファイルを受け取るプログラムが終了させられる、秒後",
        ],
        family: &GONE,
        strengths: [0.6, 1.5],
        loads: &["replicate dataset:20x1MB HOST:null --content random --level none --limit 20Mb/s"],
        make: |world, after| world.at(after, Event::Kill),
    },
    Case {
        name: "receiver-of-datagrams-is-killed",
        says: [
            "the receiver of datagrams is killed after so many s",
            "データグラムの受信側が終了させられる、秒後",
        ],
        family: &GONE,
        strengths: [0.6, 1.5],
        loads: &["datagram HOST --rate 1k/s --duration 4s"],
        make: |world, after| world.at(after, Event::Kill),
    },
    Case {
        name: "own-firewall-drops-pages",
        says: [
            "the asking host's firewall drops segments of pages, %",
            "要求側のファイアウォールがページのセグメントを捨てる、%",
        ],
        family: &FIREWALL_OF_SEGMENTS,
        strengths: [2.0, 6.0],
        loads: &["http http://HOST/ -c 8 --duration 4s"],
        make: |world, percent| {
            world.served_by("body=20000");
            filtered(world, Side::Asking, "tcp", percent, "DROP");
        },
    },
    Case {
        name: "own-firewall-drops-answers",
        says: [
            "the asking host's firewall drops answers, %",
            "要求側のファイアウォールが応答を捨てる、%",
        ],
        family: &FIREWALL,
        strengths: [3.0, 10.0],
        loads: &["rr HOST --transport udp --rate 400/s --window 64 --timeout 500ms"],
        make: |world, percent| filtered(world, Side::Asking, "udp", percent, "DROP"),
    },
    Case {
        name: "firewall-refuses-queries",
        says: [
            "a firewall refuses queries in the name of their host, %",
            "ファイアウォールがホストの名で問い合わせを拒む、%",
        ],
        family: &REJECTED_QUERIES,
        strengths: [5.0, 20.0],
        loads: &["dns HOST -q www.example. --rate 300/s --timeout 500ms"],
        make: |world, percent| {
            world.served_by("dns=1");
            filtered(world, Side::Serving, "udp", percent, "REJECT");
        },
    },
];
