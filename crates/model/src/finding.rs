//! Findings: a cause, the evidence for it, and what to try next.

use serde::{Deserialize, Serialize};

use crate::metric::Unit;
use crate::series::Labels;
use crate::text::Text;

/// Importance of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing.
    Info,
    /// Changes how the numbers should be read, or limits them.
    Caution,
    /// The numbers must not be trusted, or the test failed because of it.
    Bad,
}

/// One observation that supports a finding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// The observation in words.
    pub says: Text,
    /// Source of the reading: `SO_MEMINFO`, `/proc/net/snmp`, `schedstat`, …
    pub source: String,
    /// Host it was observed on, when it was observed on one.
    pub host: Option<String>,
    /// Metric whose series shows it, for the chart beside the sentence.
    pub metric: Option<String>,
    /// Labels that select the series among those of the metric; empty selects all.
    #[serde(default)]
    pub labels: Labels,
    /// The number that carries it.
    pub value: Option<f64>,
    /// Unit of `value`.
    pub unit: Option<Unit>,
}

/// A conclusion with its evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Rule that drew it: file name in `analyze/src/rules`.
    pub rule: String,
    /// Its importance.
    pub severity: Severity,
    /// Name of the phase it is about; empty when it is about the whole run.
    pub phase: String,
    /// Share of the result that it explains, 0 to 1; findings are shown strongest first.
    pub weight: f64,
    /// The conclusion.
    pub says: Text,
    /// Evidence for it.
    pub evidence: Vec<Evidence>,
    /// Observations that speak against it and do not refute it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub against: Vec<Evidence>,
    /// The next thing to try.
    pub next: Option<Text>,
}

/// Something that must hold, and whether it did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// Short machine-readable name: `loss`, `accounting`.
    pub name: String,
    /// Whether it held.
    pub passed: bool,
    /// The expected and the seen value.
    pub says: Text,
    /// Demand of the operator; `None` for a condition that every run must meet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub demand: Option<Demand>,
}

/// A bound that the operator set, and the value that was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Demand {
    /// The bound, as it is typed: `p95<2s`, `1Gb/s`.
    pub asked: String,
    /// The measured value; `None` when it could not be measured.
    pub measured: Option<f64>,
    /// Unit of `measured`.
    pub unit: Unit,
    /// Phase, rate or pair of hosts that it was measured on; empty where the run has one measurement.
    #[serde(default)]
    pub on: String,
}
