//! The time that each stage of a replication takes by itself.

use super::{
    Durability, End, FIRST_WINDOW, FRAME_BYTES, FRAME_S, Inputs, SEGMENT_BYTES, Setting, Tree,
    WINDOW_OF_BUFFER,
};
use crate::session::{TOGETHER_BYTES, TOGETHER_FILES};

/// Threads that a file system serves at the same time with gain.
const DISK_QUEUE: f64 = 4.0;

/// A stage that can set the pace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// The line carries no more.
    Link,
    /// The windows of the connections, or losses, allow no more.
    Window,
    /// Each file waits for a round trip.
    Turns,
    /// CPU of the sending end: reading, compressing, sending.
    Sender,
    /// CPU of the receiving end: unpacking, verifying, creating files.
    Receiver,
    /// CPU of both ends, which share one machine.
    Cpu,
    /// The source's file system gives no more.
    Read,
    /// The target's file system takes no more.
    Write,
    /// Looking at the entries of the source.
    Walk,
}

impl Stage {
    /// As it is named in a record.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Link => "link",
            Stage::Window => "window",
            Stage::Turns => "turns",
            Stage::Sender => "sender",
            Stage::Receiver => "receiver",
            Stage::Cpu => "cpu",
            Stage::Read => "read",
            Stage::Write => "write",
            Stage::Walk => "walk",
        }
    }
}

/// Seconds of each stage.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Terms {
    stages: [(Stage, f64); 8],
    /// CPU time of both ends.
    pub(super) cpu_s: f64,
}

impl Terms {
    /// The stages of a replication with a level of the ladder.
    pub fn of(inputs: &Inputs, setting: &Setting, level: usize) -> Self {
        let Tree {
            files,
            bytes,
            entries,
            dense_ratio,
            ref levels,
            ..
        } = inputs.tree;
        let (way, disks) = (inputs.way, inputs.disks);
        let connections = f64::from(setting.connections.max(1));
        let wire = wire_bytes(inputs, setting, level);
        let cost = levels[level.min(levels.len() - 1)];
        let packed = bytes * (1.0 - dense_ratio);
        let frames_s = frames(&inputs.tree, setting) * FRAME_S;
        let sender_s = bytes * inputs.sender.byte_s
            + packed * cost.pack_s
            + files * inputs.sender.file_s
            + frames_s;
        let receiver_s = bytes * inputs.receiver.byte_s
            + packed * cost.unpack_s
            + files * inputs.receiver.file_s
            + frames_s;
        let cpu = match inputs.shared {
            true => {
                let cores = CoreShare::of_both(&inputs.sender, &inputs.receiver);
                // Both ends work at once: connections of one machine keep twice as many threads busy.
                let both = (sender_s + receiver_s) / cores.of_threads(2.0 * connections);
                let alone = sender_s.max(receiver_s) / cores.of_threads(connections);
                [(Stage::Cpu, both.max(alone)), (Stage::Receiver, 0.0)]
            }
            false => {
                let time = |cpu_s: f64, end| cpu_s / CoreShare::of(end).of_threads(connections);
                [
                    (Stage::Sender, time(sender_s, &inputs.sender)),
                    (Stage::Receiver, time(receiver_s, &inputs.receiver)),
                ]
            }
        };
        let per_connection = connection_bytes_per_s(inputs, setting);
        let window_s = per_connection.map_or(0.0, |rate| wire / (connections * rate.max(1.0)));
        let queue = connections.min(DISK_QUEUE);
        let synced_s = match setting.durability {
            Durability::None => 0.0,
            Durability::Batch => {
                let times =
                    (bytes / TOGETHER_BYTES as f64).max(files / TOGETHER_FILES as f64) + 1.0;
                times * disks.sync_s
            }
            Durability::File => files * disks.fsync_s / queue,
        };
        let write_s =
            bytes / disks.write_bytes_per_s.max(1.0) + files * disks.create_s / queue + synced_s;
        Self {
            stages: [
                (Stage::Link, wire / way.bytes_per_s.max(1.0)),
                (Stage::Window, window_s),
                (
                    Stage::Turns,
                    files * setting.turns_per_file * way.rtt_s / connections,
                ),
                cpu[0],
                cpu[1],
                (Stage::Read, bytes / disks.read_bytes_per_s.max(1.0)),
                (Stage::Write, write_s),
                (Stage::Walk, entries * disks.walk_s),
            ],
            cpu_s: sender_s + receiver_s,
        }
    }

    /// The stage that takes longest, and its time.
    pub fn longest(&self) -> (Stage, f64) {
        let first = self.stages[0];
        let later = self.stages[1..].iter();
        later.fold(first, |longest, stage| match stage.1 > longest.1 {
            true => *stage,
            false => longest,
        })
    }

    /// Time of all stages, one after the other.
    pub fn sum(&self) -> f64 {
        self.stages.iter().map(|(_, seconds)| seconds).sum()
    }
}

/// Cores of a machine, and the threads of other programs that want them all the time.
struct CoreShare {
    all: f64,
    others: f64,
}

impl CoreShare {
    /// Of a machine for an end alone.
    fn of(end: &End) -> Self {
        Self::seen(end.all_cores, end.all_cores, end.cores)
    }

    /// Of the machine of both ends. They looked at the same time, with a thread on each core.
    fn of_both(sender: &End, receiver: &End) -> Self {
        let (sent, received) = (sender.all_cores, receiver.all_cores);
        let free = sender.cores + receiver.cores;
        Self::seen(sent.max(received), sent + received, free)
    }

    /// By the part of the cores that so many busy threads got. The system gives each busy thread the same.
    fn seen(all: f64, threads: f64, free: f64) -> Self {
        let others = threads * (all / free.max(1e-3) - 1.0).max(0.0);
        Self { all, others }
    }

    /// Cores that so many busy threads get.
    fn of_threads(&self, threads: f64) -> f64 {
        let part = self.all * threads / (threads + self.others);
        part.min(threads).max(1e-3)
    }
}

/// Frames that carry the content.
fn frames(tree: &Tree, setting: &Setting) -> f64 {
    let large = tree.bytes / FRAME_BYTES;
    match setting.batch_bytes {
        0 => tree.files.max(large),
        batch => (tree.bytes / (batch as f64).min(FRAME_BYTES)).min(tree.files.max(large)),
    }
}

/// Bytes on the connections.
pub(super) fn wire_bytes(inputs: &Inputs, setting: &Setting, level: usize) -> f64 {
    let tree = &inputs.tree;
    let names = tree.entries * inputs.entry_wire_bytes;
    let cost = tree.levels[level.min(tree.levels.len() - 1)];
    let ratio = match level {
        0 => 1.0,
        _ => (cost.ratio * short(tree, setting)).max(1.0),
    };
    let dense = tree.dense_ratio.clamp(0.0, 1.0);
    names + tree.bytes * (dense + (1.0 - dense) / ratio)
}

/// Ratio with the frames of a setting over that with frames of 1 MiB: straight lines over the logarithm
/// of their size.
fn short(tree: &Tree, setting: &Setting) -> f64 {
    let mean = tree.bytes / frames(tree, setting).max(1.0);
    let [at_64k, at_8k] = tree.short_frames;
    let part = |from: f64, to: f64| ((mean / from).ln() / (to / from).ln()).clamp(0.0, 1.0);
    match mean >= 65_536.0 {
        true => at_64k + (1.0 - at_64k) * part(65_536.0, FRAME_BYTES),
        false => at_8k + (at_64k - at_8k) * part(8_192.0, 65_536.0),
    }
}

/// Most that one connection carries; `None` when nothing but the line bounds it.
fn connection_bytes_per_s(inputs: &Inputs, setting: &Setting) -> Option<f64> {
    let rtt_s = inputs.way.rtt_s;
    let window = setting.buffer_bytes.filter(|_| rtt_s > 0.0);
    let by_buffer = window.map(|bytes| WINDOW_OF_BUFFER * bytes as f64 / rtt_s);
    match (inputs.way.connection_bytes_per_s, by_buffer) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

/// Time before the pace is reached: the handshake, and slow start up to the product of rate and delay.
pub(super) fn start_s(inputs: &Inputs, setting: &Setting) -> f64 {
    let way = inputs.way;
    let each = way.bytes_per_s * way.rtt_s / f64::from(setting.connections.max(1));
    let rounds = (each / (FIRST_WINDOW * SEGMENT_BYTES)).max(1.0).log2();
    inputs.start_s + way.rtt_s * (2.0 + rounds)
}
