//! What loads of transactions record beside counts and latencies.

use std::marker::PhantomData;

use serde::{Deserialize, Serialize};
use sokudo_model::Metric;
use sokudo_model::kinds::sql as numbers;
use sokudo_sql::Class;
use sokudo_stats::Histogram;
use sokudo_workload::exchange::{Connecting, Details};
use sokudo_workload::histogram_text;

/// The kinds of transactions of a workload, and what it counts beside them.
pub trait Parts: std::fmt::Debug + Default + Send + 'static {
    /// Latency of each kind.
    const LATENCIES: &'static [Metric];
    /// What is counted: the transactions of each kind, in the same order, then anything else.
    const COUNTS: &'static [Metric];
}

/// A workload with one kind of transaction.
impl Parts for () {
    const LATENCIES: &'static [Metric] = &[];
    const COUNTS: &'static [Metric] = &[];
}

/// Histograms of a list, so that they are written as texts.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Latency(#[serde(with = "histogram_text")] Histogram);

/// What became of the tries, of the sessions, and of each kind of transaction.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(bound = "")]
pub(crate) struct TransactionDetails<P: Parts = ()> {
    parts: PhantomData<P>,
    /// One per [`Parts::LATENCIES`]; empty for one that holds nothing.
    latencies: Vec<Latency>,
    /// One per [`Parts::COUNTS`]; empty for one that holds nothing.
    counts: Vec<u64>,
    pub(crate) connecting: Connecting,
    pub(crate) attempts: u64,
    serialization_failures: u64,
    deadlocks: u64,
    lock_timeouts: u64,
    pub(crate) lost_sessions: u64,
    pub(crate) made_connections: u64,
    pub(crate) cancelled: u64,
}

impl<P: Parts> TransactionDetails<P> {
    /// A try failed.
    pub(crate) fn failed(&mut self, class: Class) {
        match class {
            Class::Serialization => self.serialization_failures += 1,
            Class::Deadlock => self.deadlocks += 1,
            Class::LockTimeout => self.lock_timeouts += 1,
            _ => {}
        }
    }

    /// A transaction of this kind was carried out.
    pub(crate) fn record(&mut self, kind: usize, latency_ns: u64) {
        if let Some(latency) = self.latencies.get_mut(kind) {
            latency.0.record(latency_ns);
        }
        self.count(kind, 1);
    }

    /// So many more of what is counted.
    pub(crate) fn count(&mut self, what: usize, more: u64) {
        if let Some(count) = self.counts.get_mut(what) {
            *count += more;
        }
    }

    fn each(&self) -> [(Metric, u64); 7] {
        [
            (numbers::ATTEMPTS, self.attempts),
            (numbers::SERIALIZATION_FAILURES, self.serialization_failures),
            (numbers::DEADLOCKS, self.deadlocks),
            (numbers::LOCK_TIMEOUTS, self.lock_timeouts),
            (numbers::LOST_SESSIONS, self.lost_sessions),
            (numbers::MADE_CONNECTIONS, self.made_connections),
            (numbers::CANCELLED_AT_END, self.cancelled),
        ]
    }
}

impl<P: Parts> Details for TransactionDetails<P> {
    fn prepared() -> Self {
        let allocated = |_: &Metric| Latency(Histogram::allocated());
        Self {
            latencies: P::LATENCIES.iter().map(allocated).collect(),
            counts: vec![0; P::COUNTS.len()],
            connecting: Connecting::prepared(),
            ..Self::default()
        }
    }

    fn clear(&mut self) {
        let mut kept = std::mem::take(self);
        kept.connecting.clear();
        kept.latencies
            .iter_mut()
            .for_each(|latency| latency.0.clear());
        kept.counts.fill(0);
        *self = Self {
            connecting: kept.connecting,
            latencies: kept.latencies,
            counts: kept.counts,
            ..Self::default()
        };
    }

    fn merge(&mut self, later: &Self) {
        self.connecting.merge(&later.connecting);
        self.latencies
            .resize_with(P::LATENCIES.len(), Latency::default);
        for (all, more) in self.latencies.iter_mut().zip(&later.latencies) {
            all.0.merge(&more.0);
        }
        self.counts.resize(P::COUNTS.len(), 0);
        for (all, more) in self.counts.iter_mut().zip(&later.counts) {
            *all += more;
        }
        self.attempts += later.attempts;
        self.serialization_failures += later.serialization_failures;
        self.deadlocks += later.deadlocks;
        self.lock_timeouts += later.lock_timeouts;
        self.lost_sessions += later.lost_sessions;
        self.made_connections += later.made_connections;
        self.cancelled += later.cancelled;
    }

    fn distributions(&self) -> impl Iterator<Item = (Metric, &Histogram)> {
        let latencies = self.latencies.iter().map(|latency| &latency.0);
        let by_kind = P::LATENCIES.iter().copied().zip(latencies);
        std::iter::once((numbers::CONNECT_SECONDS, &self.connecting.connect)).chain(by_kind)
    }

    fn values(&self, _answered: u64) -> impl Iterator<Item = (Metric, f64)> {
        std::iter::empty()
    }

    /// Those that are zero are left out, but for the tries and what the workload counts.
    fn counts(&self) -> impl Iterator<Item = (Metric, u64)> {
        let told = |(metric, count): &(Metric, u64)| *count > 0 || *metric == numbers::ATTEMPTS;
        let own = P::COUNTS.iter().copied().zip(self.counts.iter().copied());
        self.each().into_iter().filter(told).chain(own)
    }
}
