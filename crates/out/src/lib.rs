//! Sends the samples of a run to other systems while it goes on.
//!
//! ```text
//! offer(points) ─► a queue per sink (bounded; a full one loses points, and counts them) ─► its thread
//!                    influx      line protocol over HTTP or UDP
//!                    prometheus  remote write 1.0 (protobuf, snappy)
//!                    otlp        OTLP/HTTP metrics as JSON
//!                    openmetrics newest value of each series, for a scraper over HTTP
//! ```
//!
//! Offering a sample never waits. A sink that is down is told of once; what it did not get is counted. Every
//! metric is a gauge there. The formats are pure functions in a file each.

mod exposition;
mod http;
mod influx;
mod otlp;
mod place;
mod remote_write;
mod worker;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use place::{BadSinkAddress, SinkAddress, SinkFormat};
pub use worker::Trouble;
use worker::Worker;

/// One sample.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// Name of the metric, with dots.
    pub metric: String,
    /// Labels of its series: `host`, `run`, `flow`.
    pub labels: BTreeMap<String, String>,
    /// Moment, nanoseconds since the Unix epoch.
    pub unix_ns: i64,
    /// Value in the metric's unit; finite.
    pub value: f64,
}

/// Result of a sink at the end of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivered {
    /// The sink, as it was typed.
    pub place: String,
    /// Points that it took.
    pub sent: u64,
    /// Points that it did not get.
    pub lost: u64,
    /// First reason of a loss; empty when it took all of them, or its queue was full.
    pub why: String,
}

/// The open sinks of a run.
#[derive(Default)]
pub struct Outs {
    workers: Vec<Worker>,
}

impl Outs {
    /// Opens these sinks. Only what is served on this host can fail here: what is sent elsewhere is tried
    /// when there is something to send.
    pub fn open(places: &[SinkAddress]) -> Result<Self, Trouble> {
        let workers = places.iter().map(Worker::start);
        Ok(Self {
            workers: workers.collect::<Result<_, _>>()?,
        })
    }

    /// True without any sink.
    pub fn is_empty(&self) -> bool {
        self.workers.is_empty()
    }

    /// Hands points to every sink, without waiting for any.
    pub fn offer(&self, points: Vec<Point>) {
        if points.is_empty() {
            return;
        }
        let points: Arc<[Point]> = points.into();
        self.workers.iter().for_each(|worker| worker.offer(&points));
    }

    /// Sinks of which it became known since the last call that they take nothing; each once.
    pub fn news(&self) -> Vec<Trouble> {
        self.workers.iter().filter_map(Worker::news).collect()
    }

    /// Lets the sinks take what they still have, for a few seconds at most, and says what they took.
    pub fn close(self) -> Vec<Delivered> {
        self.workers.into_iter().map(Worker::close).collect()
    }
}

/// Name of a metric as every one of the systems takes it.
fn name_of(metric: &str) -> String {
    format!("sokudo_{}", plain(metric))
}

/// Labels with names that every one of the systems takes.
fn labels_of(point: &Point) -> impl Iterator<Item = (String, &str)> {
    let labels = point.labels.iter();
    labels.map(|(name, value)| (plain(name), value.as_str()))
}

/// Letters, digits and underscores.
fn plain(name: &str) -> String {
    let kept = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    name.chars().map(kept).collect()
}

#[cfg(test)]
fn point(metric: &str, unix_ns: i64, value: f64) -> Point {
    Point {
        metric: metric.into(),
        labels: [("host".to_owned(), "host a".to_owned())].into(),
        unix_ns,
        value,
    }
}
