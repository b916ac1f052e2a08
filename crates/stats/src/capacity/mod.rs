//! Capacity of a closed system: how many users it serves before requests queue.
//!
//! ```text
//! throughput X                         response time R
//!        Xmax ──●────●──── saturated             ╱  N·D - Z
//!          ╱  ╱                                 ╱
//!        ╱ ●            N* = Xmax·(R0 + Z) ───●
//!      ●  ╱                             R0 ●───
//!        users N                            users N
//! ```
//!
//! [`search`] names the number of users to try next, [`estimate`] turns what came out into the knee
//! by several methods, [`mva`] predicts a closed network of queues.
//!
//! Sources: P. Denning, J. Buzen, "The Operational Analysis of Queueing Network Models", ACM Computing
//! Surveys 10(3), 1978 (bounds); M. Reiser, S. Lavenberg, JACM 27(2), 1980 (mean value analysis);
//! N. Gunther, "Guerrilla Capacity Planning", 2007 (universal scalability law).

pub mod estimate;
pub mod mva;
pub mod protect;
pub mod record;
pub mod search;
pub mod usl;

/// One run with a number of users.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Visit {
    /// Requests per second that were answered.
    pub per_second: f64,
    /// Mean response time, seconds.
    pub response_s: f64,
    /// Share of the server's CPU time that was used, 0 to 1; `None` when it was not observed.
    pub cpu_ratio: Option<f64>,
    /// True on the way down from the highest number of users.
    pub is_descending: bool,
    /// True when it kept the bounds that were asked for, or none were.
    pub held: bool,
}

/// All runs with one number of users.
#[derive(Debug, Clone, PartialEq)]
pub struct Level {
    /// Users.
    pub users: f64,
    /// The runs, in their order; at least one.
    pub visits: Vec<Visit>,
}

impl Level {
    /// Mean of a figure over its runs; `None` when one of them lacks it.
    pub fn mean(&self, of: impl Fn(&Visit) -> Option<f64>) -> Option<f64> {
        let values: Option<Vec<f64>> = self.visits.iter().map(of).collect();
        let values = values.filter(|values| !values.is_empty())?;
        Some(values.iter().sum::<f64>() / values.len() as f64)
    }

    /// Mean throughput, requests per second.
    pub fn per_second(&self) -> f64 {
        self.mean(|visit| Some(visit.per_second)).unwrap_or(0.0)
    }

    /// Mean response time, seconds.
    pub fn response_s(&self) -> f64 {
        self.mean(|visit| Some(visit.response_s)).unwrap_or(0.0)
    }

    /// Mean share of the server's CPU time.
    pub fn cpu_ratio(&self) -> Option<f64> {
        self.mean(|visit| visit.cpu_ratio)
    }

    /// True when most of its runs kept the bounds.
    pub fn held(&self) -> bool {
        self.visits.iter().filter(|visit| visit.held).count() * 2 > self.visits.len()
    }
}
