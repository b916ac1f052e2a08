//! The result of an HTTP sampler: its reply examined and turned into a row.

use std::borrow::Cow;

use super::HttpClient;
use super::exchange::location;
use super::response::{body_text, charset, data_type, header_text, header_values};
use crate::run::content;
use crate::run::context::View;
use crate::run::details::result_details;
use crate::run::examine::{Examined, examine};
use crate::run::outcome::{Lost, NotHttp, Reply};
use crate::run::results::Results;
use crate::run::row::{Details, RowKind, SampleRow};
use crate::run::sample_result::SampleResult;
use crate::run::sub_results::SubResults;

/// The texts of a reply that a [`SampleResult`] borrows.
struct ResultTexts<'a> {
    code: Cow<'static, str>,
    message: Cow<'a, str>,
    content_type: Option<Cow<'a, str>>,
    /// Body as text; empty unless an element in scope needs it.
    body: String,
    /// Status line and headers; empty unless an element in scope may need them.
    headers: String,
    /// All embedded resources were fetched.
    has_all_resources: bool,
}

impl HttpClient {
    /// Examines the reply of the request under way and reports its result; true if it succeeded. `None`: a
    /// postprocessor waits for a database.
    pub fn conclude(
        &self,
        view: &mut View<'_>,
        sub_results: &mut SubResults,
        results: &mut Results,
        reply: &Reply<'_>,
        lost: Option<Lost<'_>>,
    ) -> Option<bool> {
        let test = view.test();
        let decoded = match test.programs[view.thread.sampler() as usize].needs_body {
            true => content::decoded(reply),
            false => Ok(Cow::Borrowed(reply.body)),
        };
        let lost = lost.map(|lost| as_reported(lost, reply));
        let lost = lost.or_else(|| {
            decoded.as_ref().err().map(|(class, says)| Lost {
                class: *class,
                phase: "read",
                errno: None,
                says,
            })
        });
        let body = decoded.as_deref().unwrap_or_default();
        let texts = self.texts(view, sub_results, reply, lost, body);
        let is_good = lost.is_none() && (200..400).contains(&reply.status);
        let totals = self.exchange.totals();
        let inner = match test.programs[view.thread.sampler() as usize].examines_inner {
            true => sub_results.direct(),
            false => Vec::new(),
        };
        let result = SampleResult {
            headers: &texts.headers,
            body,
            text: &texts.body,
            code: &texts.code,
            message: &texts.message,
            url: self.exchange.url(),
            sent: self.exchange.sent(),
            sent_head: self.exchange.head_bytes,
            sampler_data: "",
            content_type: texts.content_type.as_deref().unwrap_or_default(),
            data_type: None,
            start_ms: test.wall_ms(totals.start_ns),
            elapsed_ms: test.between_ms(totals.start_ns, reply.end_ns),
            latency_ms: totals.latency_ms,
            connect_ms: totals.connect_ms,
            head_bytes: reply.head_bytes,
            bytes: totals.bytes,
            sent_bytes: reply.sent_bytes,
            success: is_good && texts.has_all_resources,
            transaction: None,
            inner: &inner,
        };
        let waited = view.thread.examining.as_ref();
        let fetched_bytes = waited.map_or(sub_results.sums().0, |waited| waited.fetched_bytes);
        let mut examined = examine(view, sub_results, &result)?;
        sub_results.judge(std::mem::take(&mut examined.verdict.inner));
        let shown_bytes = sub_results.sums().0 - fetched_bytes;
        let result = result.revised(examined.revised.as_ref());
        let content_type = texts.content_type.as_deref();
        let mut row = self.row(view, &result, &examined, (reply, lost), content_type);
        row.bytes += shown_bytes;
        row.details = http_details(view, sub_results, &result, &examined, (reply, lost));
        row.below = sub_results.rows(test, &row);
        let success = row.success;
        match &examined.revised {
            Some(seen) if seen.is_ignored => {}
            revised => {
                let given = revised.as_ref().and_then(|seen| seen.data_type);
                row.data_type = given.unwrap_or(row.data_type);
                results.report(test, view.thread, row);
            }
        }
        view.thread.set_last_ok(success);
        Some(success)
    }

    /// The current request could not be written.
    pub fn fail(&mut self, class: NotHttp, why: &str) {
        self.exchange.fail(class, why);
    }

    fn texts<'r>(
        &self,
        view: &View<'_>,
        sub_results: &SubResults,
        reply: &Reply<'r>,
        lost: Option<Lost<'_>>,
        body: &[u8],
    ) -> ResultTexts<'r> {
        let (test, sampler) = (view.test(), view.thread.sampler() as usize);
        let (code, mut message) = self.exchange.status(test, reply, lost);
        let program = &test.programs[sampler];
        let scope = &test.plan.samplers[sampler].scope;
        let is_examined = program.needs_body || program.needs_request || !scope.is_quiet();
        // As in JMeter, an incomplete response has no headers.
        let headers = match is_examined && lost.is_none() {
            true => header_text(&code, &message, reply),
            false => String::new(),
        };
        let failure = sub_results.failure(0).filter(|_| !test.excuses_parts);
        let has_all_resources = failure.is_none();
        if let Some(says) = failure {
            message = says.into();
        }
        let content_type = header_values(reply.headers, "Content-Type").next();
        ResultTexts {
            body: match program.needs_body {
                true => body_text(body, content_type.as_deref()),
                false => String::new(),
            },
            code,
            message,
            content_type,
            headers,
            has_all_resources,
        }
    }

    /// The row of a result, without details and sub-results.
    fn row<'a>(
        &self,
        view: &'a View<'_>,
        result: &SampleResult<'a>,
        examined: &'a Examined,
        (reply, lost): (&Reply<'_>, Option<Lost<'_>>),
        content_type: Option<&'a str>,
    ) -> SampleRow<'a> {
        let (test, thread) = (view.test(), &*view.thread);
        let totals = self.exchange.totals();
        let (group_threads, all_threads) = thread.active_users(test);
        SampleRow {
            kind: RowKind::Sample,
            is_http: true,
            is_inner: false,
            start_ms: test.wall_ms(totals.start_ns),
            elapsed_ms: result.elapsed_ms,
            label: thread.label().into(),
            code: result.code.into(),
            message: result.message.into(),
            thread_name: thread.name().into(),
            data_type: data_type(lost.is_some(), content_type),
            success: examined.verdict.success,
            failure_message: (&examined.verdict.says).into(),
            bytes: result.bytes,
            // JMeter counts sent bytes only if something was received.
            sent_bytes: match lost {
                Some(_) if !self.exchange.was_redirected() => 0,
                _ => totals.sent_bytes,
            },
            group_threads,
            all_threads,
            url: result.url.into(),
            latency_ms: totals.latency_ms,
            idle_ms: 0,
            connect_ms: totals.connect_ms,
            encoding: content_type.map_or("", charset).into(),
            intended_ns: totals.intended_ns,
            is_due: totals.is_due,
            start_ns: totals.start_ns,
            sent_ns: reply.sent_ns,
            end_ns: reply.end_ns,
            errno: lost.and_then(|lost| lost.errno).unwrap_or(0),
            spent: totals.spent(reply.end_ns),
            phase: lost.map_or("", |lost| lost.phase),
            failure: lost.map_or("", |lost| lost.says).to_owned().into(),
            variables: Vec::new(),
            details: None,
            below: Vec::new(),
        }
    }
}

/// Details of the result of an HTTP sampler.
fn http_details(
    view: &View<'_>,
    sub_results: &SubResults,
    result: &SampleResult<'_>,
    examined: &Examined,
    (reply, lost): (&Reply<'_>, Option<Lost<'_>>),
) -> Option<Box<Details>> {
    let mut details = result_details(view, result, examined)?;
    details.location = match sub_results.first() {
        // Of several redirects the first.
        Some(first) => first
            .details
            .as_ref()
            .and_then(|first| first.location.clone()),
        None => location(reply),
    };
    if lost.is_some() {
        // JMeter writes the failure as the response, and no request.
        let class = result.code.trim_start_matches("Non HTTP response code: ");
        let says = result
            .message
            .trim_start_matches("Non HTTP response message: ");
        details.response = format!("{class}: {says}\n");
        details.request_headers.clear();
    }
    Some(details)
}

/// JMeter reports an incomplete head as a malformed response.
fn as_reported<'a>(lost: Lost<'a>, reply: &Reply<'_>) -> Lost<'a> {
    match (lost.class, reply.status) {
        (NotHttp::BodyCut, 0) => Lost {
            class: NotHttp::Malformed,
            ..lost
        },
        _ => lost,
    }
}
