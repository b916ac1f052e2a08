//! The result of a sampler as postprocessors, assertions and listeners see it.

use super::context::View;
use super::details::request_details;
use super::row::Details;
use super::sub_results::SubResult;
use super::test::Test;
use crate::script::{ScriptSample, TransactionKind};

/// JMeter's `SampleResult` while it is examined.
#[derive(Clone, Copy)]
pub(super) struct SampleResult<'a> {
    /// Status line and header lines of the response.
    pub headers: &'a str,
    /// Body of the response, content encodings removed.
    pub body: &'a [u8],
    /// Body of the response as text.
    pub text: &'a str,
    /// Response code.
    pub code: &'a str,
    /// Response message.
    pub message: &'a str,
    /// URL.
    pub url: &'a str,
    /// The request; empty unless an element in scope needs it.
    pub sent: &'a [u8],
    /// Length of the request's head.
    pub sent_head: usize,
    /// The request as JMeter shows it, where it was not sent over HTTP.
    pub sampler_data: &'a str,
    /// Type of the body with its parameters; empty: unknown.
    pub content_type: &'a str,
    /// The type of data that a script gave it.
    pub data_type: Option<&'static str>,
    /// Milliseconds since 1970 at its start.
    pub start_ms: i64,
    /// Time from start to end, milliseconds.
    pub elapsed_ms: u64,
    /// Time from start to the first byte, milliseconds.
    pub latency_ms: u64,
    /// Time from start to the connection, milliseconds.
    pub connect_ms: u64,
    /// Bytes of the response's head.
    pub head_bytes: u64,
    /// Bytes of the whole response.
    pub bytes: u64,
    /// Bytes sent, where the sampler states them.
    pub sent_bytes: u64,
    /// True if it succeeded so far.
    pub success: bool,
    /// It is that of a transaction.
    pub transaction: Option<TransactionKind>,
    /// Its direct sub-results, where an element examines them.
    pub inner: &'a [SubResult],
}

impl<'a> SampleResult<'a> {
    /// A result of which only the text, code, message and duration are known.
    pub fn of_text(
        text: &'a str,
        code: &'a str,
        message: &'a str,
        elapsed_ms: u64,
        success: bool,
    ) -> Self {
        Self {
            headers: "",
            body: text.as_bytes(),
            text,
            code,
            message,
            url: "null",
            sent: b"",
            sent_head: 0,
            sampler_data: "",
            content_type: "",
            data_type: None,
            start_ms: 0,
            elapsed_ms,
            latency_ms: 0,
            connect_ms: 0,
            head_bytes: 0,
            bytes: text.len() as u64,
            sent_bytes: 0,
            success,
            transaction: None,
            inner: &[],
        }
    }

    /// A sub-result as elements in scope examine it.
    pub fn of_inner(test: &Test, inner: &'a SubResult) -> Self {
        let details = inner.details.as_deref();
        let text = details.map_or("", |details| details.response.as_str());
        Self {
            headers: details.map_or("", |details| details.response_headers.as_str()),
            url: &inner.url,
            start_ms: test.wall_ms(inner.start_ns),
            latency_ms: inner.latency_ms,
            connect_ms: inner.connect_ms,
            head_bytes: inner.bytes.saturating_sub(text.len() as u64),
            bytes: inner.bytes,
            ..Self::of_text(
                text,
                &inner.code,
                &inner.message,
                test.between_ms(inner.start_ns, inner.end_ns),
                inner.success,
            )
        }
    }

    /// The header lines of the request without those of cookies; empty unless an element in scope needs
    /// them.
    pub fn request_headers(&self) -> String {
        request_details(self.sent, self.sent_head).request_headers
    }

    /// The request as JMeter shows it; empty unless an element in scope needs it.
    pub fn request_text(&self) -> String {
        self.text_of_request(&request_details(self.sent, self.sent_head))
    }

    fn text_of_request(&self, details: &Details) -> String {
        match details.method.is_empty() {
            true => self.sampler_data.into(),
            false => shown(details, self.url),
        }
    }

    /// The result of the current sampler as scripts see it.
    pub fn seen(&self, view: &View<'_>) -> ScriptSample {
        let (test, label) = (view.test(), view.thread.label());
        let inner = match test.plan.reads_inner {
            true => self.inner,
            false => &[],
        };
        let inner = inner.iter().enumerate();
        ScriptSample {
            inner: inner
                .map(|(number, inner)| seen_inner(test, inner, &format!("{label}-{number}")))
                .collect(),
            ..self.seen_alone(label)
        }
    }

    /// The result as scripts see it, under this label and without its sub-results.
    fn seen_alone(&self, label: &str) -> ScriptSample {
        let details = request_details(self.sent, self.sent_head);
        ScriptSample {
            label: label.into(),
            code: self.code.into(),
            message: self.message.into(),
            text: self.text.into(),
            // Without a text nothing needs the body.
            body: (!self.text.is_empty() && self.body != self.text.as_bytes())
                .then(|| self.body.into()),
            asserted: Vec::new(),
            inner: Vec::new(),
            headers: self.headers.into(),
            sampler_data: self.text_of_request(&details),
            request_headers: details.request_headers,
            request_body: details.query,
            content_type: self.content_type.into(),
            start_ms: self.start_ms,
            end_ms: self.start_ms.saturating_add_unsigned(self.elapsed_ms),
            data_type: self.data_type,
            is_ignored: false,
            url: self.url.into(),
            elapsed_ms: self.elapsed_ms,
            latency_ms: self.latency_ms,
            connect_ms: self.connect_ms,
            head_bytes: self.head_bytes,
            bytes: self.bytes,
            sent_bytes: self.sent_bytes,
            idle_ms: 0,
            success: self.success,
            transaction: self.transaction,
        }
    }

    /// The result with the changes that a script made.
    pub fn revised(&self, seen: Option<&'a ScriptSample>) -> Self {
        let Some(seen) = seen else {
            return *self;
        };
        Self {
            body: match &seen.body {
                Some(bytes) => bytes,
                None if seen.text == self.text => self.body,
                None => seen.text.as_bytes(),
            },
            text: &seen.text,
            code: &seen.code,
            message: &seen.message,
            success: seen.success,
            headers: &seen.headers,
            data_type: seen.data_type,
            ..*self
        }
    }
}

/// A sub-result as scripts see it.
fn seen_inner(test: &Test, inner: &SubResult, label: &str) -> ScriptSample {
    let mut seen = SampleResult::of_inner(test, inner).seen_alone(label);
    if let Some(details) = &inner.details {
        seen.request_headers.clone_from(&details.request_headers);
        seen.request_body.clone_from(&details.query);
        seen.sampler_data = match details.method.is_empty() {
            true => details.query.clone(),
            false => shown(details, &inner.url),
        };
    }
    seen
}

/// A request as JMeter shows it.
fn shown(request: &Details, url: &str) -> String {
    let method = &request.method;
    let body = match method.as_str() {
        "HEAD" | "OPTIONS" | "TRACE" => String::new(),
        _ => format!("\n{method} data:\n{}\n", request.query),
    };
    let cookies = match request.cookies.as_str() {
        "" => "\n[no cookies]".to_owned(),
        cookies => format!("\nCookie Data:\n{cookies}"),
    };
    format!("{method} {url}\n{body}{cookies}\n")
}
