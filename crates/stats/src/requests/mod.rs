//! Statistics of finished requests: per label, per second and by kind of failure.
//!
//! ```text
//! Request, Request, … ─► Tally (bounded memory) ─► Requests: labels, timeline, failures, threads
//! ```
//!
//! One pass, no row is kept. Response times go into histograms of three significant digits, so that
//! a percentile is that of all requests and not of a window of them. The rules of counting are
//! those of JMeter's report: rows of transactions have a line of their own and are not part of the
//! total; throughput is the number of requests over the time from the first start to the last end.

mod failures;
pub mod goals;
mod group;
mod tally;
#[cfg(test)]
mod tests;
mod timeline;

pub use failures::{FailureCount, Failures};
pub use group::LabelGroup;
pub use tally::{MOST_LABELS, Requests, Tally};
pub use timeline::{Moment, Slot, TimeSpent, Timeline};

/// Start of the message of a transaction's row, as JMeter writes it.
const TRANSACTION: &[u8] = b"Number of samples in transaction";

/// One finished request, or one transaction of several. Text is foreign bytes, UTF-8 if all is well.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Request<'a> {
    /// Start time, milliseconds since 1970.
    pub start_ms: i64,
    /// From its start to its last byte, milliseconds.
    pub elapsed_ms: u64,
    /// Name of the kind of request.
    pub label: &'a [u8],
    /// Response code, or what stands in its place.
    pub code: &'a [u8],
    /// Response message.
    pub message: &'a [u8],
    /// The name of the failed assertion, and its message.
    pub failure: &'a [u8],
    /// Whether it counts as good.
    pub success: bool,
    /// Bytes received, headers included.
    pub bytes: u64,
    /// Bytes sent.
    pub sent_bytes: u64,
    /// Users of all groups that were alive at its end; `None` where it is not known.
    pub threads: Option<u32>,
    /// From its start to the first byte of the answer, milliseconds.
    pub latency_ms: Option<u64>,
    /// From its start until connected, milliseconds; 0 on a connection that was there already.
    pub connect_ms: Option<u64>,
    /// Host that sent it; empty where it is not known.
    pub host: &'a [u8],
}

impl Request<'_> {
    /// End time, milliseconds since 1970.
    pub fn end_ms(&self) -> i64 {
        self.start_ms
            .saturating_add(i64::try_from(self.elapsed_ms).unwrap_or(i64::MAX))
    }

    /// True for the row that sums up a transaction.
    pub fn is_transaction(&self) -> bool {
        self.message.starts_with(TRANSACTION)
    }

    /// True for the row of a transaction in which nothing was requested: it counts nowhere.
    pub fn is_empty_transaction(&self) -> bool {
        let rest = self.message.strip_prefix(TRANSACTION);
        rest.is_some_and(|rest| rest.starts_with(b" : 0"))
    }
}

/// Options of counting: which rows count, and the resolution.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Percentiles that are shown, each above 0 and at most 100, ascending.
    pub percentiles: Vec<f64>,
    /// A response up to this time satisfies, milliseconds.
    pub satisfied_ms: u64,
    /// A response up to this time is tolerated, milliseconds.
    pub tolerated_ms: u64,
}

impl Default for Settings {
    /// The values that JMeter's report uses.
    fn default() -> Self {
        Self {
            percentiles: vec![90.0, 95.0, 99.0],
            satisfied_ms: 500,
            tolerated_ms: 1500,
        }
    }
}
