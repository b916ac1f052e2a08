//! Numbers of a latency-over-rate curve.

use crate::metric::{Metric, Stat};
use crate::summary::PhaseResult;

/// Numbers of a workload's result that make a latency-over-rate curve.
#[derive(Debug, Clone, Copy)]
pub struct CurveMetrics {
    /// Load that was offered, in the unit that people compare; absent in a closed loop.
    pub offered: Metric,
    /// Load that was carried, in the same unit.
    pub delivered: Metric,
    /// Distribution of the latency, where there is one: its percentiles are `<latency>.p99` in the
    /// summary, or in the result's histograms.
    pub latency: Option<Metric>,
    /// Shares that can be bounded, each with the word that is typed. A request without an answer counts
    /// as lost, so that every workload accepts `loss`.
    pub shares: &'static [(&'static str, Metric)],
    /// Highest rate that kept the bounds of a search.
    pub best: Metric,
}

/// Each workload has one; two are equal when the names of their best rates are.
impl PartialEq for CurveMetrics {
    fn eq(&self, other: &Self) -> bool {
        self.best == other.best
    }
}

impl CurveMetrics {
    /// One number of the latency, seconds.
    pub fn latency_s(&self, result: &PhaseResult, which: &str) -> Option<f64> {
        let latency = self.latency?;
        let summed = result.summary.get(&format!("{latency}.{which}")).copied();
        let merged = || {
            let all = result.histograms.get(latency.name)?;
            Some(Stat::named(which)?.of(all))
        };
        summed.or_else(merged).filter(|v| v.is_finite())
    }

    /// A share by the word that is typed: `loss`, `errors`.
    pub fn share(&self, result: &PhaseResult, word: &str) -> Option<f64> {
        let (_, share) = self.shares.iter().find(|(known, _)| *known == word)?;
        share.of(&result.summary)
    }

    /// Load that was offered; what was carried where nothing else was asked for.
    pub fn offered_in(&self, result: &PhaseResult) -> Option<f64> {
        let offered = self.offered.of(&result.summary);
        offered.or_else(|| self.delivered_in(result))
    }

    /// Load that was carried.
    pub fn delivered_in(&self, result: &PhaseResult) -> Option<f64> {
        self.delivered.of(&result.summary)
    }
}
