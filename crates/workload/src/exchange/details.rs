//! Details that one kind of exchange records beside counts and latencies.

use std::fmt::Debug;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sokudo_model::Metric;
use sokudo_stats::Histogram;

use crate::histogram_text;

/// Details that one kind of exchange records beside counts and latencies, over an interval or a
/// whole phase.
pub trait Details: Debug + Default + Send + Serialize + DeserializeOwned + 'static {
    /// Empty details, written to without allocating.
    fn prepared() -> Self {
        Self::default()
    }

    /// Forgets what was recorded and keeps the memory.
    fn clear(&mut self);

    /// Adds what was recorded later.
    fn merge(&mut self, later: &Self);

    /// Its distributions.
    fn distributions(&self) -> impl Iterator<Item = (Metric, &Histogram)>;

    /// Values of its series over an interval in which so many requests were answered.
    fn values(&self, answered: u64) -> impl Iterator<Item = (Metric, f64)>;

    /// Counts of an interval that are series, too: answers by what they say, failures by their kind.
    fn told(&self) -> impl Iterator<Item = (Metric, u64)> {
        std::iter::empty()
    }

    /// Latencies and failures of the requests of each name, by its number; nothing for a kind without names.
    fn by_name(&self) -> impl Iterator<Item = (&Histogram, u64)> {
        std::iter::empty()
    }

    /// Its counts over a whole phase.
    fn counts(&self) -> impl Iterator<Item = (Metric, u64)>;

    /// Failures of an interval by their reason: code and message, and how many.
    fn reasons(&self) -> impl Iterator<Item = (String, String, u64)> {
        std::iter::empty()
    }

    /// Answers that say that their request failed.
    fn refused(&self) -> u64 {
        0
    }
}

/// Nothing more.
impl Details for () {
    fn clear(&mut self) {}

    fn merge(&mut self, _later: &Self) {}

    fn distributions(&self) -> impl Iterator<Item = (Metric, &Histogram)> {
        std::iter::empty()
    }

    fn values(&self, _answered: u64) -> impl Iterator<Item = (Metric, f64)> {
        std::iter::empty()
    }

    fn counts(&self) -> impl Iterator<Item = (Metric, u64)> {
        std::iter::empty()
    }
}

/// Times of connecting, for kinds that connect during the load.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Connecting {
    /// From the call to the established connection.
    #[serde(with = "histogram_text")]
    pub connect: Histogram,
    /// TLS handshakes.
    #[serde(with = "histogram_text")]
    pub handshake: Histogram,
}

impl Connecting {
    /// An empty one, written to without allocating.
    pub fn prepared() -> Self {
        Self {
            connect: Histogram::allocated(),
            handshake: Histogram::allocated(),
        }
    }

    /// Records how long the parts of a fresh connection took.
    #[inline]
    pub fn record(&mut self, connect_ns: Option<u64>, handshake_ns: Option<u64>) {
        if let Some(ns) = connect_ns {
            self.connect.record(ns);
        }
        if let Some(ns) = handshake_ns {
            self.handshake.record(ns);
        }
    }

    /// Forgets everything, keeping the memory.
    pub fn clear(&mut self) {
        self.connect.clear();
        self.handshake.clear();
    }

    /// Adds what was recorded later.
    pub fn merge(&mut self, later: &Self) {
        self.connect.merge(&later.connect);
        self.handshake.merge(&later.handshake);
    }
}
