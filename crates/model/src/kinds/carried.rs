//! Payload that flows carried, comparable across workloads.

use crate::summary::{FlowResult, Summary};

use super::of_metrics;

/// Volume that one flow carried, for every workload.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Carried {
    /// Payload that arrived, bytes; of requests and responses both ways together.
    pub bytes: f64,
    /// Its duration, seconds.
    pub seconds: f64,
}

impl Carried {
    /// Mean speed, bits per second. For requests and responses that is the mean speed one way.
    pub fn bits_per_second(self) -> f64 {
        self.bytes * 8.0 / self.seconds
    }

    /// Bytes at a speed.
    pub(super) fn at(bytes: f64, bytes_per_second: f64) -> Self {
        Self {
            bytes,
            seconds: bytes / bytes_per_second,
        }
    }
}

/// The volume that one flow carried, from its metrics; `None` when they lack it.
pub fn carried(metrics: &Summary) -> Option<Carried> {
    let found = (of_metrics(metrics)?.carried)(metrics);
    found.filter(|carried| carried.seconds.is_finite() && carried.seconds > 0.0)
}

/// Sum over the complete flows of a phase: all bytes, over the mean time of a flow; `None` for flows
/// of several workloads, which do not add up.
pub fn totals(flows: &[FlowResult]) -> Option<Carried> {
    if is_mixed(flows) {
        return None;
    }
    let each: Vec<Carried> = complete(flows).collect();
    let seconds: f64 = each.iter().map(|carried| carried.seconds).sum();
    (!each.is_empty()).then(|| Carried {
        bytes: each.iter().map(|carried| carried.bytes).sum(),
        seconds: seconds / each.len() as f64,
    })
}

/// Jain's fairness index of the speeds of the complete flows: 1 when all are equal, 1/n when one
/// has everything; `None` for less than two, and for flows of several workloads.
///
/// Source: R. Jain, D. Chiu, W. Hawe, "A Quantitative Measure of Fairness" (DEC-TR-301, 1984).
pub fn fairness(flows: &[FlowResult]) -> Option<f64> {
    let speeds: Vec<f64> = complete(flows).map(Carried::bits_per_second).collect();
    let sum: f64 = speeds.iter().sum();
    let squares: f64 = speeds.iter().map(|speed| speed * speed).sum();
    (speeds.len() > 1 && squares > 0.0 && !is_mixed(flows))
        .then(|| sum * sum / (speeds.len() as f64 * squares))
}

fn complete(flows: &[FlowResult]) -> impl Iterator<Item = Carried> {
    let complete = flows.iter().filter(|flow| flow.complete);
    complete.filter_map(|flow| carried(&flow.metrics))
}

/// True for flows of several workloads.
pub fn is_mixed(flows: &[FlowResult]) -> bool {
    let mut kinds = flows.iter().filter_map(|flow| of_metrics(&flow.metrics));
    let first = kinds.next();
    kinds.any(|kind| Some(kind) != first)
}
