//! What is told of one result?

use sokudo_model::Spent;

/// One result: everything that a row of a results file can hold, and what JMeter does not keep.
///
/// Milliseconds are differences of whole milliseconds, as JMeter has them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SampleRow<'a> {
    /// What it is the result of.
    pub kind: RowKind,
    /// Start in milliseconds since 1970.
    pub start_ms: i64,
    /// From start to end without pauses, milliseconds.
    pub elapsed_ms: u64,
    /// Name of the sampler or transaction.
    pub label: &'a str,
    /// Response code.
    pub code: &'a str,
    /// Response message.
    pub message: &'a str,
    /// `<group> <number of the group>-<number of the user>`.
    pub thread_name: &'a str,
    /// `text`, `bin` or nothing.
    pub data_type: &'static str,
    /// It succeeded.
    pub success: bool,
    /// What the first failed assertion said.
    pub failure_message: &'a str,
    /// Bytes received.
    pub bytes: u64,
    /// Bytes sent.
    pub sent_bytes: u64,
    /// Users of the group that were active at the end.
    pub group_threads: u32,
    /// Users that were active at the end.
    pub all_threads: u32,
    /// Address; `null` where there is none.
    pub url: &'a str,
    /// From start to the first byte, milliseconds.
    pub latency_ms: u64,
    /// Pauses inside, milliseconds.
    pub idle_ms: u64,
    /// From start to the connection, milliseconds; 0 when it was there already.
    pub connect_ms: u64,
    /// Encoding of the response.
    pub encoding: &'a str,
    /// When it should have begun: nanoseconds of the monotonic clock.
    pub intended_ns: i64,
    /// When it began.
    pub start_ns: i64,
    /// When the request was handed over.
    pub sent_ns: i64,
    /// When it ended.
    pub end_ns: i64,
    /// The system's error number; 0: none.
    pub errno: i32,
    /// Where its time went, redirects included.
    pub spent: Spent,
    /// Stage that failed; empty: none.
    pub phase: &'static str,
    /// What really failed; empty: nothing.
    pub failure: &'a str,
}

/// What a row is the result of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowKind {
    /// A sampler.
    Sample,
    /// A sampler inside a transaction that stands for it: counted, not written.
    Inner,
    /// A transaction controller.
    Transaction,
    /// A part of the sample before it, a redirect or something that belongs to a page: written, not
    /// counted.
    Part,
}

/// Who hears of results. Called from the loops that send: must be quick and must not block.
pub trait Sink: Send + Sync {
    /// One result.
    fn sample(&self, row: &SampleRow<'_>);

    /// Something a user could not do; it goes on.
    fn trouble(&self, what: &str);
}
