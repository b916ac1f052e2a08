//! Causes that may hold a replication of files back.

use sokudo_testkit::relay::{Fate, Which};

use crate::case::Case;
use crate::family::{
    AS_ASKED, COMPRESSOR, COPY_WINDOW, CREATING, LOSSY_PATH, NARROW_PATH, QUOTA, SYNCING,
};
use crate::world::{Side, narrow};

pub const ALL: &[Case] = &[
    Case {
        name: "replica-over-a-narrow-way",
        says: [
            "files over a link with a queue of 60 ms, Mb/s",
            "60 ms のキューを持つリンクを渡るファイル、Mb/s",
        ],
        family: &NARROW_PATH,
        strengths: [20.0, 60.0],
        loads: &["replicate dataset:{0.4}x1MB HOST:null --content random --level none"],
        make: |world, rate| {
            world.delay_ms(2.0);
            world.there(|script| script.narrow(narrow(rate, 60.0, true)));
        },
    },
    Case {
        name: "replica-with-small-buffers",
        says: [
            "files through buffers that the round trip of 40 ms fills, KiB",
            "40 ms の往復で埋まるバッファーを通るファイル、KiB",
        ],
        family: &COPY_WINDOW,
        strengths: [64.0, 160.0],
        loads: &[
            "replicate dataset:8x1MB HOST:null --content random --level none --connections 1 --buffer {}KiB",
        ],
        make: |world, _| world.delay_ms(20.0),
    },
    Case {
        name: "replica-over-a-lossy-way",
        says: [
            "files over a way that loses segments, tenths of a percent",
            "セグメントを失う経路を渡るファイル、0.1 % 単位",
        ],
        family: &LOSSY_PATH,
        strengths: [5.0, 20.0],
        loads: &["replicate dataset:12x1MB HOST:null --content random --level none --cc cubic"],
        make: |world, tenths| {
            world.delay_ms(10.0);
            world.there(|script| script.rule(Which::Share(tenths / 1e3), Fate::Drop));
        },
    },
    Case {
        name: "replica-compresses",
        says: [
            "a high level of compression, of zstd",
            "高い圧縮レベル (zstd)",
        ],
        family: &COMPRESSOR,
        strengths: [13.0, 18.0],
        loads: &["replicate dataset:40x1MB HOST:null --level {}"],
        make: |_, _| (),
    },
    Case {
        name: "replica-creates-files",
        says: [
            "many small files into a real folder, bytes",
            "実際のフォルダーへの多数の小さなファイル、バイト",
        ],
        family: &CREATING,
        strengths: [100.0, 2_000.0],
        loads: &["replicate dataset:8000x{}B HOST:FOLDER --durability none"],
        make: |_, _| (),
    },
    Case {
        name: "replica-syncs-files",
        says: [
            "each file is on the device before the next one, KB",
            "ファイルを 1 つずつデバイスに書き終える、KB",
        ],
        family: &SYNCING,
        strengths: [4.0, 60.0],
        loads: &["replicate dataset:600x{}KB HOST:FOLDER --durability file"],
        make: |_, _| (),
    },
    Case {
        name: "replica-with-a-limit",
        says: [
            "files at a rate that was asked for, Mb/s",
            "指定したレートでのファイル、Mb/s",
        ],
        family: &AS_ASKED,
        strengths: [20.0, 60.0],
        loads: &[
            "replicate dataset:{0.4}x1MB HOST:null --content random --level none --limit {}Mb/s",
        ],
        make: |_, _| (),
    },
    Case {
        name: "replica-to-a-host-with-a-quota",
        says: [
            "a bound on the receiver's CPU time, % of a core",
            "受信側の CPU 時間の上限、コアの %",
        ],
        family: &QUOTA,
        strengths: [4.0, 9.0],
        loads: &["replicate dataset:600x1MB HOST:null --level 1"],
        make: |world, percent| world.quota = Some((Side::Serving, percent / 100.0)),
    },
];
