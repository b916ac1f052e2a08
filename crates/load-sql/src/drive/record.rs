//! Series that loads of transactions record beside counts and latencies.

use std::marker::PhantomData;

use serde::{Deserialize, Serialize};
use sokudo_model::Metric;
use sokudo_model::kinds::sql as numbers;
use sokudo_sql::Class;
use sokudo_stats::Histogram;
use sokudo_workload::exchange::{Connecting, Details};
use sokudo_workload::histogram_text;
use sokudo_workload::joined::NS;

/// The kinds of transactions of a workload, and what it counts beside them.
pub trait Parts: std::fmt::Debug + Default + Send + 'static {
    /// Latency of each kind.
    const LATENCIES: &'static [Metric];
    /// Counters: the transactions of each kind, in the same order, then anything else.
    const COUNTS: &'static [Metric];
    /// Whether its kinds have names of their own instead, which its options give.
    const BY_NAME: bool = false;
}

/// A workload with one kind of transaction.
impl Parts for () {
    const LATENCIES: &'static [Metric] = &[];
    const COUNTS: &'static [Metric] = &[];
}

/// A workload whose transactions the operator names.
#[derive(Debug, Default)]
pub struct Named;

impl Parts for Named {
    const LATENCIES: &'static [Metric] = &[];
    const COUNTS: &'static [Metric] = &[];
    const BY_NAME: bool = true;
}

/// Histograms of a list, so that they are written as texts.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Latency(#[serde(with = "histogram_text")] Histogram);

/// Outcomes of the transactions of one name.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct OfName {
    /// Latency of those that were carried out.
    #[serde(with = "histogram_text")]
    pub(crate) latency: Histogram,
    /// Those that failed for good.
    pub(crate) errors: u64,
}

/// Waits of clients for the sessions of a pool, and its use.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Pooled {
    /// Wait for each session that was lent.
    #[serde(with = "histogram_text")]
    wait: Histogram,
    /// Waits that were given up.
    timeouts: u64,
    /// Looks at the pool, and the sums of what they found.
    looks: u64,
    used: u64,
    waiting: u64,
}

impl Pooled {
    /// So many sessions are with clients, and so many clients wait for one.
    pub(crate) fn look(&mut self, used: usize, waiting: u32) {
        self.looks += 1;
        self.used += used as u64;
        self.waiting += u64::from(waiting);
    }

    /// A client has waited so long, and got a session or gave up.
    pub(crate) fn waited(&mut self, ns: u64, got: bool) {
        match got {
            true => self.wait.record(ns),
            false => self.timeouts += 1,
        }
    }

    /// Sessions in use and clients that wait, on average; nothing without a pool.
    pub(crate) fn means(&self) -> impl Iterator<Item = (Metric, f64)> + use<> {
        let mean = |sum: u64| sum as f64 / self.looks as f64;
        let means = (self.looks > 0).then(|| {
            [
                (numbers::POOL_USED, mean(self.used)),
                (numbers::POOL_WAITING, mean(self.waiting)),
            ]
        });
        means.into_iter().flatten()
    }

    /// The same, and the mean wait for a session.
    fn values(&self) -> impl Iterator<Item = (Metric, f64)> + use<> {
        let waited = (!self.wait.is_empty()).then(|| self.wait.summary(NS).mean);
        let waited = waited.map(|mean_s| (numbers::POOL_WAIT_MEAN_SECONDS, mean_s));
        self.means().chain(waited)
    }

    fn clear(&mut self) {
        let mut wait = std::mem::take(&mut self.wait);
        wait.clear();
        *self = Self {
            wait,
            ..Self::default()
        };
    }

    fn merge(&mut self, later: &Self) {
        self.wait.merge(&later.wait);
        self.timeouts += later.timeouts;
        self.looks += later.looks;
        self.used += later.used;
        self.waiting += later.waiting;
    }
}

/// Pauses of clients.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Pauses {
    /// Sums of what the looks at the clients found: those who pause, and all.
    pausing: u64,
    clients: u64,
}

impl Pauses {
    /// So many of the clients are in a pause.
    pub(crate) fn look(&mut self, pausing: u32, clients: usize) {
        self.pausing += u64::from(pausing);
        self.clients += clients as u64;
    }

    /// Share of the clients' time; nothing without a pause.
    fn ratio(&self) -> Option<(Metric, f64)> {
        let ratio = || self.pausing as f64 / self.clients as f64;
        (self.pausing > 0).then(|| (numbers::PAUSING_RATIO, ratio()))
    }

    fn merge(&mut self, later: &Self) {
        self.pausing += later.pausing;
        self.clients += later.clients;
    }
}

/// Classes of errors that are counted, and what counts them.
const CLASSES: [(Class, Metric); 8] = [
    (Class::Serialization, numbers::SERIALIZATION_FAILURES),
    (Class::Deadlock, numbers::DEADLOCKS),
    (Class::LockTimeout, numbers::LOCK_TIMEOUTS),
    (Class::Constraint, numbers::CONSTRAINT_VIOLATIONS),
    (Class::Denied, numbers::DENIED_STATEMENTS),
    (Class::Undefined, numbers::WRONG_STATEMENTS),
    (Class::Cancelled, numbers::CANCELLED_STATEMENTS),
    (Class::Resources, numbers::RESOURCE_FAILURES),
];

/// Outcomes of the tries, of the sessions, and of each kind of transaction.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(bound = "")]
pub(crate) struct TransactionDetails<P: Parts = ()> {
    parts: PhantomData<P>,
    /// One per [`Parts::LATENCIES`]; empty for one that holds nothing.
    latencies: Vec<Latency>,
    /// One per [`Parts::COUNTS`]; empty for one that holds nothing.
    counts: Vec<u64>,
    /// By number of the name; empty for a workload without names.
    by_name: Vec<OfName>,
    pub(crate) pool: Pooled,
    pub(crate) pauses: Pauses,
    pub(crate) connecting: Connecting,
    pub(crate) attempts: u64,
    /// One per [`CLASSES`].
    failed: [u64; CLASSES.len()],
    pub(crate) lost_sessions: u64,
    pub(crate) made_connections: u64,
    pub(crate) cancelled: u64,
    /// Time in calls of an embedded database, nanoseconds.
    pub(crate) embedded_ns: u64,
}

impl<P: Parts> TransactionDetails<P> {
    /// A try failed.
    pub(crate) fn failed(&mut self, class: Class) {
        if let Some(place) = CLASSES.iter().position(|(one, _)| *one == class) {
            self.failed[place] += 1;
        }
    }

    /// A transaction of this kind was carried out.
    pub(crate) fn record(&mut self, kind: usize, latency_ns: u64) {
        if P::BY_NAME {
            self.of_name(kind).latency.record(latency_ns);
        }
        if let Some(latency) = self.latencies.get_mut(kind) {
            latency.0.record(latency_ns);
        }
        self.count(kind, 1);
    }

    /// A transaction of this kind failed for good.
    pub(crate) fn failed_for_good(&mut self, kind: usize) {
        if P::BY_NAME {
            self.of_name(kind).errors += 1;
        }
    }

    /// Those of one name; room is made for the first of them, and kept.
    fn of_name(&mut self, number: usize) -> &mut OfName {
        if number >= self.by_name.len() {
            let prepared = || OfName {
                latency: Histogram::allocated(),
                errors: 0,
            };
            self.by_name.resize_with(number + 1, prepared);
        }
        &mut self.by_name[number]
    }

    /// Outcomes of the transactions of each name.
    pub(crate) fn names(&self) -> &[OfName] {
        &self.by_name
    }

    /// So many more of what is counted.
    pub(crate) fn count(&mut self, what: usize, more: u64) {
        if let Some(count) = self.counts.get_mut(what) {
            *count += more;
        }
    }

    fn each(&self) -> impl Iterator<Item = (Metric, u64)> {
        let failed = CLASSES.iter().map(|(_, metric)| *metric).zip(self.failed);
        let others = [
            (numbers::ATTEMPTS, self.attempts),
            (numbers::LOST_SESSIONS, self.lost_sessions),
            (numbers::MADE_CONNECTIONS, self.made_connections),
            (numbers::CANCELLED_AT_END, self.cancelled),
            (numbers::POOL_TIMEOUTS, self.pool.timeouts),
        ];
        others.into_iter().chain(failed)
    }
}

impl<P: Parts> Details for TransactionDetails<P> {
    fn prepared() -> Self {
        let allocated = |_: &Metric| Latency(Histogram::allocated());
        Self {
            latencies: P::LATENCIES.iter().map(allocated).collect(),
            counts: vec![0; P::COUNTS.len()],
            connecting: Connecting::prepared(),
            pool: Pooled {
                wait: Histogram::allocated(),
                ..Pooled::default()
            },
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
        for of_name in &mut kept.by_name {
            of_name.latency.clear();
            of_name.errors = 0;
        }
        kept.pool.clear();
        *self = Self {
            by_name: kept.by_name,
            pool: kept.pool,
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
        if self.by_name.len() < later.by_name.len() {
            self.by_name
                .resize_with(later.by_name.len(), OfName::default);
        }
        for (all, more) in self.by_name.iter_mut().zip(&later.by_name) {
            all.latency.merge(&more.latency);
            all.errors += more.errors;
        }
        self.pool.merge(&later.pool);
        self.pauses.merge(&later.pauses);
        self.attempts += later.attempts;
        self.embedded_ns += later.embedded_ns;
        for (all, more) in self.failed.iter_mut().zip(later.failed) {
            *all += more;
        }
        self.lost_sessions += later.lost_sessions;
        self.made_connections += later.made_connections;
        self.cancelled += later.cancelled;
    }

    fn distributions(&self) -> impl Iterator<Item = (Metric, &Histogram)> {
        let latencies = self.latencies.iter().map(|latency| &latency.0);
        let by_kind = P::LATENCIES.iter().copied().zip(latencies);
        let own = [
            (numbers::CONNECT_SECONDS, &self.connecting.connect),
            (numbers::POOL_WAIT_SECONDS, &self.pool.wait),
        ];
        own.into_iter().chain(by_kind)
    }

    fn by_name(&self) -> impl Iterator<Item = (&Histogram, u64)> {
        self.by_name
            .iter()
            .map(|of_name| (&of_name.latency, of_name.errors))
    }

    fn values(&self, _answered: u64) -> impl Iterator<Item = (Metric, f64)> {
        self.pool.values().chain(self.pauses.ratio())
    }

    /// Those that are zero are left out, but for the tries and what the workload counts.
    fn counts(&self) -> impl Iterator<Item = (Metric, u64)> {
        let told = |(metric, count): &(Metric, u64)| *count > 0 || *metric == numbers::ATTEMPTS;
        let own = P::COUNTS.iter().copied().zip(self.counts.iter().copied());
        self.each().filter(told).chain(own)
    }
}
