//! Skew: the time between the first and the last begin of the flows of a moment:
//! a phase, or all loads of a mixed one.
//!
//! Each flow reports how late it began on its own clock; between two hosts the errors of their clocks add
//! to that.

use crate::manifest::PhaseRecord;
use crate::metrics::group::START_LATE_SECONDS;
use crate::units::Nanos;

/// Label of phases whose flows must not begin further apart than this.
pub const MAX_SKEW: &str = "max_skew";

/// Delay of each flow's begin behind the first one of its moment, seconds; empty for a single flow.
pub fn spreads(moment: &[PhaseRecord]) -> Vec<f64> {
    let flows = moment.iter().flat_map(|phase| &phase.result.flows);
    let late: Vec<f64> = flows
        .filter_map(|flow| START_LATE_SECONDS.of(&flow.metrics))
        .collect();
    let first = late.iter().copied().reduce(f64::min).unwrap_or(0.0);
    match late.len() {
        0 | 1 => Vec::new(),
        _ => late.into_iter().map(|late| late - first).collect(),
    }
}

/// Time between the first and the last begin of a moment, seconds; `None` for less than two flows.
pub fn of(moment: &[PhaseRecord]) -> Option<f64> {
    spreads(moment).into_iter().reduce(f64::max)
}

/// The most that the phase was allowed, seconds; `None` without a bound.
pub fn most(phase: &PhaseRecord) -> Option<f64> {
    let text = phase.labels.get(MAX_SKEW)?;
    text.parse::<Nanos>().ok().map(Nanos::seconds)
}
