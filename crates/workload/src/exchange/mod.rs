//! Exchanges of requests and answers: what one asking thread records and what becomes of it.
//!
//! ```text
//! asking thread ── Recorder ──Interval──► reporting thread ── Reporter ──► series, Collected
//! ```
//!
//! `rr`, `crr` and `http` share this; what only one of them records are its [`Details`].

mod course;
mod details;
mod join;
mod record;
mod report;

use serde::{Deserialize, Serialize};

pub use course::{AskPlan, Course, LOOK, Next, ended, measured};
pub use details::{Connecting, Details};
pub use join::{AskedNumbers, exchange_totals};
pub use record::{Counts, Interval, Recorder, Report, Scope};
pub use report::{Collected, Recorded, Reporter};

/// Result of one asking thread.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Asked {
    /// Number of the flow in the phase.
    pub flow: u32,
    /// Its counters.
    pub counts: Counts,
    /// CPU time of the thread from start to end, nanoseconds.
    pub cpu_ns: Option<u64>,
    /// Time that it was runnable without a CPU, nanoseconds.
    pub wait_ns: Option<u64>,
    /// Time from start to end, nanoseconds.
    pub elapsed_ns: i64,
}

/// Result of one answering thread.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Answered {
    /// Number of the flow in the phase.
    pub flow: u32,
    /// Requests answered.
    pub answered: u64,
    /// Connections and datagrams that brought something else than requests of this flow.
    pub strangers: u64,
    /// CPU time of the thread, nanoseconds.
    pub cpu_ns: Option<u64>,
    /// Time that it was runnable without a CPU, nanoseconds.
    pub wait_ns: Option<u64>,
    /// Time from start to end, nanoseconds.
    pub elapsed_ns: i64,
    /// The first failure.
    pub error: Option<String>,
}
