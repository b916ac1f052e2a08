//! Progress of replications, from their reports. Pure.

use std::collections::BTreeMap;

use sokudo_model::kinds::replicate as numbers;
use sokudo_model::{Batch, Metric};

/// Time over which a rate is smoothed, nanoseconds.
const SMOOTHED_NS: f64 = 10e9;
/// Least time until a rate says how long the rest will take, nanoseconds.
const FIRST_NS: i64 = 1_000_000_000;

/// A rate that is smoothed over time.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Smooth {
    first_ns: Option<i64>,
    last_ns: i64,
    value: f64,
}

impl Smooth {
    fn add(&mut self, at_ns: i64, value: f64) {
        let Some(first_ns) = self.first_ns else {
            *self = Self {
                first_ns: Some(at_ns),
                last_ns: at_ns,
                value,
            };
            return;
        };
        let since_ns = (at_ns - self.last_ns).max(0) as f64;
        // As long as little has been seen, all of it counts the same.
        let over_ns = SMOOTHED_NS.min((at_ns - first_ns).max(1) as f64);
        let share = (since_ns / over_ns).min(1.0);
        self.value += (value - self.value) * share;
        self.last_ns = at_ns;
    }

    /// The rate, once it has been seen for long enough.
    fn known(&self) -> Option<f64> {
        let seen_ns = self.last_ns - self.first_ns?;
        (seen_ns >= FIRST_NS && self.value > 0.0).then_some(self.value)
    }
}

/// One flow.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Flow {
    queued_bytes: f64,
    queued_files: f64,
    is_listed: bool,
    bytes_per_s: Smooth,
    files_per_s: Smooth,
    lag_s: Option<f64>,
}

impl Flow {
    /// Seconds until what is queued is published; `None` when it cannot be told.
    fn left_s(&self) -> Option<f64> {
        if self.queued_files <= 0.0 {
            return Some(0.0);
        }
        let by_bytes = self
            .bytes_per_s
            .known()
            .map(|rate| self.queued_bytes / rate);
        let by_files = self
            .files_per_s
            .known()
            .map(|rate| self.queued_files / rate);
        if self.queued_bytes <= 0.0 {
            // All has been sent; the receiver publishes it.
            return by_files;
        }
        // Large files are bound by their bytes, small ones by their number.
        match (by_bytes, by_files) {
            (Some(a), Some(b)) => Some(a.max(b)),
            (one, other) => one.or(other),
        }
    }
}

/// Time until all that is queued is published.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Left {
    /// Seconds, as fast as it goes now.
    pub seconds: f64,
    /// The source has not been looked at whole: more may follow.
    pub is_least: bool,
}

/// Progress of the flows of a run, together.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Standing {
    /// Content that is known to differ and is not sent yet, bytes.
    pub queued_bytes: f64,
    /// Files that are known to differ and are not published yet.
    pub queued_files: f64,
    /// Every source has been looked at whole.
    pub is_listed: bool,
    /// Content that is sent per second.
    pub bytes_per_s: f64,
    /// Lag of the last round of a mirror: of the flow that is furthest behind.
    pub lag_s: Option<f64>,
    /// Time that is left; of the flow that takes the longest.
    pub left: Option<Left>,
}

/// Takes in what replications tell.
#[derive(Debug, Clone, Default)]
pub struct Copying(BTreeMap<String, Flow>);

impl Copying {
    /// True when something has been told.
    pub fn is_known(&self) -> bool {
        !self.0.is_empty()
    }

    /// Takes in new samples.
    pub fn add(&mut self, batch: &Batch) {
        for series in &batch.series {
            let Some((at_ns, value)) = series.points.last().copied() else {
                continue;
            };
            let is = |metric: Metric| series.key.metric == metric.name;
            let takes: fn(&mut Flow, i64, f64) = if is(numbers::QUEUED_BYTES) {
                |flow, _, value| flow.queued_bytes = value
            } else if is(numbers::QUEUED_FILES) {
                |flow, _, value| flow.queued_files = value
            } else if is(numbers::LISTED) {
                |flow, _, value| flow.is_listed = value > 0.0
            } else if is(numbers::MOVED_BYTES_PER_SECOND) {
                |flow, at_ns, value| flow.bytes_per_s.add(at_ns, value)
            } else if is(numbers::FILES_PER_SECOND) {
                |flow, at_ns, value| flow.files_per_s.add(at_ns, value)
            } else if is(numbers::LAST_LAG_SECONDS) {
                |flow, _, value| flow.lag_s = Some(value)
            } else {
                continue;
            };
            let name = series.key.labels.get("flow").cloned().unwrap_or_default();
            takes(self.0.entry(name).or_default(), at_ns, value);
        }
    }

    /// Their progress.
    pub fn standing(&self) -> Standing {
        let flows = || self.0.values();
        let is_listed = self.is_known() && flows().all(|flow| flow.is_listed);
        let left = flows().map(Flow::left_s).collect::<Option<Vec<f64>>>();
        let longest = left.and_then(|left| left.into_iter().reduce(f64::max));
        Standing {
            queued_bytes: flows().map(|flow| flow.queued_bytes).sum(),
            queued_files: flows().map(|flow| flow.queued_files).sum(),
            is_listed,
            bytes_per_s: flows().map(|flow| flow.bytes_per_s.value).sum(),
            lag_s: flows().filter_map(|flow| flow.lag_s).reduce(f64::max),
            left: longest.map(|seconds| Left {
                seconds,
                is_least: !is_listed,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use sokudo_model::{Labels, Series, SeriesKey};

    use super::*;

    fn batch(flow: &str, at_s: i64, values: &[(Metric, f64)]) -> Batch {
        let labels = Labels::from([("flow".to_owned(), flow.to_owned())]);
        let series = values.iter().map(|(metric, value)| Series {
            key: SeriesKey {
                host: String::new(),
                source: String::new(),
                metric: metric.name.into(),
                labels: labels.clone(),
            },
            points: vec![(at_s * 1_000_000_000, *value)],
        });
        Batch {
            series: series.collect(),
            ..Batch::default()
        }
    }

    fn told(copying: &mut Copying, flow: &str, at_s: i64, files: f64, listed: f64, rate: f64) {
        copying.add(&batch(
            flow,
            at_s,
            &[
                (numbers::QUEUED_FILES, files),
                (numbers::QUEUED_BYTES, files * 1e6),
                (numbers::LISTED, listed),
                (numbers::MOVED_BYTES_PER_SECOND, rate * 1e6),
                (numbers::FILES_PER_SECOND, rate),
            ],
        ));
    }

    #[test]
    fn time_left_is_told_once_a_rate_is_known() {
        let mut copying = Copying::default();
        assert_eq!(copying.standing().left, None);
        told(&mut copying, "a", 0, 100.0, 0.0, 10.0);
        assert_eq!(copying.standing().left, None);
        told(&mut copying, "a", 2, 200.0, 0.0, 10.0);
        let left = copying.standing().left.unwrap();
        assert!(
            (left.seconds - 20.0).abs() < 1e-6 && left.is_least,
            "{left:?}"
        );
        told(&mut copying, "a", 3, 50.0, 1.0, 10.0);
        let left = copying.standing().left.unwrap();
        assert!(
            (left.seconds - 5.0).abs() < 1e-6 && !left.is_least,
            "{left:?}"
        );
    }

    #[test]
    fn the_slowest_flow_says_how_long_it_takes() {
        let mut copying = Copying::default();
        for at_s in [0, 2] {
            told(&mut copying, "a", at_s, 10.0, 1.0, 10.0);
            told(&mut copying, "b", at_s, 100.0, 1.0, 1.0);
        }
        let standing = copying.standing();
        assert!((standing.left.unwrap().seconds - 100.0).abs() < 1e-6);
        assert!((standing.queued_bytes - 110e6).abs() < 1.0);
        told(&mut copying, "b", 4, 0.0, 1.0, 0.0);
        assert!((copying.standing().left.unwrap().seconds - 1.0).abs() < 1e-6);
    }

    #[test]
    fn a_flow_that_stands_still_says_nothing_of_its_end() {
        let mut copying = Copying::default();
        for at_s in [0, 2] {
            told(&mut copying, "a", at_s, 10.0, 1.0, 0.0);
        }
        assert_eq!(copying.standing().left, None);
    }
}
