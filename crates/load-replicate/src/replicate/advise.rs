//! Measurements of `sokudo advise` and of a prediction, and the choice that follows from them.
//!
//! ```text
//! look at the source ─┐
//! probes, each a short replication of files that are made:
//!   start   256 KiB to nowhere              how long does a replication take that moves nothing?
//!   way     one connection, to nowhere      rate, round trip, CPU per byte, free cores
//!   ways    four connections, to nowhere    is one of them bounded by its window?
//!   files   small ones, to the target       time and CPU per file
//!   large   one, to the target              rate of its file system
//!   synced  a few, made durable             time to sync
//! ```
//!
//! Pure but for the look at the source: phases are run by the caller.

use sokudo_model::advice::{Basis, Candidate, Predicted, Rule};
use sokudo_model::kinds::replicate as numbers;
use sokudo_model::{Metric, Refusal, Summary};
use sokudo_replicate::codec::LADDER;
use sokudo_replicate::predict::{
    Disks, Doubts, Durability, End, Inputs, Prediction, Setting, Tree, Way, predict,
};
use sokudo_workload::choice::Choice;
use sokudo_workload::values::ByteSize;

use super::options::{Durable, Holds, LevelChoice, ReplicateOptions};
use super::trial::{EndCores, Trial};

pub use sokudo_replicate::predict::{Sample, Settings, choose, grid};

/// Bytes of the first probe.
const START_BYTES: u64 = 256 << 10;
/// Time that a probe of the way is to take.
const PROBE_S: f64 = 1.0;
/// Share of that from which on it says something.
const SHORTEST: f64 = 0.6;
/// Least and most bytes of a probe.
const PROBE_BYTES: (f64, f64) = (1e6, 1e9);
/// Files of the probe of small files, and bytes of each.
const SMALL_FILES: u64 = 2_000;
const SMALL_BYTES: u64 = 10_000;
/// Files that are made durable.
const SYNCED_FILES: u64 = 100;
/// So much more than one connection four must carry for one to be bounded by its window.
const BOUNDED: f64 = 1.25;
/// Share of a core from which a thread is what limits a probe.
const BUSY: f64 = 0.75;
/// Calls that make everything durable in a short replication: before renaming, and at its end.
const SYNCS: f64 = 2.0;
/// Time to create a file on a disk that was not written to, and how far that may be off.
const GUESSED_CREATE_S: f64 = 60e-6;
const GUESSED_SYNC_S: f64 = 0.03;
const GUESSED_FSYNC_S: f64 = 4e-3;
const GUESSED_WRITE: f64 = 4e8;
const GUESS_DOUBT: f64 = 1.0;

/// Probes in the order in which they are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Probe {
    /// Next to nothing.
    Start,
    /// One connection.
    Way,
    /// Four connections.
    Ways,
    /// Small files.
    Files,
    /// A large file.
    Large,
    /// A few files that are made durable.
    Synced,
}

/// Metrics of the CPU time of an end.
#[derive(Clone, Copy)]
struct EndMetrics {
    free: Metric,
    all: Metric,
    used: Metric,
}

const SENDER: EndMetrics = EndMetrics {
    free: numbers::SENDER_CORES,
    all: numbers::SENDER_ALL_CORES,
    used: numbers::SENDER_CPU_SECONDS,
};
const RECEIVER: EndMetrics = EndMetrics {
    free: numbers::RECEIVER_CORES,
    all: numbers::RECEIVER_ALL_CORES,
    used: numbers::RECEIVER_CPU_SECONDS,
};

/// Results of the probes.
#[derive(Debug, Clone, Default)]
pub struct Found {
    results: Vec<(Probe, Summary)>,
}

impl Probe {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Start,
        Self::Way,
        Self::Ways,
        Self::Files,
        Self::Large,
        Self::Synced,
    ];

    /// Name of its phase.
    pub fn name(self) -> &'static str {
        match self {
            Probe::Start => "probe-start",
            Probe::Way => "probe-way",
            Probe::Ways => "probe-ways",
            Probe::Files => "probe-files",
            Probe::Large => "probe-large",
            Probe::Synced => "probe-synced",
        }
    }

    /// Its connections for content.
    fn connections(self) -> u32 {
        match self {
            Probe::Ways => 4,
            _ => 1,
        }
    }

    /// Its options, from what was found so far; `None` when it tells nothing of this replication. With
    /// `writes` false the target is left alone.
    pub fn options(
        self,
        base: &ReplicateOptions,
        found: &Found,
        writes: bool,
    ) -> Option<ReplicateOptions> {
        let writes = writes && base.target_path().is_some();
        let sized = |seconds: f64| {
            let bytes = found.rate().unwrap_or(1e6) * seconds;
            bytes.clamp(PROBE_BYTES.0, PROBE_BYTES.1) as u64
        };
        let target = match self {
            Probe::Files | Probe::Large | Probe::Synced if writes => base.target.clone(),
            _ => "null".to_owned(),
        };
        let (files, bytes) = match self {
            Probe::Start => (1, START_BYTES),
            Probe::Way | Probe::Ways => (1, sized(found.probe_s())),
            Probe::Files => (self::files_within(found), SMALL_BYTES),
            Probe::Large => (1, sized(PROBE_S / 2.0)),
            Probe::Synced => (SYNCED_FILES, SMALL_BYTES),
        };
        let durability = match self {
            Probe::Synced => base.durability,
            _ => Durable::None,
        };
        match self {
            Probe::Large if !writes => return None,
            Probe::Synced if !writes || base.durability == Durable::None => return None,
            _ => {}
        }
        Some(ReplicateOptions {
            source: format!("dataset:{files}x{bytes}B"),
            target,
            connections: self.connections(),
            level: LevelChoice::Fixed(0),
            content: Holds(sokudo_replicate::dataset::Content::Random),
            durability,
            transport: base.transport,
            buffer: base.buffer,
            cc: base.cc.clone(),
            limit: base.limit.clone(),
            trial: Some(Trial::WHOLE),
            ..ReplicateOptions::default()
        })
    }
}

/// Small files that take about [`PROBE_S`] on this way.
fn files_within(found: &Found) -> u64 {
    let files = found.rate().unwrap_or(1e6) * PROBE_S / SMALL_BYTES as f64;
    (files as u64).clamp(50, SMALL_FILES)
}

impl Found {
    /// Takes the totals of a probe; of one that is made again the last ones count.
    pub fn add(&mut self, probe: Probe, totals: &Summary) {
        self.results.retain(|(of, _)| *of != probe);
        self.results.push((probe, totals.clone()));
    }

    /// True when a probe of the way was over before the rate could show: what went before was no measure
    /// for its size.
    pub fn is_too_short(&self, probe: Probe) -> bool {
        let elapsed_s = self.of(probe, numbers::ELAPSED_SECONDS);
        probe == Probe::Way && elapsed_s.is_some_and(|s| s < self.probe_s() * SHORTEST)
    }

    /// Time of a probe of the way: on a long one slow start alone takes a dozen round trips.
    fn probe_s(&self) -> f64 {
        PROBE_S.max(30.0 * self.round_trip_s())
    }

    fn of(&self, probe: Probe, metric: Metric) -> Option<f64> {
        let found = self.results.iter().find(|(of, _)| *of == probe);
        found.and_then(|(_, totals)| metric.of(totals))
    }

    /// Bytes per second on the way, by what was probed so far.
    fn rate(&self) -> Option<f64> {
        let of = |probe| self.way_rate(probe);
        let last = of(Probe::Ways).into_iter().chain(of(Probe::Way));
        let best = last.fold(0.0, f64::max);
        (best > 0.0).then_some(best).or_else(|| of(Probe::Start))
    }

    fn round_trip_s(&self) -> f64 {
        let of = |probe| self.of(probe, numbers::ROUND_TRIP_SECONDS);
        let all = [Probe::Start, Probe::Way, Probe::Ways].into_iter();
        let shortest = all.filter_map(of).fold(f64::INFINITY, f64::min);
        if shortest.is_finite() { shortest } else { 0.0 }
    }

    /// Rate of a probe without the time until it was reached.
    fn way_rate(&self, probe: Probe) -> Option<f64> {
        let wire = self.of(probe, numbers::WIRE_BYTES)?;
        let elapsed_s = self.of(probe, numbers::ELAPSED_SECONDS)?;
        let rtt_s = self.round_trip_s();
        let mut rate = wire / elapsed_s.max(1e-6);
        // The ramp is as long as the rate that it leads to is high.
        for _ in 0..3 {
            let rounds = (rate * rtt_s / 14_480.0).max(1.0).log2() + 2.0;
            let ramp_s = (rtt_s * rounds).min(elapsed_s * 0.6);
            rate = wire / (elapsed_s - ramp_s).max(1e-6);
        }
        Some(rate)
    }

    /// Cores of an end, and the relative doubt of those that are free: the middle of what the probes found, and how
    /// far apart they are.
    fn cores(&self, of: EndMetrics, shared: bool) -> (EndCores, f64) {
        let found = |metric| {
            let all = Probe::ALL.into_iter();
            all.filter_map(move |probe| self.of(probe, metric))
        };
        let mut free: Vec<f64> = found(of.free).collect();
        free.sort_by(f64::total_cmp);
        let (Some(least), Some(most)) = (free.first(), free.last()) else {
            return (
                EndCores {
                    all: 1.0,
                    free: 1.0,
                },
                0.5,
            );
        };
        let middle = free[free.len() / 2];
        let all = found(of.all).fold(middle, f64::max);
        // Threads that wait in between get more of a busy machine than threads that spin.
        let free = middle.max(self.free_by_use(of.used, all, shared)).max(0.05);
        (EndCores { all, free }, (most - least) / free / 2.0)
    }

    /// Cores that are free at least for a thread on each of all, by what the threads of probes used. Each busy thread
    /// of a machine gets the same; on one that both ends share the other end's are busy, too.
    fn free_by_use(&self, used: Metric, all: f64, shared: bool) -> f64 {
        let ends = if shared { 2.0 } else { 1.0 };
        let of = |probe: Probe| {
            let elapsed_s = self.of(probe, numbers::ELAPSED_SECONDS)?;
            let used = (self.of(probe, used)? / elapsed_s.max(1e-3)).max(1e-3);
            let threads = f64::from(probe.connections());
            let others = (threads * (all / used - ends)).max(0.0);
            Some(all * all / (ends * all + others))
        };
        Probe::ALL.into_iter().filter_map(of).fold(0.0, f64::max)
    }

    /// Seconds per byte that the CPU of an end takes.
    fn byte_s(&self, cpu: Metric) -> f64 {
        let used_s = self.of(Probe::Way, cpu).unwrap_or(0.0);
        let bytes = self.of(Probe::Way, numbers::RECEIVED_BYTES).unwrap_or(0.0);
        if bytes > 0.0 { used_s / bytes } else { 0.0 }
    }

    fn file_s(&self, cpu: Metric) -> f64 {
        let files = self.of(Probe::Files, numbers::FILES_WRITTEN).unwrap_or(0.0);
        let bytes = self
            .of(Probe::Files, numbers::RECEIVED_BYTES)
            .unwrap_or(0.0);
        let used_s = self.of(Probe::Files, cpu).unwrap_or(0.0);
        match files > 0.0 {
            true => (used_s - bytes * self.byte_s(cpu)).max(0.0) / files,
            false => 0.0,
        }
    }

    /// Time of the receiving threads in a kind of work.
    fn receiver_s(&self, probe: Probe, share: Metric) -> Option<f64> {
        // Probes of files have one connection, so that the share is that of one thread.
        Some(self.of(probe, share)? * self.of(probe, numbers::ELAPSED_SECONDS)?)
    }

    fn disks(&self, sample: &Sample, writes: bool) -> Disks {
        let files = self.of(Probe::Files, numbers::FILES_WRITTEN).unwrap_or(0.0);
        let each_s = self.receiver_s(Probe::Files, numbers::RECEIVER_FILE_RATIO);
        let each_s = each_s.filter(|_| files > 0.0).map(|s| s / files);
        let (create_s, guessed) = match writes {
            true => (each_s.unwrap_or(GUESSED_CREATE_S), false),
            false => (GUESSED_CREATE_S, true),
        };
        let large = self.of(Probe::Large, numbers::RECEIVED_BYTES);
        let large_s = self.receiver_s(Probe::Large, numbers::RECEIVER_FILE_RATIO);
        let written = large.zip(large_s.filter(|s| *s > 0.0));
        let sync_s = self.receiver_s(Probe::Synced, numbers::RECEIVER_SYNC_RATIO);
        let synced = self.of(Probe::Synced, numbers::FILES_WRITTEN);
        let per_file = sync_s.zip(synced.filter(|files| *files > 0.0));
        Disks {
            read_bytes_per_s: sample.read_bytes_per_s.min(1e11),
            write_bytes_per_s: match (written, guessed) {
                (Some((bytes, seconds)), _) => bytes / seconds,
                (None, true) => GUESSED_WRITE,
                (None, false) => 1e11,
            },
            walk_s: sample.walk_s,
            create_s,
            fsync_s: per_file.map_or(GUESSED_FSYNC_S, |(s, files)| s / files),
            sync_s: sync_s.map_or(GUESSED_SYNC_S, |s| s / SYNCS),
        }
    }

    /// All that a prediction of this source is made of. `writes`: the target was written to.
    pub fn inputs(
        &self,
        sample: &Sample,
        base: &ReplicateOptions,
        shared: bool,
        writes: bool,
    ) -> Inputs {
        let has_target = base.target_path().is_some();
        let one = self.way_rate(Probe::Way).unwrap_or(1e6);
        let four = self.way_rate(Probe::Ways).unwrap_or(one);
        let busy = |metric| self.of(Probe::Way, metric).unwrap_or(0.0) >= BUSY;
        let is_idle = !busy(numbers::SENDER_CPU_RATIO) && !busy(numbers::RECEIVER_CPU_RATIO);
        let is_bounded = four > one * BOUNDED && is_idle && self.round_trip_s() > 1e-3;
        // A probe that others disturbed shows less than the way carries, never more.
        let others = [Probe::Files, Probe::Large].into_iter();
        let others = others.filter_map(|probe| self.way_rate(probe));
        let rate = others.fold(one.max(four), f64::max);
        let apart = match is_bounded {
            true => 0.1,
            false => (one - four).abs() / rate / 2.0,
        };
        let (sender_cores, sender_doubt) = self.cores(SENDER, shared);
        let (receiver_cores, receiver_doubt) = self.cores(RECEIVER, shared);
        let wire = self.of(Probe::Files, numbers::WIRE_BYTES).unwrap_or(0.0);
        let content = self
            .of(Probe::Files, numbers::RECEIVED_BYTES)
            .unwrap_or(0.0);
        let files = self.of(Probe::Files, numbers::FILES_WRITTEN).unwrap_or(1.0);
        let mut disks = self.disks(sample, writes);
        if !has_target {
            disks = Disks {
                write_bytes_per_s: 1e12,
                create_s: 0.0,
                fsync_s: 0.0,
                sync_s: 0.0,
                ..disks
            };
        }
        let rtt_s = self.round_trip_s();
        let start_s = self.of(Probe::Start, numbers::ELAPSED_SECONDS);
        let start_s = start_s.map_or(0.02, |s| s - START_BYTES as f64 / rate - 4.0 * rtt_s);
        Inputs {
            tree: sample.tree.clone(),
            way: Way {
                bytes_per_s: rate,
                connection_bytes_per_s: is_bounded.then_some(one),
                rtt_s,
            },
            sender: End {
                all_cores: sender_cores.all,
                cores: sender_cores.free,
                byte_s: self.byte_s(numbers::SENDER_CPU_SECONDS),
                file_s: self.file_s(numbers::SENDER_CPU_SECONDS) + sample.file_s,
            },
            receiver: End {
                all_cores: receiver_cores.all,
                cores: receiver_cores.free,
                byte_s: self.byte_s(numbers::RECEIVER_CPU_SECONDS),
                file_s: self.file_s(numbers::RECEIVER_CPU_SECONDS),
            },
            shared,
            disks,
            entry_wire_bytes: ((wire - content) / files.max(1.0)).clamp(0.0, 4096.0),
            start_s: start_s.clamp(0.0, 0.3),
            doubts: Doubts {
                way: apart.clamp(0.02, 0.3),
                ratio: 0.04,
                cpu: sender_doubt.max(receiver_doubt).clamp(0.1, 0.6),
                disk: match has_target && !writes {
                    true => GUESS_DOUBT,
                    false => 0.25,
                },
            },
        }
    }
}

/// The durability of these options, as the model has it.
pub fn durability(options: &ReplicateOptions) -> Durability {
    match options.durability {
        Durable::None => Durability::None,
        Durable::Batch => Durability::Batch,
        Durable::File => Durability::File,
    }
}

/// The settings of these options, as the model has them.
pub fn setting(options: &ReplicateOptions) -> Setting {
    let level = match options.level {
        LevelChoice::Auto => None,
        // The ladder ends where more is hardly ever gained.
        LevelChoice::Fixed(level) => Some((level.max(0) as usize).min(LADDER.len() - 1)),
    };
    Setting {
        level,
        connections: options.connections,
        batch_bytes: options.batch.0,
        durability: durability(options),
        buffer_bytes: options.buffer.map(|buffer| buffer.0),
        turns_per_file: 0.0,
    }
}

/// The options with these settings.
pub fn with(options: &ReplicateOptions, setting: &Setting) -> ReplicateOptions {
    ReplicateOptions {
        level: match setting.level {
            None => LevelChoice::Auto,
            Some(place) => LevelChoice::Fixed(LADDER[place.min(LADDER.len() - 1)]),
        },
        connections: setting.connections,
        batch: ByteSize(setting.batch_bytes),
        ..options.clone()
    }
}

/// A prediction as a record has it.
pub fn predicted(tree: &Tree, found: &Prediction) -> Predicted {
    Predicted {
        seconds: found.seconds,
        low_s: found.low_s,
        high_s: found.high_s,
        stage: found.stage.name().into(),
        wire_bytes: found.wire_bytes,
        cpu_s: found.cpu_s,
        bytes_per_s: found.bytes_per_s(tree),
    }
}

/// Settings and their prediction as a record has them.
pub fn candidate(inputs: &Inputs, setting: &Setting, options: &ReplicateOptions) -> Candidate {
    Candidate {
        level: setting.level_name(),
        connections: setting.connections,
        batch_bytes: setting.batch_bytes,
        durability: options.durability.name().into(),
        predicted: predicted(&inputs.tree, &predict(inputs, setting)),
        trials: Vec::new(),
        is_default: *setting == self::setting(&usual(options)),
    }
}

/// The options with the settings that a command without them has.
pub fn usual(options: &ReplicateOptions) -> ReplicateOptions {
    let plain = ReplicateOptions::default();
    ReplicateOptions {
        level: plain.level,
        connections: plain.connections,
        batch: plain.batch,
        ..options.clone()
    }
}

/// Measurements, as a record has them.
pub fn basis(inputs: &Inputs, disk_is_guess: bool) -> Basis {
    let levels = inputs.tree.levels[1..].iter();
    Basis {
        files: inputs.tree.files,
        bytes: inputs.tree.bytes,
        dense_ratio: inputs.tree.dense_ratio,
        levels: levels
            .map(|level| (level.ratio, 1.0 / level.pack_s.max(1e-12)))
            .collect(),
        way_bytes_per_s: inputs.way.bytes_per_s,
        connection_bytes_per_s: inputs.way.connection_bytes_per_s,
        rtt_s: inputs.way.rtt_s,
        sender_cores: inputs.sender.cores,
        receiver_cores: inputs.receiver.cores,
        create_s: inputs.disks.create_s,
        disk_is_guess,
    }
}

/// Rates between which a rule about slow or fast ways has nothing to say, bytes per second.
const SLOW: f64 = 25e6;
const FAST: f64 = 60e6;
/// Mean sizes of files from which on, and up to which, a rule about them has something to say.
const LARGE: f64 = 1e6;
const SMALL: f64 = 150e3;
/// A rule holds when it gains so much over its opposite, and not when it loses so much.
const GAINS: f64 = 1.03;

/// The four rules of thumb of the days when processors compressed 50 MB/s and each file waited for an answer.
pub fn rules(inputs: &Inputs, settings: &Settings) -> Vec<Rule> {
    let best = |fits: &dyn Fn(&Setting) -> bool| {
        let fitting = settings.iter().filter(|(setting, _)| fits(setting));
        fitting
            .map(|(_, it)| it.seconds)
            .fold(f64::INFINITY, f64::min)
    };
    let (rate, mean) = (
        inputs.way.bytes_per_s,
        inputs.tree.bytes / inputs.tree.files.max(1.0),
    );
    let plain = best(&|it| it.level == Some(0));
    let packed = best(&|it| it.level > Some(0));
    let few = best(&|it| it.connections <= 2);
    let many = best(&|it| it.connections >= 8);
    // A rule that loses nothing does not hold for that: it must gain something, or its opposite must lose.
    let rule = |name: &str, applies: bool, seconds: (f64, f64), at_par: bool| Rule {
        name: name.into(),
        holds: applies.then(|| match seconds.0 / seconds.1 {
            ratio if ratio * GAINS < 1.0 => true,
            ratio if ratio > GAINS => false,
            _ => at_par,
        }),
        seconds,
    };
    vec![
        rule("fast-plain", rate >= FAST, (plain, packed), true),
        rule("slow-packed", rate <= SLOW, (packed, plain), false),
        rule("large-few", mean >= LARGE, (few, many), true),
        rule("small-many", mean <= SMALL, (many, few), false),
    ]
}

/// Looks at the source of these options.
#[cfg(unix)]
pub fn look(options: &ReplicateOptions, seed: u64) -> Result<Sample, Refusal> {
    use sokudo_model::Text;
    use sokudo_workload::refusal::operator;
    let source = super::phase::source(options, seed)?;
    let session = sokudo_replicate::session::Session::new();
    sokudo_replicate::sample::sample(&source, &session).map_err(|error| {
        operator(
            Text::new("error-replicate-source")
                .with("path", &options.source)
                .with("error", error),
            Text::new("error-replicate-root-hint"),
        )
    })
}

/// Refuses: this system cannot read trees.
#[cfg(not(unix))]
pub fn look(_: &ReplicateOptions, _: u64) -> Result<Sample, Refusal> {
    use sokudo_model::Text;
    use sokudo_workload::refusal::operator;
    Err(operator(
        Text::new("error-replicate-system"),
        Text::new("error-replicate-system-hint"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn probe(rows: &[(Metric, f64)]) -> Summary {
        rows.iter()
            .map(|(metric, value)| ((*metric).into(), *value))
            .collect()
    }

    fn way(bytes: f64, elapsed_s: f64, rtt_s: f64) -> Summary {
        probe(&[
            (numbers::WIRE_BYTES, bytes),
            (numbers::RECEIVED_BYTES, bytes),
            (numbers::ELAPSED_SECONDS, elapsed_s),
            (numbers::ROUND_TRIP_SECONDS, rtt_s),
            (numbers::SENDER_CPU_SECONDS, 0.05),
            (numbers::RECEIVER_CPU_SECONDS, 0.05),
            (numbers::SENDER_CORES, 1.5),
            (numbers::RECEIVER_CORES, 2.0),
            (numbers::SENDER_ALL_CORES, 4.0),
        ])
    }

    fn sample() -> Sample {
        use sokudo_replicate::dataset::{Class, Content, DataSet};
        let class = Class {
            files: 100,
            bytes: 20_000,
        };
        let set = DataSet::new(vec![class], Content::Text, 1);
        let source = sokudo_replicate::source::Source::Set(set);
        let session = sokudo_replicate::session::Session::new();
        sokudo_replicate::sample::sample(&source, &session).expect("a data set is there")
    }

    #[test]
    fn slow_start_is_no_part_of_the_rate() {
        let mut found = Found::default();
        // 12 MB at 12 MB/s after nine round trips of 100 ms.
        found.add(Probe::Way, &way(12e6, 1.85, 0.1));
        let rate = found.way_rate(Probe::Way).unwrap();
        assert!((11e6..13.5e6).contains(&rate), "{rate}");
    }

    #[test]
    fn a_probe_that_was_too_short_is_made_again_with_more() {
        let mut found = Found::default();
        let options = ReplicateOptions {
            target: "null".into(),
            ..ReplicateOptions::default()
        };
        found.add(Probe::Start, &way(262_144.0, 0.2, 0.0));
        let first = Probe::Way.options(&options, &found, true).unwrap();
        found.add(Probe::Way, &way(1.3e6, 0.02, 0.0));
        assert!(found.is_too_short(Probe::Way));
        let second = Probe::Way.options(&options, &found, true).unwrap();
        assert_eq!(first.source, "dataset:1x1310720B");
        assert_eq!(second.source, "dataset:1x65000000B");
        found.add(Probe::Way, &way(65e6, 0.9, 0.0));
        assert!(!found.is_too_short(Probe::Way));
    }

    #[test]
    fn a_window_is_seen_where_four_connections_carry_more() {
        let options = ReplicateOptions {
            target: "null".into(),
            ..ReplicateOptions::default()
        };
        let sample = sample();
        let inputs = |four_s: f64| {
            let mut found = Found::default();
            found.add(Probe::Way, &way(4e6, 2.0, 0.05));
            found.add(Probe::Ways, &way(4e6, four_s, 0.05));
            found.inputs(&sample, &options, false, true)
        };
        assert!(inputs(0.8).way.connection_bytes_per_s.is_some());
        assert_eq!(inputs(1.95).way.connection_bytes_per_s, None);
        let sender = inputs(1.95).sender;
        assert_eq!((sender.cores, sender.all_cores), (1.5, 4.0));
        // An end that did not say has those that it found.
        assert_eq!(inputs(1.95).receiver.all_cores, 2.0);
    }

    #[test]
    fn cores_are_those_that_were_free_or_that_threads_have_used() {
        let rows = |used_s: f64| {
            let mut totals = way(1e9, 1.0, 0.0);
            totals.extend(probe(&[
                (numbers::SENDER_CORES, 0.5),
                (numbers::SENDER_CPU_SECONDS, used_s),
            ]));
            totals
        };
        let free = |probe, used_s, shared| {
            let mut found = Found::default();
            found.add(probe, &rows(used_s));
            found.cores(SENDER, shared).0.free
        };
        // One thread of an end with four cores was busy half of the time, so that four get more than half a core.
        assert_eq!(free(Probe::Way, 0.5, false), 4.0 * 4.0 / (4.0 + 7.0));
        // Four threads that got as little say no more than the look.
        assert!((free(Probe::Ways, 0.5, false) - 0.5).abs() < 0.1);
        assert!(free(Probe::Way, 0.5, true) < free(Probe::Way, 0.5, false));
    }

    #[test]
    fn nothing_is_written_to_the_target_where_that_is_not_wanted() {
        let base = ReplicateOptions {
            target: "/srv/mirror".into(),
            ..ReplicateOptions::default()
        };
        for probe in Probe::ALL {
            let options = probe.options(&base, &Found::default(), false);
            assert!(options.is_none_or(|it| it.target == "null"), "{probe:?}");
        }
        let writing = Probe::Files.options(&base, &Found::default(), true);
        let writing = writing.expect("it writes");
        assert_eq!(writing.target, base.target);
        assert!(writing.trial.is_some());
    }
}
