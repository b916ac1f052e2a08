//! The summary of a run: its main results as a few numbers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::series::Labels;

/// Catalogue name → value in the catalogue's unit.
pub type Summary = BTreeMap<String, f64>;

/// A distribution in a few numbers; the whole one is in the record's histograms.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct HistogramSummary {
    /// Values recorded.
    pub n: u64,
    /// Smallest, in the metric's unit (seconds for times).
    pub min: f64,
    /// Arithmetic mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 90th percentile.
    pub p90: f64,
    /// 99th percentile.
    pub p99: f64,
    /// 99.9th percentile.
    pub p999: f64,
    /// Largest.
    pub max: f64,
}

/// Results of one directed flow, joined from both ends.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct FlowResult {
    /// Number inside the phase.
    pub id: u32,
    /// Sending host's name.
    pub from: String,
    /// Receiving host's name.
    pub to: String,
    /// Transport, I/O mode achieved, binding, …
    pub labels: Labels,
    /// Catalogue name → value. Absent means "not available", never zero.
    pub metrics: Summary,
    /// Catalogue name → distribution.
    pub histograms: BTreeMap<String, HistogramSummary>,
    /// False when one end did not deliver its numbers.
    pub complete: bool,
}

/// Results of one phase.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PhaseResult {
    /// Totals over the flows. Absent means "not available".
    pub summary: Summary,
    /// Each flow.
    pub flows: Vec<FlowResult>,
    /// Totals per distribution, merged from the flows' histograms.
    #[serde(default)]
    pub histograms: BTreeMap<String, HistogramSummary>,
}
