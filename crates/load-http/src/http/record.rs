//! Details that `http` records of each request beside counts and latencies.

use serde::{Deserialize, Serialize};
use sokudo_model::kinds::http as numbers;
use sokudo_model::{Metric, Spent};
use sokudo_stats::Histogram;
use sokudo_workload::exchange::{Connecting, Details};

/// Time of requests by its stages, and the status codes of failed requests.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct VisitDetails {
    pub(crate) connecting: Connecting,
    /// Time of the answered requests by stage.
    pub(crate) spent: Spent,
    /// Answers that say that the request failed.
    pub(crate) refused: u64,
}

impl Details for VisitDetails {
    fn prepared() -> Self {
        Self {
            connecting: Connecting::prepared(),
            ..Self::default()
        }
    }

    fn clear(&mut self) {
        self.connecting.clear();
        self.spent = Spent::default();
        self.refused = 0;
    }

    fn merge(&mut self, later: &Self) {
        self.connecting.merge(&later.connecting);
        self.spent.add(&later.spent);
        self.refused += later.refused;
    }

    fn distributions(&self) -> impl Iterator<Item = (Metric, &Histogram)> {
        let Connecting { connect, handshake } = &self.connecting;
        [
            (numbers::CONNECT_SECONDS, connect),
            (numbers::HANDSHAKE_SECONDS, handshake),
        ]
        .into_iter()
    }

    fn values(&self, answered: u64) -> impl Iterator<Item = (Metric, f64)> {
        self.spent.means(answered)
    }

    fn counts(&self) -> impl Iterator<Item = (Metric, u64)> {
        std::iter::empty()
    }

    fn refused(&self) -> u64 {
        self.refused
    }
}
