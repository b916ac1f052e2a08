//! Catalogue names of the numbers that every exchange of requests and answers measures. The workloads
//! that exchange requests differ in these names only.

use sokudo_model::PhaseResult;
use sokudo_stats::Outcome;

use crate::joined::outcome;

/// Catalogue names of one workload.
#[derive(Debug, PartialEq, Eq)]
pub struct Names {
    /// Name of the workload and source of its series.
    pub source: &'static str,
    /// Answered requests.
    pub transactions: &'static str,
    /// Answered requests per second.
    pub per_second: &'static str,
    /// From the intended start to the answer.
    pub latency: &'static str,
    /// Median of it per interval.
    pub latency_p50: &'static str,
    /// 99th percentile of it per interval.
    pub latency_p99: &'static str,
    /// Share of requests that came to nothing.
    pub error_ratio: &'static str,
    /// From the real start to the answer.
    pub service: &'static str,
    /// Round trips one by one.
    pub round_trip: &'static str,
    /// Time to connect.
    pub connect: &'static str,
    /// Time of the TLS handshake.
    pub handshake: &'static str,
    /// Names for what only a workload tells that looks into answers and takes their time apart.
    pub looks: Option<Looks>,
}

/// Names of what a workload tells that looks into its answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Looks {
    /// Requests that failed per second, those with an answer that says so, too.
    pub failed_per_second: &'static str,
}

impl Names {
    /// What a trial of a search came to. A request without an answer is a loss.
    pub fn outcome(&self, result: &PhaseResult) -> Option<Outcome> {
        outcome(self.source, self.per_second, result)
    }
}
