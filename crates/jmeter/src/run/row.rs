//! What is told of one result?
//!
//! ```text
//! result ─┬─ counted: its label, times, bytes
//!         └─ written, with what is below it, to those files whose listeners are in scope
//! ```

use std::borrow::Cow;

use sokudo_model::Spent;

use crate::plan::Id;

/// One result: everything that a row of a results file can hold, and what JMeter does not keep.
///
/// Milliseconds are differences of whole milliseconds, as JMeter has them.
#[derive(Debug, Clone, PartialEq)]
pub struct SampleRow<'a> {
    /// What it is the result of.
    pub kind: RowKind,
    /// It is that of an HTTP request.
    pub is_http: bool,
    /// It stands below the result of a transaction, which is the one that is told.
    pub is_inner: bool,
    /// Start in milliseconds since 1970.
    pub start_ms: i64,
    /// From start to end without pauses, milliseconds.
    pub elapsed_ms: u64,
    /// Name of the sampler or transaction.
    pub label: Cow<'a, str>,
    /// Response code.
    pub code: Cow<'a, str>,
    /// Response message.
    pub message: Cow<'a, str>,
    /// `<group> <number of the group>-<number of the user>`.
    pub thread_name: Cow<'a, str>,
    /// `text`, `bin` or nothing.
    pub data_type: &'static str,
    /// It succeeded.
    pub success: bool,
    /// What the first failed assertion said.
    pub failure_message: Cow<'a, str>,
    /// Bytes received.
    pub bytes: u64,
    /// Bytes sent.
    pub sent_bytes: u64,
    /// Users of the group that were active at the end.
    pub group_threads: u32,
    /// Users that were active at the end.
    pub all_threads: u32,
    /// Address; `null` where there is none.
    pub url: Cow<'a, str>,
    /// From start to the first byte, milliseconds.
    pub latency_ms: u64,
    /// Pauses inside, milliseconds.
    pub idle_ms: u64,
    /// From start to the connection, milliseconds; 0 when it was there already.
    pub connect_ms: u64,
    /// Encoding of the response; empty where it was not said.
    pub encoding: Cow<'a, str>,
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
    pub failure: Cow<'a, str>,
    /// Values of the variables that files show (`sample_variables`), in order; `None`: not set.
    pub variables: Vec<Option<String>>,
    /// What only some files hold; `None`: none of them hears of it.
    pub details: Option<Box<Details>>,
    /// Results below it, in order: redirects, what belongs to a page, samples of a transaction.
    pub below: Vec<SampleRow<'static>>,
}

/// What a result is besides numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Details {
    /// Assertions that looked at it, in order.
    pub assertions: Vec<Asserted>,
    /// Status line and headers of the response.
    pub response_headers: String,
    /// Headers of the request.
    pub request_headers: String,
    /// Body of the response as text.
    pub response: String,
    /// `Cookie` of the request.
    pub cookies: String,
    /// Method of the request.
    pub method: String,
    /// Query or body of the request.
    pub query: String,
    /// Where the response led to; `None`: nowhere.
    pub location: Option<String>,
}

/// What an assertion said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asserted {
    /// Its name.
    pub name: String,
    /// Why it does not hold; `None`: it does.
    pub fails: Option<String>,
}

/// What a row is the result of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowKind {
    /// A sampler.
    Sample,
    /// A transaction controller.
    Transaction,
    /// A part of a sample, a redirect or something that belongs to a page: written, not counted.
    Part,
}

impl SampleRow<'_> {
    /// The same with texts of its own.
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

/// Who hears everything that is told: stands beside the listeners of the plan.
pub const EVERYONE: Id = Id::MAX;

/// Who hears of results. Called from the loops that send: must be quick and must not block.
pub trait Sink: Send + Sync {
    /// One result: it is counted, and written with what is below it to the files of these listeners;
    /// [`EVERYONE`] is among them where no transaction stands for it.
    fn sample(&self, row: &SampleRow<'_>, listeners: &[Id]);

    /// True when results are written: what is below them is kept for it.
    fn writes(&self) -> bool {
        false
    }

    /// True when the log of the tool is kept.
    fn logs(&self) -> bool {
        false
    }

    /// A line of that log, with its end.
    fn log(&self, _line: String) {}

    /// Something a user could not do; it goes on.
    fn trouble(&self, what: &str);
}
