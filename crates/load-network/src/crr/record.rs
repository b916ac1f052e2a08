//! Details that `crr` records beside counts and latencies: its connections.

use serde::{Deserialize, Serialize};
use sokudo_model::Metric;
use sokudo_model::kinds::crr as numbers;
use sokudo_stats::Histogram;
use sokudo_workload::exchange::{Connecting, Details};

/// Connections of a flow: their number, times and failures.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct ConnectDetails {
    pub(crate) connecting: Connecting,
    /// Connections that could not be made because no local port was left.
    pub(crate) ports_exhausted: u64,
}

impl Details for ConnectDetails {
    fn prepared() -> Self {
        Self {
            connecting: Connecting::prepared(),
            ports_exhausted: 0,
        }
    }

    fn clear(&mut self) {
        self.connecting.clear();
        self.ports_exhausted = 0;
    }

    fn merge(&mut self, later: &Self) {
        self.connecting.merge(&later.connecting);
        self.ports_exhausted += later.ports_exhausted;
    }

    fn distributions(&self) -> impl Iterator<Item = (Metric, &Histogram)> {
        let Connecting { connect, handshake } = &self.connecting;
        [
            (numbers::CONNECT_SECONDS, connect),
            (numbers::HANDSHAKE_SECONDS, handshake),
        ]
        .into_iter()
    }

    fn values(&self, _answered: u64) -> impl Iterator<Item = (Metric, f64)> {
        std::iter::empty()
    }

    fn counts(&self) -> impl Iterator<Item = (Metric, u64)> {
        let exhausted = (numbers::PORTS_EXHAUSTED, self.ports_exhausted);
        [exhausted].into_iter().filter(|(_, count)| *count > 0)
    }
}
