//! Exports the distributions of a record as an HdrHistogram interval log.

use std::io;
use std::time::Duration;

use sokudo_model::{HistogramInterval, Record, SeriesKey, Unit, metric};
use sokudo_stats::Histogram;
use sokudo_stats::interval_log::{LogInterval, write_log};

/// All distributions of times as an HdrHistogram interval log (format 1.3), by start.
///
/// Tags say what each line is about: `rr.latency_seconds;host=hosta;flow=0`. Distributions of other
/// things than times, and those that cannot be read, are left out.
pub fn log(record: &Record, out: &mut impl io::Write) -> io::Result<()> {
    let timed =
        |interval: &&HistogramInterval| metric::unit_of(&interval.key.metric) == Unit::Seconds;
    let mut intervals: Vec<&HistogramInterval> = record.histograms.iter().filter(timed).collect();
    intervals.sort_by_key(|interval| interval.t0_ns);
    let lines = intervals.into_iter().filter_map(|interval| {
        let since = |from: i64, to: i64| {
            let ns = to.saturating_sub(from).max(0);
            Duration::from_nanos(ns.unsigned_abs())
        };
        Some(LogInterval {
            tag: tag(&interval.key),
            start: since(0, interval.t0_ns),
            length: since(interval.t0_ns, interval.t1_ns),
            histogram: Histogram::from_v2(&interval.hdr_v2).ok()?,
        })
    });
    let manifest = &record.manifest;
    let since_epoch = Duration::from_nanos(manifest.started_unix_ns.max(0).unsigned_abs());
    let comment = format!(
        "sokudo {}, run {}; values in nanoseconds",
        manifest.version, manifest.id.0
    );
    write_log(since_epoch, &comment, lines, out)
}

fn tag(key: &SeriesKey) -> String {
    let mut tag = format!("{};host={}", key.metric, key.host);
    for (name, value) in &key.labels {
        tag.push_str(&format!(";{name}={value}"));
    }
    tag
}
