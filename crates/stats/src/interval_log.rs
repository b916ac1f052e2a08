//! Writes distributions as an interval log for the tools of HdrHistogram.
//!
//! The interval log of HdrHistogram, format 1.3: a line per interval with its tag, start, length,
//! largest value and the histogram in the compressed V2 encoding, base64. Values are nanoseconds;
//! the column of the largest value is in milliseconds, as the Java tools write it.
//!
//! Source: `HistogramLogWriter` of HdrHistogram (Java), and the `hdrhistogram` crate's
//! `serialization::interval_log`, which writes it here.

use std::io;
use std::time::{Duration, UNIX_EPOCH};

use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};

use crate::histogram::Histogram;

/// Nanoseconds in a millisecond: what the largest value is divided by.
const MAX_VALUE_DIVISOR: f64 = 1e6;

/// One line of a log.
#[derive(Debug, Clone)]
pub struct LogInterval {
    /// Metric and source of the values; characters that the format cannot hold are replaced by `_`.
    pub tag: String,
    /// Start, since the log's start.
    pub start: Duration,
    /// Length.
    pub length: Duration,
    /// Nanoseconds.
    pub histogram: Histogram,
}

/// Writes a log that began `since_epoch` after 1970. Empty intervals are left out.
///
/// The intervals should come in the order of their starts. Errors: those of `out`.
pub fn write_log(
    since_epoch: Duration,
    comment: &str,
    intervals: impl IntoIterator<Item = LogInterval>,
    out: &mut impl io::Write,
) -> io::Result<()> {
    let start = UNIX_EPOCH + since_epoch;
    let mut serializer = V2DeflateSerializer::new();
    let mut log = IntervalLogWriterBuilder::new()
        .add_comment("[Histogram log format version 1.3]")
        .add_comment(comment)
        .with_start_time(start)
        .with_base_time(start)
        .with_max_value_divisor(MAX_VALUE_DIVISOR)
        .begin_log_with(out, &mut serializer)?;
    for interval in intervals {
        let tag = tag(&interval.tag);
        let LogInterval { start, length, .. } = interval;
        if let Some(histogram) = interval.histogram.to_hdr() {
            log.write_histogram(&histogram, start, length, Tag::new(&tag))
                .map_err(|error| io::Error::other(error.to_string()))?;
        }
    }
    Ok(())
}

/// A tag ends at a comma, and lines end at line ends.
fn tag(text: &str) -> String {
    let allowed = |c: char| !(c == ',' || c.is_whitespace() || c.is_control());
    text.chars()
        .map(|c| if allowed(c) { c } else { '_' })
        .collect()
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use hdrhistogram::serialization::Deserializer;
    use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
    use proptest::prelude::*;

    use super::*;

    fn interval(tag: &str, start_ms: u64, values: &[u64]) -> LogInterval {
        let mut histogram = Histogram::new();
        values.iter().for_each(|value| histogram.record(*value));
        LogInterval {
            tag: tag.into(),
            start: Duration::from_millis(start_ms),
            length: Duration::from_millis(250),
            histogram,
        }
    }

    fn written(intervals: Vec<LogInterval>) -> String {
        let mut out = Vec::new();
        let began = Duration::from_millis(1_700_000_000_250);
        write_log(began, "a comment", intervals, &mut out).expect("a vector takes every byte");
        String::from_utf8(out).expect("the format is text")
    }

    /// Largest value and count of each bucket that is not empty.
    type Counts = Vec<(u64, u64)>;

    /// Tag, start and counts of each line, as HdrHistogram's own reader sees them.
    fn read(log: &str) -> Vec<(String, Duration, Counts)> {
        let entries = IntervalLogIterator::new(log.as_bytes());
        let lines = entries.filter_map(|entry| match entry.expect("our own log") {
            LogEntry::Interval(line) => Some(line),
            LogEntry::StartTime(_) | LogEntry::BaseTime(_) => None,
        });
        let decoded = lines.map(|line| {
            let bytes = STANDARD.decode(line.encoded_histogram()).expect("base64");
            let histogram: hdrhistogram::Histogram<u64> = Deserializer::new()
                .deserialize(&mut bytes.as_slice())
                .expect("compressed V2");
            let counts = histogram.iter_recorded();
            let counts = counts.map(|step| (step.value_iterated_to(), step.count_at_value()));
            let tag = line.tag().map_or("", |tag| tag.as_str()).to_owned();
            (tag, line.start_timestamp(), counts.collect())
        });
        decoded.collect()
    }

    fn counts(histogram: &Histogram) -> Counts {
        histogram.buckets().map(|b| (b.high, b.count)).collect()
    }

    #[test]
    fn the_lines_are_those_of_the_format() {
        let log = written(vec![
            interval("rr.latency_seconds;flow=0", 0, &[1_000_000, 2_000_000]),
            interval("empty", 250, &[]),
            interval("a, b\nc", 500, &[7]),
        ]);
        let golden = include_str!("../testdata/interval_log.hlog");
        assert_eq!(read(&log), read(golden), "an old log must stay readable");
        // The size of the compressed bytes depends on the compressor, and is not checked.
        let columns = |log: &str| -> Vec<String> {
            let line = |line: &str| match line.starts_with('#') {
                true => line.to_owned(),
                false => line.rsplit_once(',').expect("columns").0.to_owned(),
            };
            log.lines().map(line).collect()
        };
        assert_eq!(columns(&log), columns(golden));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(values in prop::collection::vec(0u64..4_000_000_000_000, 1..50), start_ms in 0u64..1_000_000, tag in "\\PC{0,20}") {
            let one = interval(&format!("x{tag}"), start_ms, &values);
            let log = written(vec![one.clone()]);
            let lines = read(&log);
            prop_assert_eq!(lines.len(), 1);
            prop_assert_eq!(lines[0].1, one.start);
            prop_assert_eq!(&lines[0].2, &counts(&one.histogram));
        }
    }
}
