//! The series of a run that the live page draws, and how those of one host become one line.
//!
//! ```text
//! points of many flows ─► a line per host (sum, or the worst) ─► one value per tick ─► history
//! ```
//!
//! The record keeps every sample of every series; the live page draws only as many lines as a person can
//! follow. The same code makes tracks of a record, so that an earlier run can be drawn under a running one.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use serde::Serialize;
use sokudo_model::kinds::{KINDS, Track};
use sokudo_model::{Batch, Metric, Record, SeriesKey, Unit, metrics};

/// Lines of one track; further ones are left out, and counted.
const LINES_MAX: usize = 24;
/// Points that are kept of a line; when there are more, every second one is dropped.
const POINTS_MAX: usize = 2400;
/// Series that feed lines; further ones are left out.
const FEEDERS_MAX: usize = 8192;
/// A flow counts for so long after its last sample, nanoseconds.
const FRESH_NS: i64 = 1_600_000_000;
/// Shortest time between two values of a line, nanoseconds.
pub const TICK_NS: i64 = 200_000_000;
/// Values of a line of an earlier run.
const RECORD_TICKS: i64 = 600;

/// Rule that makes one line of the series of one host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Join {
    /// Rates and shares of one whole.
    Sum,
    /// Latencies and losses: the largest value of any flow.
    Worst,
}

/// One chart of the page.
struct Drawn {
    id: &'static str,
    unit: Unit,
    join: Join,
    source: Source,
}

/// Series that feed a chart.
enum Source {
    /// Those that the kinds of load name.
    Kinds(Track),
    /// Those of one metric whose label has one of these values.
    Only(Metric, &'static str, &'static [&'static str]),
    /// CPU time of processes, by mode, and of those that are the sessions of a database: the process that holds its
    /// port does not work itself.
    Processes,
    /// Those of each of these metrics, and what its line is called.
    Each(&'static [(Metric, &'static str)]),
    /// Those of these metrics whose label has one of these values, each a line of that name.
    Named(&'static str, &'static [(Metric, &'static [&'static str])]),
}

/// States of a core in which it works.
const BUSY: &[&str] = &["user", "nice", "system", "irq", "softirq", "steal"];

/// CPU time of processes; the sessions of a database have a line of their own.
const PROCESSES: [Metric; 2] = [metrics::process::CPU_RATIO, metrics::postgres::CPU_CORES];
const SESSIONS: &str = "sessions";

/// Those who wait in front of each stage of an application server.
const QUEUES: &[(Metric, &str)] = &[
    (metrics::target::ACCEPT_QUEUE_DEPTH, "accept"),
    (metrics::target::WORKERS_QUEUED, "workers"),
    (metrics::target::POOL_WAITING, "pool"),
];

/// What the sessions on a database do or wait for.
const WAITS: &[(Metric, &[&str])] = &[
    (metrics::postgres::SESSIONS, metrics::postgres::CLASSES),
    (metrics::mariadb::SESSIONS, metrics::mariadb::CLASSES),
];

/// The charts from top to bottom. Titles are the page's messages `web-track-<id>`.
const DRAWN: &[Drawn] = &[
    Drawn {
        id: "throughput",
        unit: Unit::BitsPerSecond,
        join: Join::Sum,
        source: Source::Kinds(Track::Throughput),
    },
    Drawn {
        id: "answers",
        unit: Unit::PerSecond,
        join: Join::Sum,
        source: Source::Kinds(Track::Answers),
    },
    Drawn {
        id: "users",
        unit: Unit::One,
        join: Join::Sum,
        source: Source::Kinds(Track::Users),
    },
    Drawn {
        id: "latency",
        unit: Unit::Seconds,
        join: Join::Worst,
        source: Source::Kinds(Track::Latency),
    },
    Drawn {
        id: "loss",
        unit: Unit::Ratio,
        join: Join::Worst,
        source: Source::Kinds(Track::Loss),
    },
    Drawn {
        id: "queues",
        unit: Unit::One,
        join: Join::Sum,
        source: Source::Each(QUEUES),
    },
    Drawn {
        id: "waits",
        unit: Unit::One,
        join: Join::Sum,
        source: Source::Named("class", WAITS),
    },
    Drawn {
        id: "cpu",
        unit: Unit::Ratio,
        join: Join::Sum,
        source: Source::Only(metrics::host::CPU_RATIO, "state", BUSY),
    },
    Drawn {
        id: "processes",
        unit: Unit::Ratio,
        join: Join::Sum,
        source: Source::Processes,
    },
];

impl Drawn {
    /// Name of a series' line behind its host; `None` for a series that the chart does not show.
    fn suffix(&self, key: &SeriesKey) -> Option<&'static str> {
        match self.source {
            Source::Kinds(track) => {
                let sources = KINDS.iter().flat_map(|kind| kind.tracks);
                let mut own = sources.filter(|source| source.track == track);
                let found = own.find(|source| source.metric.name == key.metric);
                found.map(|source| source.suffix)
            }
            Source::Only(metric, label, values) => {
                let value = key.labels.get(label).map(String::as_str);
                let wanted = value.is_some_and(|value| values.contains(&value));
                (metric.name == key.metric && wanted).then_some("")
            }
            Source::Processes => {
                let mode = key.labels.get("mode").map(String::as_str);
                let is_process = metrics::process::CPU_RATIO.name == key.metric
                    && matches!(mode, Some("user" | "system"));
                let is_sessions = metrics::postgres::CPU_CORES.name == key.metric;
                is_process.then_some("").or(is_sessions.then_some(SESSIONS))
            }
            Source::Each(metrics) => {
                let found = metrics.iter().find(|(metric, _)| metric.name == key.metric);
                found.map(|(_, suffix)| *suffix)
            }
            Source::Named(label, metrics) => {
                let value = key.labels.get(label)?;
                let found = metrics.iter().find(|(metric, _)| metric.name == key.metric);
                let mut names = found?.1.iter();
                names.find(|name| *name == value).copied()
            }
        }
    }
}

/// Chart of a series, by index, and what its line is called after the host. `None` for a series that
/// is not drawn.
fn place(key: &SeriesKey) -> Option<(usize, &'static str)> {
    if !drawn().contains(key.metric.as_str()) {
        return None;
    }
    let mut charts = DRAWN.iter().enumerate();
    let found = charts.find_map(|(at, chart)| Some((at, chart.suffix(key)?)));
    let all_cores = key.labels.get("core").is_none_or(|core| core == "all");
    found.filter(|_| all_cores)
}

/// Chart that shows a series: `answers`; `None` for a series that no chart shows.
pub fn chart(key: &SeriesKey) -> Option<&'static str> {
    place(key).map(|(chart, _)| DRAWN[chart].id)
}

/// Names of all metrics that any chart shows: most series are shown by none.
fn drawn() -> &'static HashSet<&'static str> {
    static NAMES: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
        let names = |chart: &Drawn| -> Vec<&'static str> {
            match chart.source {
                Source::Kinds(track) => {
                    let sources = KINDS.iter().flat_map(|kind| kind.tracks);
                    let own = sources.filter(|source| source.track == track);
                    own.map(|source| source.metric.name).collect()
                }
                Source::Only(metric, ..) => vec![metric.name],
                Source::Processes => PROCESSES.map(|metric| metric.name).to_vec(),
                Source::Each(metrics) => metrics.iter().map(|(metric, _)| metric.name).collect(),
                Source::Named(_, metrics) => metrics.iter().map(|(it, _)| it.name).collect(),
            }
        };
        DRAWN.iter().flat_map(names).collect()
    });
    &NAMES
}

/// Points of a batch that are drawn: the last one of each series that has a place.
pub fn pick(batch: &Batch) -> Vec<(SeriesKey, i64, f64)> {
    let drawn = batch.series.iter().filter(|s| place(&s.key).is_some());
    drawn
        .filter_map(|s| s.points.last().map(|&(t, v)| (s.key.clone(), t, v)))
        .collect()
}

/// One line as the page receives it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Line {
    /// Track that it belongs to.
    pub track: &'static str,
    /// Unit of its values, by catalogue name.
    pub unit: &'static str,
    /// Host that it describes.
    pub host: String,
    /// Name that distinguishes it from the host's other lines: `p99`; empty when there is one.
    pub name: &'static str,
    /// `t0, v0, t1, v1, …`: milliseconds since the run's start, and values.
    pub points: Vec<f64>,
}

/// Last sample of a series.
struct Feeder {
    line: usize,
    t_ns: i64,
    value: f64,
}

/// Lines of one run so far.
#[derive(Default)]
pub struct Tracks {
    lines: Vec<Line>,
    feeders: HashMap<SeriesKey, Feeder>,
    by_line: HashMap<(usize, String, &'static str), usize>,
    /// Lines that have had samples since the last tick.
    fresh: Vec<bool>,
    left_out: u64,
}

/// Point that a tick adds: index of the line, time in milliseconds, value.
pub type Point = (usize, f64, f64);

impl Tracks {
    /// Takes one sample.
    pub fn take(&mut self, key: &SeriesKey, t_ns: i64, value: f64) {
        if !value.is_finite() {
            return;
        }
        if let Some(feeder) = self.feeders.get_mut(key) {
            (feeder.t_ns, feeder.value) = (t_ns, value);
            self.fresh[feeder.line] = true;
            return;
        }
        let Some((chart, name)) = place(key) else {
            return;
        };
        // The line of one of many classes begins when there is anything in it.
        if value == 0.0 && matches!(DRAWN[chart].source, Source::Named(..)) {
            return;
        }
        if self.feeders.len() >= FEEDERS_MAX {
            self.left_out += 1;
            return;
        }
        let Some(line) = self.line(chart, name, &key.host) else {
            self.left_out += 1;
            return;
        };
        self.fresh[line] = true;
        self.feeders
            .insert(key.clone(), Feeder { line, t_ns, value });
    }

    /// The line of a host in a track; `None` when the track has no room for it.
    fn line(&mut self, chart: usize, name: &'static str, host: &str) -> Option<usize> {
        let key = (chart, host.to_owned(), name);
        if let Some(line) = self.by_line.get(&key) {
            return Some(*line);
        }
        let of_track = self.by_line.keys().filter(|(other, ..)| *other == chart);
        if of_track.count() >= LINES_MAX {
            return None;
        }
        self.lines.push(Line {
            track: DRAWN[chart].id,
            unit: DRAWN[chart].unit.name(),
            host: host.to_owned(),
            name,
            points: Vec::new(),
        });
        self.fresh.push(false);
        self.by_line.insert(key, self.lines.len() - 1);
        Some(self.lines.len() - 1)
    }

    /// Joins what has come since the last tick into one value per line, and adds it to the history.
    pub fn tick(&mut self) -> Vec<Point> {
        let mut joined: Vec<Option<(i64, f64)>> = vec![None; self.lines.len()];
        let newest = |joined: &[Option<(i64, f64)>], line: usize| joined[line].map(|(t, _)| t);
        for feeder in self.feeders.values().filter(|f| self.fresh[f.line]) {
            let t_ns = newest(&joined, feeder.line).unwrap_or(i64::MIN);
            joined[feeder.line] = Some((t_ns.max(feeder.t_ns), 0.0));
        }
        for feeder in self.feeders.values() {
            let Some((t_ns, value)) = &mut joined[feeder.line] else {
                continue;
            };
            if *t_ns - feeder.t_ns > FRESH_NS {
                continue;
            }
            *value = match join_of(self.lines[feeder.line].track) {
                Join::Sum => *value + feeder.value,
                Join::Worst => value.max(feeder.value),
            };
        }
        self.fresh.fill(false);
        let mut out = Vec::new();
        for (index, joined) in joined.into_iter().enumerate() {
            let Some((t_ns, value)) = joined else {
                continue;
            };
            let t_ms = (t_ns / 1_000_000) as f64;
            keep(&mut self.lines[index].points, t_ms, value);
            out.push((index, t_ms, value));
        }
        out
    }

    /// All lines so far.
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// Series that found no room, counted once per sample.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }
}

fn join_of(track: &str) -> Join {
    let found = DRAWN.iter().find(|t| t.id == track);
    found.map_or(Join::Sum, |track| track.join)
}

/// Adds a point; a history that is full loses every second point.
fn keep(points: &mut Vec<f64>, t_ms: f64, value: f64) {
    if points.len() >= 2 * POINTS_MAX {
        let mut pair = 0usize;
        let thinned: Vec<f64> = points
            .chunks_exact(2)
            .filter(|_| {
                pair += 1;
                pair % 2 == 1
            })
            .flatten()
            .copied()
            .collect();
        *points = thinned;
    }
    points.extend([t_ms, value]);
}

/// The tracks of a finished run.
pub fn of_record(record: &Record) -> Vec<Line> {
    let mut points: Vec<(i64, &SeriesKey, f64)> = Vec::new();
    for series in record.series.iter().filter(|s| place(&s.key).is_some()) {
        points.extend(series.points.iter().map(|&(t, v)| (t, &series.key, v)));
    }
    points.sort_by_key(|point| point.0);
    let mut tracks = Tracks::default();
    let (Some(first), Some(last)) = (points.first(), points.last()) else {
        return Vec::new();
    };
    let tick_ns = TICK_NS.max((last.0 - first.0) / RECORD_TICKS);
    let mut due_ns = first.0 + tick_ns;
    for (t_ns, key, value) in points {
        if t_ns >= due_ns {
            tracks.tick();
            due_ns = t_ns + tick_ns;
        }
        tracks.take(key, t_ns, value);
    }
    tracks.tick();
    tracks.lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(metric: &str, host: &str, labels: &[(&str, &str)]) -> SeriesKey {
        SeriesKey {
            host: host.into(),
            source: "test".into(),
            metric: metric.into(),
            labels: labels
                .iter()
                .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
                .collect(),
        }
    }

    #[test]
    fn every_source_is_a_metric_of_the_tracks_unit() {
        for chart in DRAWN {
            let metrics: Vec<Metric> = match chart.source {
                Source::Kinds(track) => {
                    let sources = KINDS.iter().flat_map(|kind| kind.tracks);
                    let own = sources.filter(|source| source.track == track);
                    own.map(|source| source.metric).collect()
                }
                Source::Only(metric, ..) => vec![metric],
                // Cores of sessions are counted: 1 is one core, as a share of 1 is.
                Source::Processes => PROCESSES[..1].to_vec(),
                Source::Each(metrics) => metrics.iter().map(|(metric, _)| *metric).collect(),
                Source::Named(_, metrics) => metrics.iter().map(|(metric, _)| *metric).collect(),
            };
            assert!(!metrics.is_empty(), "{}", chart.id);
            for metric in metrics {
                assert_eq!(metric.unit, chart.unit, "{metric}");
            }
        }
    }

    #[test]
    fn flows_of_a_host_add_up_and_the_worst_latency_stands() {
        let mut tracks = Tracks::default();
        for (flow, rate, p99) in [("1", 100.0, 0.001), ("2", 50.0, 0.004)] {
            let labels = [("flow", flow)];
            tracks.take(
                &key("rr.transactions_per_second", "hosta", &labels),
                1_000_000,
                rate,
            );
            tracks.take(
                &key("rr.latency_p99_seconds", "hosta", &labels),
                1_000_000,
                p99,
            );
        }
        let mut points = tracks.tick();
        points.sort_by_key(|point| point.0);
        assert_eq!(points, [(0, 1.0, 150.0), (1, 1.0, 0.004)]);
        assert!(tracks.tick().is_empty(), "nothing new, nothing told");
    }

    #[test]
    fn a_flow_that_has_ended_counts_no_more() {
        let mut tracks = Tracks::default();
        let one = key("rr.transactions_per_second", "hosta", &[("flow", "1")]);
        let two = key("rr.transactions_per_second", "hosta", &[("flow", "2")]);
        tracks.take(&one, 0, 100.0);
        tracks.take(&two, 0, 10.0);
        assert_eq!(tracks.tick()[0].2, 110.0);
        tracks.take(&two, 2 * FRESH_NS, 10.0);
        assert_eq!(tracks.tick()[0].2, 10.0);
    }

    #[test]
    fn the_queues_of_a_target_are_lines_of_one_chart() {
        let mut tracks = Tracks::default();
        let queues = [
            ("accept_queue.depth", 3.0),
            ("workers.queued", 9.0),
            ("pool.waiting", 0.0),
        ];
        for (name, depth) in queues {
            tracks.take(&key(&format!("target.{name}"), "hosta", &[]), 5, depth);
        }
        tracks.take(&key("target.pool.used", "hosta", &[]), 5, 10.0);
        tracks.tick();
        let expected = [
            ("queues", "accept", 3.0),
            ("queues", "workers", 9.0),
            ("queues", "pool", 0.0),
        ];
        assert_eq!(newest(&tracks), expected);
    }

    /// Track, name and newest value of each line after one tick.
    fn newest(tracks: &Tracks) -> Vec<(&'static str, &'static str, f64)> {
        let lines = tracks.lines().iter();
        lines
            .map(|line| (line.track, line.name, line.points[1]))
            .collect()
    }

    #[test]
    fn sessions_of_each_class_of_waits_are_a_line() {
        let mut tracks = Tracks::default();
        for (metric, class, sessions) in [
            ("postgres.sessions", "Lock", 3.0),
            ("postgres.sessions", "CPU", 1.5),
            ("postgres.sessions", "IO", 0.0),
            ("postgres.sessions", "Unheard", 9.0),
            ("mariadb.sessions", "Commit", 2.0),
        ] {
            tracks.take(&key(metric, "hosta", &[("class", class)]), 5, sessions);
        }
        tracks.tick();
        let expected = [
            ("waits", "Lock", 3.0),
            ("waits", "CPU", 1.5),
            ("waits", "Commit", 2.0),
        ];
        assert_eq!(newest(&tracks), expected);
    }

    #[test]
    fn sessions_of_a_database_are_a_line_beside_the_process_of_its_port() {
        let mut tracks = Tracks::default();
        for mode in ["user", "system", "idle"] {
            let labels = [("by", "port=5432"), ("mode", mode)];
            tracks.take(&key("process.cpu_ratio", "hosta", &labels), 5, 0.01);
        }
        tracks.take(&key("postgres.cpu_cores", "hosta", &[]), 5, 1.5);
        tracks.tick();
        let expected = [("processes", "", 0.02), ("processes", "sessions", 1.5)];
        assert_eq!(newest(&tracks), expected);
    }

    #[test]
    fn a_core_counts_once() {
        let mut tracks = Tracks::default();
        for (core, state, share) in [
            ("all", "user", 0.25),
            ("all", "system", 0.5),
            ("all", "idle", 0.25),
            ("0", "user", 1.0),
        ] {
            let labels = [("core", core), ("state", state)];
            tracks.take(&key("host.cpu_ratio", "hosta", &labels), 5, share);
        }
        assert_eq!(tracks.tick(), [(0, 0.0, 0.75)]);
    }

    #[test]
    fn everything_is_bounded() {
        let mut tracks = Tracks::default();
        for host in 0..100 {
            let key = key(
                "stream.goodput_bits_per_second",
                &format!("host{host}"),
                &[],
            );
            for t in 0..3 * POINTS_MAX as i64 {
                if host > 0 && t > 0 {
                    break;
                }
                tracks.take(&key, t * TICK_NS, f64::from(host));
                tracks.tick();
            }
        }
        assert_eq!(tracks.lines().len(), LINES_MAX);
        assert!(
            tracks
                .lines()
                .iter()
                .all(|line| line.points.len() <= 2 * POINTS_MAX)
        );
        assert!(tracks.left_out() > 0);
        tracks.take(
            &key("stream.goodput_bits_per_second", "host0", &[]),
            0,
            f64::NAN,
        );
        assert!(tracks.tick().is_empty());
    }
}
