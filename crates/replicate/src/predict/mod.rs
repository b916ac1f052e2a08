//! Predicts how long a replication takes, from what was measured beforehand.
//!
//! ```text
//! tree: files, bytes, ratio and cost of each level ┐
//! way: rate, window of a connection, round trip    ├─► a time per stage ─► the longest one, and a part of the others
//! ends: free cores, CPU per byte and per file      │
//! target: time per file, write rate, time to sync  ┘
//! ```
//!
//! All stages work at the same time, so that the slowest one sets the pace: the time is that of the longest
//! stage, [`OVERLAP`] of the others, and a start that does not depend on the amount. Each measured value
//! has a relative doubt; the range of a prediction is the time with all of them at their kind and at
//! their unkind end. Pure: nothing here measures.

mod grid;
mod look;
mod terms;

pub use grid::{Settings, choose, grid};
pub(crate) use look::CLASSES;
pub use look::{Sample, SizeClass};
pub use terms::{Stage, Terms};

use crate::codec::LADDER;

/// Share of the time of the stages that do not set the pace which is not hidden behind the one that does.
pub const OVERLAP: f64 = 0.05;
/// Least relative doubt of a prediction: what the model itself leaves out.
const OWN_DOUBT: f64 = 0.04;
/// Share of a receive buffer that becomes window: Linux keeps the rest for its own bookkeeping.
const WINDOW_OF_BUFFER: f64 = 0.54;
/// Payload of a segment, for the rounds of slow start.
const SEGMENT_BYTES: f64 = 1448.0;
/// Segments that a connection begins with (RFC 6928).
const FIRST_WINDOW: f64 = 10.0;
/// CPU time that a frame costs at each end whatever it holds.
const FRAME_S: f64 = 2.0e-6;
/// Bytes of a large frame.
const FRAME_BYTES: f64 = (1 << 20) as f64;

/// Compression of one level on the content that can be compressed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LevelCost {
    /// Bytes before over bytes after, in frames of 1 MiB.
    pub ratio: f64,
    /// CPU time of the compressor per byte before it.
    pub pack_s: f64,
    /// CPU time of its inverse per byte that comes out.
    pub unpack_s: f64,
}

impl LevelCost {
    /// No compression.
    pub const NONE: Self = Self {
        ratio: 1.0,
        pack_s: 0.0,
        unpack_s: 0.0,
    };
}

/// Files to replicate.
#[derive(Debug, Clone, PartialEq)]
pub struct Tree {
    /// Files whose content travels.
    pub files: f64,
    /// Their bytes.
    pub bytes: f64,
    /// Entries that are listed and compared, whether their content travels or not.
    pub entries: f64,
    /// Share of the bytes that looks compressed and is sent as it is.
    pub dense_ratio: f64,
    /// By level of [`LADDER`].
    pub levels: [LevelCost; 4],
    /// Ratio in frames of 64 KiB and of 8 KiB over that in frames of 1 MiB, above which nothing is 1.
    pub short_frames: [f64; 2],
}

/// The way between the ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Way {
    /// Most that all connections together carry, bytes of content of TCP per second.
    pub bytes_per_s: f64,
    /// Most that one connection carries because of its window or of losses; `None` when it carries all.
    pub connection_bytes_per_s: Option<f64>,
    /// Round trip.
    pub rtt_s: f64,
}

/// CPU of one end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct End {
    /// Cores that its threads may run on.
    pub all_cores: f64,
    /// Cores that as many threads as those got, one on each.
    pub cores: f64,
    /// CPU time per byte of content: reading, hashing, encrypting, the connection.
    pub byte_s: f64,
    /// CPU time per file.
    pub file_s: f64,
}

/// The file systems.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Disks {
    /// Bytes per second that the source gives.
    pub read_bytes_per_s: f64,
    /// Bytes per second that the target takes.
    pub write_bytes_per_s: f64,
    /// Time to look at one entry of the source.
    pub walk_s: f64,
    /// Time to create, write and rename a file at the target, one thread.
    pub create_s: f64,
    /// Time to make one file and its directory durable.
    pub fsync_s: f64,
    /// Time to make everything durable that was written since.
    pub sync_s: f64,
}

/// Uncertainty of measured values, relative.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Doubts {
    /// Of the rates of the way.
    pub way: f64,
    /// Of the ratios.
    pub ratio: f64,
    /// Of CPU times, and of the cores that are free.
    pub cpu: f64,
    /// Of the file systems.
    pub disk: f64,
}

/// All that a prediction is made of.
#[derive(Debug, Clone, PartialEq)]
pub struct Inputs {
    /// Files to replicate.
    pub tree: Tree,
    /// The way.
    pub way: Way,
    /// The sending end.
    pub sender: End,
    /// The receiving end.
    pub receiver: End,
    /// True when both ends share one machine's cores.
    pub shared: bool,
    /// The file systems.
    pub disks: Disks,
    /// Bytes on the wire per listed entry: its name and properties.
    pub entry_wire_bytes: f64,
    /// Time that a replication takes whatever it does.
    pub start_s: f64,
    /// Uncertainty of all this.
    pub doubts: Doubts,
}

/// Time at which content is on the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Chosen by the system.
    None,
    /// Many files at a time.
    Batch,
    /// Each file.
    File,
}

/// Settings of a replication.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Setting {
    /// Place on [`LADDER`]; 0 means without compression. `None`: chosen while data flows.
    pub level: Option<usize>,
    /// Connections for content.
    pub connections: u32,
    /// Bytes of small files in one frame; 0: each in a frame of its own.
    pub batch_bytes: u64,
    /// Time at which content is on the device.
    pub durability: Durability,
    /// Socket buffers; `None`: the system's own tuning.
    pub buffer_bytes: Option<u64>,
    /// Round trips that each file waits for: 0 here, 1 and more for programs that ask per file.
    pub turns_per_file: f64,
}

impl Setting {
    /// The level as it is written: `auto`, `none`, `1`, ….
    pub fn level_name(&self) -> String {
        match self.level {
            None => "auto".into(),
            Some(0) => "none".into(),
            Some(place) => LADDER[place.min(LADDER.len() - 1)].to_string(),
        }
    }
}

/// A prediction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prediction {
    /// Time that it takes.
    pub seconds: f64,
    /// The same with every measured value at its kind end.
    pub low_s: f64,
    /// The same at its unkind end.
    pub high_s: f64,
    /// The stage that sets the pace.
    pub stage: Stage,
    /// Bytes on the connections.
    pub wire_bytes: f64,
    /// CPU time of both ends.
    pub cpu_s: f64,
}

impl Prediction {
    /// Content per second.
    pub fn bytes_per_s(&self, tree: &Tree) -> f64 {
        tree.bytes / self.seconds.max(1e-9)
    }
}

/// Time and range of a replication with a setting.
pub fn predict(inputs: &Inputs, setting: &Setting) -> Prediction {
    let Some(level) = setting.level else {
        return adaptive(inputs, setting);
    };
    let (seconds, terms) = total(inputs, setting, level);
    let (kind_s, _) = total(&inputs.shifted(-1.0), setting, level);
    let (unkind_s, _) = total(&inputs.shifted(1.0), setting, level);
    Prediction {
        seconds,
        low_s: kind_s.min(seconds * (1.0 - OWN_DOUBT)),
        high_s: unkind_s.max(seconds * (1.0 + OWN_DOUBT)),
        stage: terms.longest().0,
        wire_bytes: terms::wire_bytes(inputs, setting, level),
        cpu_s: terms.cpu_s,
    }
}

/// A level that is chosen while data flows ends at the best one.
fn adaptive(inputs: &Inputs, setting: &Setting) -> Prediction {
    let with = |level| {
        let setting = Setting {
            level: Some(level),
            ..*setting
        };
        predict(inputs, &setting)
    };
    (1..LADDER.len())
        .map(with)
        .fold(with(0), |best, next| match next.seconds < best.seconds {
            true => next,
            false => best,
        })
}

fn total(inputs: &Inputs, setting: &Setting, level: usize) -> (f64, Terms) {
    let terms = Terms::of(inputs, setting, level);
    let (_, longest_s) = terms.longest();
    let others_s = terms.sum() - longest_s;
    let seconds = terms::start_s(inputs, setting) + longest_s + OVERLAP * others_s;
    (seconds, terms)
}

impl Inputs {
    /// All values at one end of their doubt: −1 the kind one, 1 the unkind one.
    pub fn shifted(&self, by: f64) -> Self {
        let mut to = self.clone();
        let Doubts {
            way,
            ratio,
            cpu,
            disk,
        } = self.doubts;
        // What costs time rises where what saves it falls.
        let more = |value: &mut f64, doubt: f64| *value *= (1.0 + by * doubt).max(0.05);
        let less = |value: &mut f64, doubt: f64| *value /= (1.0 + by * doubt).max(0.05);
        less(&mut to.way.bytes_per_s, way);
        if let Some(rate) = &mut to.way.connection_bytes_per_s {
            less(rate, way);
        }
        for level in &mut to.tree.levels[1..] {
            less(&mut level.ratio, ratio);
            level.ratio = level.ratio.max(1.0);
        }
        for end in [&mut to.sender, &mut to.receiver] {
            less(&mut end.cores, cpu);
            more(&mut end.file_s, cpu / 2.0);
        }
        less(&mut to.disks.read_bytes_per_s, disk);
        less(&mut to.disks.write_bytes_per_s, disk);
        for time in [
            &mut to.disks.create_s,
            &mut to.disks.fsync_s,
            &mut to.disks.sync_s,
            &mut to.disks.walk_s,
        ] {
            more(time, disk);
        }
        to
    }
}

#[cfg(test)]
mod tests;
