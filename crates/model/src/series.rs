//! Series of samples: what was observed, when, and on which host.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::text::Text;

/// Farthest moment from a run's start that is one of the run, nanoseconds: 36 years. Sums and differences of a few such
/// moments fit into 64 bits.
pub const REACH_NS: i64 = 1 << 60;

/// True for a moment within [`REACH_NS`].
pub fn is_within_reach(t_ns: i64) -> bool {
    (-REACH_NS..=REACH_NS).contains(&t_ns)
}

/// Labels that distinguish series of the same metric: `flow`, `core`, `device`, `mode`, …
pub type Labels = BTreeMap<String, String>;

/// Name of a series: who observed what.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SeriesKey {
    /// Host as named in the run's host table.
    pub host: String,
    /// Workload or monitor that emitted it: `datagram`, `host`, `self`, `clock`.
    pub source: String,
    /// Catalogue name; the unit stands in the catalogue.
    pub metric: String,
    /// Labels that distinguish it from other series of the same metric.
    pub labels: Labels,
}

/// Ordered samples of one metric from one source.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// Observer and metric.
    pub key: SeriesKey,
    /// `(t_ns, value)`: nanoseconds since the run's start on the shared clock, ascending.
    /// Counters are stored as their increase per second over the interval that ends at `t_ns`
    /// when the catalogue's unit is a rate, else as the cumulative value.
    pub points: Vec<(i64, f64)>,
}

/// Distribution of one metric over one interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HistogramInterval {
    /// Observer and metric.
    pub key: SeriesKey,
    /// Interval start, nanoseconds since the run's start.
    pub t0_ns: i64,
    /// Interval end, nanoseconds since the run's start.
    pub t1_ns: i64,
    /// HdrHistogram V2 encoding (uncompressed) of integer values: nanoseconds for times,
    /// plain counts otherwise. Divide times by 1e9 to get the catalogue's seconds.
    pub hdr_v2: Vec<u8>,
}

/// Something that happened at one moment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Nanoseconds since the run's start.
    pub t_ns: i64,
    /// Host as named in the run's host table.
    pub host: String,
    /// Workload, monitor or part of the engine that emitted it.
    pub source: String,
    /// Short machine-readable kind: `phase-begin`, `peer-lost`, `clock-jump`, …
    pub kind: String,
    /// Text of the event.
    pub says: Text,
}

/// The series, distributions and events of a host in one interval: the unit of the spool and of the
/// wire.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Batch {
    /// New points, grouped by series.
    pub series: Vec<Series>,
    /// Distributions that ended in this interval.
    pub histograms: Vec<HistogramInterval>,
    /// Events since the last batch.
    pub events: Vec<Event>,
}

impl Batch {
    /// True when there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.series.is_empty() && self.histograms.is_empty() && self.events.is_empty()
    }

    /// Adds one point to the series with this key, creating the series when it is new.
    ///
    /// The last series is tried first, so adding points series by series is cheap.
    pub fn push(&mut self, key: &SeriesKey, t_ns: i64, value: f64) {
        if let Some(last) = self.series.last_mut().filter(|s| s.key == *key) {
            last.points.push((t_ns, value));
            return;
        }
        match self.series.iter_mut().find(|s| s.key == *key) {
            Some(series) => series.points.push((t_ns, value)),
            None => self.series.push(Series {
                key: key.clone(),
                points: vec![(t_ns, value)],
            }),
        }
    }

    /// Moves everything out of `other` into this batch.
    pub fn append(&mut self, other: Batch) {
        for series in other.series {
            match self.series.iter_mut().find(|s| s.key == series.key) {
                Some(own) => own.points.extend(series.points),
                None => self.series.push(series),
            }
        }
        self.histograms.extend(other.histograms);
        self.events.extend(other.events);
    }

    /// Keeps what `host` may say: of itself, and of moments within [`REACH_NS`]. `None` is a host whose name in the run is
    /// not known. Returns how many points, distributions and events were left out.
    pub fn keep_own(&mut self, host: Option<&str>) -> usize {
        let count = |batch: &Self| {
            let points = batch.series.iter().map(|series| series.points.len());
            points.sum::<usize>() + batch.histograms.len() + batch.events.len()
        };
        let before = count(self);
        for series in &mut self.series {
            series.points.retain(|(t_ns, _)| is_within_reach(*t_ns));
        }
        let is_own = |named: &str| host.is_none_or(|host| host == named);
        self.series
            .retain(|series| is_own(&series.key.host) && !series.points.is_empty());
        let is_near =
            |one: &HistogramInterval| [one.t0_ns, one.t1_ns].into_iter().all(is_within_reach);
        self.histograms
            .retain(|one| is_own(&one.key.host) && is_near(one));
        self.events
            .retain(|event| is_own(&event.host) && is_within_reach(event.t_ns));
        before - count(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(host: &str) -> SeriesKey {
        SeriesKey {
            host: host.into(),
            source: "test".into(),
            metric: "m".into(),
            labels: Labels::new(),
        }
    }

    #[test]
    fn a_host_speaks_of_itself_and_of_moments_of_the_run() {
        let event = |host: &str, t_ns| Event {
            t_ns,
            host: host.into(),
            source: "test".into(),
            kind: "k".into(),
            says: "so".into(),
        };
        let interval = |host, t0_ns, t1_ns| HistogramInterval {
            key: key(host),
            t0_ns,
            t1_ns,
            hdr_v2: Vec::new(),
        };
        let series = |host, points| Series {
            key: key(host),
            points,
        };
        let own = Batch {
            series: vec![series("a", vec![(0, 1.0), (REACH_NS, 2.0)])],
            histograms: vec![interval("a", -REACH_NS, 1)],
            events: vec![event("a", 5)],
        };
        let mut all = own.clone();
        all.series.push(series("b", vec![(0, 1.0), (1, 1.0)]));
        all.series[0].points.push((i64::MAX, 3.0));
        all.series.push(series("a", vec![(i64::MIN, 1.0)]));
        all.histograms
            .extend([interval("b", 0, 1), interval("a", 0, i64::MAX)]);
        all.events
            .extend([event("b", 5), event("a", i64::MIN), event("", 5)]);
        let mut of_anyone = all.clone();
        assert_eq!(of_anyone.keep_own(None), 4);
        assert_eq!(all.keep_own(Some("a")), 9);
        assert_eq!(all, own);
        assert_eq!(all.keep_own(Some("a")), 0);
    }
}
