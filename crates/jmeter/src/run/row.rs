//! Rows of result files, and the receiver of results.
//!
//! ```text
//! result ─┬─ counted: its label, times, bytes
//!         └─ written, with its sub-results, to the files of listeners in scope
//! ```

use std::borrow::Cow;

use sokudo_model::Spent;

use crate::plan::Id;

/// One result: all columns of a JMeter result file, and what JMeter does not record.
///
/// Milliseconds are differences of whole milliseconds, as in JMeter.
#[derive(Debug, Clone, PartialEq)]
pub struct SampleRow<'a> {
    /// Kind of the element that it belongs to.
    pub kind: RowKind,
    /// True for the result of an HTTP request.
    pub is_http: bool,
    /// True if a transaction replaces it in files.
    pub is_inner: bool,
    /// Start in milliseconds since 1970.
    pub start_ms: i64,
    /// Time from start to end without pauses, milliseconds.
    pub elapsed_ms: u64,
    /// Name of the sampler or transaction.
    pub label: Cow<'a, str>,
    /// Response code.
    pub code: Cow<'a, str>,
    /// Response message.
    pub message: Cow<'a, str>,
    /// `<group> <number of the group>-<number of the user>`.
    pub thread_name: Cow<'a, str>,
    /// `text`, `bin` or empty.
    pub data_type: &'static str,
    /// True if it succeeded.
    pub success: bool,
    /// Message of the first failed assertion.
    pub failure_message: Cow<'a, str>,
    /// Bytes received.
    pub bytes: u64,
    /// Bytes sent.
    pub sent_bytes: u64,
    /// Active users of the thread group at the end.
    pub group_threads: u32,
    /// Active users of all groups at the end.
    pub all_threads: u32,
    /// URL; `null`: none.
    pub url: Cow<'a, str>,
    /// Time from start to the first byte, milliseconds.
    pub latency_ms: u64,
    /// Pauses within, milliseconds.
    pub idle_ms: u64,
    /// Time from start to the connection, milliseconds; 0: it existed before.
    pub connect_ms: u64,
    /// Encoding of the response; empty: not stated.
    pub encoding: Cow<'a, str>,
    /// Intended start: nanoseconds of the monotonic clock.
    pub intended_ns: i64,
    /// True if the intended start is when an arrival was due: who sent it may have been behind.
    pub is_due: bool,
    /// Real start.
    pub start_ns: i64,
    /// Time at which the request was sent.
    pub sent_ns: i64,
    /// Its end.
    pub end_ns: i64,
    /// Error number of the system; 0: none.
    pub errno: i32,
    /// Time by stages, redirects included.
    pub spent: Spent,
    /// Stage that failed; empty: none.
    pub phase: &'static str,
    /// The failure; empty: none.
    pub failure: Cow<'a, str>,
    /// Values of `sample_variables`, in their order; `None`: not set.
    pub variables: Vec<Option<String>>,
    /// Details; `None`: no file contains any.
    pub details: Option<Box<Details>>,
    /// Sub-results in order: redirects, embedded resources, samples of a transaction.
    pub below: Vec<SampleRow<'static>>,
}

/// The parts of a result that only some files contain.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Details {
    /// Outcome of each assertion, in order.
    pub assertions: Vec<Asserted>,
    /// Status line and headers of the response.
    pub response_headers: String,
    /// Headers of the request.
    pub request_headers: String,
    /// Body of the response as text.
    pub response: String,
    /// Body of the response, where a listener writes it to a file of its own.
    pub body: Vec<u8>,
    /// `Cookie` of the request.
    pub cookies: String,
    /// Method of the request.
    pub method: String,
    /// Query or body of the request; of one without HTTP, its text.
    pub query: String,
    /// `Location` of the response; `None`: none.
    pub location: Option<String>,
}

/// The outcome of an assertion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asserted {
    /// Name of the assertion.
    pub name: String,
    /// It failed.
    pub failed: bool,
    /// It could not be applied, which fails the result, too.
    pub is_error: bool,
    /// Its message; `None`: it has none.
    pub says: Option<String>,
}

/// The element that a row belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowKind {
    /// A sampler.
    Sample,
    /// A transaction controller.
    Transaction,
    /// A sub-result: written, not counted.
    Part,
}

impl SampleRow<'_> {
    /// The row with owned texts.
    pub fn into_owned(self) -> SampleRow<'static> {
        let own = |text: Cow<'_, str>| Cow::Owned(text.into_owned());
        SampleRow {
            kind: self.kind,
            is_http: self.is_http,
            is_inner: self.is_inner,
            start_ms: self.start_ms,
            elapsed_ms: self.elapsed_ms,
            label: own(self.label),
            code: own(self.code),
            message: own(self.message),
            thread_name: own(self.thread_name),
            data_type: self.data_type,
            success: self.success,
            failure_message: own(self.failure_message),
            bytes: self.bytes,
            sent_bytes: self.sent_bytes,
            group_threads: self.group_threads,
            all_threads: self.all_threads,
            url: own(self.url),
            latency_ms: self.latency_ms,
            idle_ms: self.idle_ms,
            connect_ms: self.connect_ms,
            encoding: own(self.encoding),
            intended_ns: self.intended_ns,
            is_due: self.is_due,
            start_ns: self.start_ns,
            sent_ns: self.sent_ns,
            end_ns: self.end_ns,
            errno: self.errno,
            spent: self.spent,
            phase: self.phase,
            failure: own(self.failure),
            variables: self.variables,
            details: self.details,
            below: self.below,
        }
    }
}

/// The listener of the test itself, beside those of the plan.
pub const EVERYONE: Id = Id::MAX;

/// A receiver of results. It is called from the loops that send, and must be quick and not block.
pub trait Sink: Send + Sync {
    /// Counts a result, and writes it with its sub-results to the files of these listeners;
    /// [`EVERYONE`] is among them unless a transaction replaces it.
    fn sample(&self, row: &SampleRow<'_>, listeners: &[Id]);

    /// True if results are written, so that sub-results are kept.
    fn writes(&self) -> bool {
        false
    }

    /// True if JMeter's log is written.
    fn logs(&self) -> bool {
        false
    }

    /// A line of that log, with its line end.
    fn log(&self, _line: String) {}

    /// Something that failed without ending the user.
    fn trouble(&self, what: &str);
}
