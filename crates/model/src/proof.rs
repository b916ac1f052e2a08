//! A cause that was put to the test.

use serde::{Deserialize, Serialize};

/// Outcome of the test of a cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// The change did what it must when the cause is right.
    Confirmed,
    /// It did not: the cause is withdrawn.
    Refuted,
    /// The runs differ too much to tell.
    Undetermined,
}

/// A test of the cause that was named for a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Proof {
    /// Rule of the cause.
    pub rule: String,
    /// Phase that it was named for.
    pub phase: String,
    /// Option of the load that was changed.
    pub option: String,
    /// Its changed value; empty: it was left out.
    pub value: String,
    /// Ratio of what was carried with the change to what was carried without it.
    pub effect: f64,
    /// Lower end of the effect.
    pub low: f64,
    /// Upper end of the effect.
    pub high: f64,
    /// Its outcome.
    pub outcome: Outcome,
    /// Name of the run that tested it.
    pub run: String,
}
