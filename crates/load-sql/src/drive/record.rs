//! What loads of transactions record beside counts and latencies.

use serde::{Deserialize, Serialize};
use sokudo_model::Metric;
use sokudo_model::kinds::sql as numbers;
use sokudo_sql::Class;
use sokudo_stats::Histogram;
use sokudo_workload::exchange::{Connecting, Details};

/// What became of the tries, and of the sessions.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct TransactionDetails {
    pub(crate) connecting: Connecting,
    pub(crate) attempts: u64,
    serialization_failures: u64,
    deadlocks: u64,
    lock_timeouts: u64,
    pub(crate) lost_sessions: u64,
    pub(crate) made_connections: u64,
    pub(crate) cancelled: u64,
}

impl TransactionDetails {
    /// A try failed.
    pub(crate) fn failed(&mut self, class: Class) {
        match class {
            Class::Serialization => self.serialization_failures += 1,
            Class::Deadlock => self.deadlocks += 1,
            Class::LockTimeout => self.lock_timeouts += 1,
            _ => {}
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

impl Details for TransactionDetails {
    fn prepared() -> Self {
        Self {
            connecting: Connecting::prepared(),
            ..Self::default()
        }
    }

    fn clear(&mut self) {
        let mut connecting = std::mem::take(&mut self.connecting);
        connecting.clear();
        *self = Self {
            connecting,
            ..Self::default()
        };
    }

    fn merge(&mut self, later: &Self) {
        self.connecting.merge(&later.connecting);
        self.attempts += later.attempts;
        self.serialization_failures += later.serialization_failures;
        self.deadlocks += later.deadlocks;
        self.lock_timeouts += later.lock_timeouts;
        self.lost_sessions += later.lost_sessions;
        self.made_connections += later.made_connections;
        self.cancelled += later.cancelled;
    }

    fn distributions(&self) -> impl Iterator<Item = (Metric, &Histogram)> {
        std::iter::once((numbers::CONNECT_SECONDS, &self.connecting.connect))
    }

    fn values(&self, _answered: u64) -> impl Iterator<Item = (Metric, f64)> {
        std::iter::empty()
    }

    /// Those that are zero are left out, but for the tries.
    fn counts(&self) -> impl Iterator<Item = (Metric, u64)> {
        let told = |(metric, count): &(Metric, u64)| *count > 0 || *metric == numbers::ATTEMPTS;
        self.each().into_iter().filter(told)
    }
}
