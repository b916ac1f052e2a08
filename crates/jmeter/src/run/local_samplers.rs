//! Results of samplers that send nothing themselves: scripts, Java requests, dummy samplers, debug samplers,
//! and statements on databases.

use std::collections::BTreeMap;

use sokudo_model::{Moments, Spent};

use super::context::{LAST_SAMPLE_OK, View};
use super::details::result_details;
use super::examine::examine;
use super::results::Results;
use super::row::{RowKind, SampleRow};
use super::sample_result::SampleResult;
use super::sub_results::SubResults;
use crate::expression::World as _;
use crate::plan::{Dummy, Value};
use crate::script::ScriptSample;

/// A result that no request of the user's own gave.
#[derive(Debug, Clone, Default)]
pub(super) struct LocalSample {
    /// Its start.
    pub start_ns: i64,
    /// Its end; 0: it is not over yet.
    pub end_ns: i64,
    /// Milliseconds that it states to have taken; `None`: those from start to end.
    pub elapsed_ms: Option<u64>,
    /// Its URL.
    pub url: String,
    /// Moment at which there was a connection; the start where none was needed.
    pub connected_ns: i64,
    /// Moment of the answer of a database or TCP server; `None`: none came.
    pub answered_ns: Option<i64>,
    /// Stage that failed; empty: none.
    pub phase: &'static str,
    /// Its content.
    pub sample: ScriptSample,
}

impl LocalSample {
    /// One without connection and URL.
    pub fn new(start_ns: i64, end_ns: i64, sample: ScriptSample) -> Self {
        Self {
            start_ns,
            end_ns,
            url: "null".into(),
            connected_ns: start_ns,
            sample,
            ..Self::default()
        }
    }
}

/// Examines and reports a result; true if it succeeded. `None`: a postprocessor waits for a database.
pub(super) fn conclude_local(
    view: &mut View<'_>,
    sub_results: &mut SubResults,
    results: &mut Results,
    local: &LocalSample,
) -> Option<bool> {
    let seen = &local.sample;
    let elapsed_ms = local.elapsed_ms;
    let elapsed_ms =
        elapsed_ms.unwrap_or_else(|| view.test().between_ms(local.start_ns, local.end_ns));
    if seen.is_ignored {
        view.thread.set_last_ok(seen.success);
        return Some(seen.success);
    }
    let result = SampleResult {
        headers: &seen.headers,
        sampler_data: &seen.sampler_data,
        content_type: &seen.content_type,
        data_type: seen.data_type,
        sent_bytes: seen.sent_bytes,
        url: &local.url,
        latency_ms: seen.latency_ms,
        connect_ms: seen.connect_ms,
        ..SampleResult::of_text(
            &seen.text,
            &seen.code,
            &seen.message,
            elapsed_ms,
            seen.success,
        )
    };
    conclude(view, sub_results, results, local, &result)
}

/// The result that a dummy sampler states.
pub(super) fn dummy_sample(view: &mut View<'_>, start_ns: i64, dummy: &Dummy) -> LocalSample {
    let (code, message) = (view.text(&dummy.code), view.text(&dummy.message));
    let (text, url) = (view.text(&dummy.response), view.text(&dummy.url));
    let number = |value: i64| u64::try_from(value).unwrap_or(0);
    let elapsed_ms = number(view.integer(&dummy.response_time_ms));
    let latency_ms = number(view.integer(&dummy.latency_ms));
    let connect_ms = number(view.integer(&dummy.connect_ms));
    let sample = ScriptSample {
        label: view.thread.label().to_owned(),
        code,
        message,
        text,
        sampler_data: view.text(&dummy.request),
        latency_ms,
        connect_ms,
        success: view.flag(&dummy.success),
        ..ScriptSample::default()
    };
    LocalSample {
        url,
        elapsed_ms: Some(elapsed_ms),
        ..LocalSample::new(start_ns, view.now_ns(), sample)
    }
}

/// The result of a debug sampler.
pub(super) fn debug_sample(view: &mut View<'_>, variables: &Value<bool>) -> LocalSample {
    let sample = ScriptSample {
        label: view.thread.label().to_owned(),
        code: "200".into(),
        message: "OK".into(),
        text: debug_text(view, variables),
        sampler_data: debug_request(view, variables),
        success: true,
        ..ScriptSample::default()
    };
    LocalSample::new(view.now_ns(), view.now_ns(), sample)
}

/// The request of a debug element: what it was asked to show.
pub(super) fn debug_request(view: &mut View<'_>, variables: &Value<bool>) -> String {
    match view.flag(variables) {
        true => "JMeterVariables\n".to_owned(),
        false => String::new(),
    }
}

/// The variables of a user, one per line, sorted by name; empty unless they are wanted.
pub(super) fn debug_text(view: &mut View<'_>, variables: &Value<bool>) -> String {
    let mut text = String::new();
    if view.flag(variables) {
        text.push_str("JMeterVariables:\n");
        let own = view.thread.variables();
        // Those of the start are there while the plan is read.
        let of_plan = view.thread.of_plan().iter();
        let of_plan = of_plan.filter(|(name, _)| !name.starts_with("START."));
        let all: BTreeMap<_, _> = of_plan.chain(own).collect();
        if let Some(is_ok) = view.variable(LAST_SAMPLE_OK) {
            text.extend([LAST_SAMPLE_OK, "=", is_ok, "\n"]);
        }
        all.iter()
            .for_each(|(name, value)| text.extend([name, "=", value, "\n"]));
    }
    text
}

/// Time by stages of a statement of a database or a TCP server; nothing of others.
fn spent(local: &LocalSample) -> Spent {
    match local.answered_ns {
        None => Spent::default(),
        Some(answered_ns) => Spent::between(&Moments {
            intended_ns: local.start_ns,
            start_ns: local.start_ns,
            resolved_ns: local.start_ns,
            connected_ns: local.connected_ns,
            secured_ns: local.connected_ns,
            sent_ns: local.connected_ns,
            first_byte_ns: answered_ns,
            end_ns: local.end_ns,
        }),
    }
}

fn conclude(
    view: &mut View<'_>,
    sub_results: &mut SubResults,
    results: &mut Results,
    local: &LocalSample,
    result: &SampleResult<'_>,
) -> Option<bool> {
    let start_ns = local.start_ns;
    let result = &SampleResult {
        start_ms: view.test().wall_ms(start_ns),
        ..*result
    };
    let examined = examine(view, sub_results, result)?;
    let result = &result.revised(examined.revised.as_ref());
    let (test, thread) = (view.test(), &*view.thread);
    let (group_threads, all_threads) = thread.active_users(test);
    let success = examined.verdict.success;
    let mut row = SampleRow {
        kind: RowKind::Sample,
        is_http: false,
        is_inner: false,
        start_ms: test.wall_ms(start_ns),
        elapsed_ms: result.elapsed_ms,
        label: thread.label().into(),
        code: result.code.into(),
        message: result.message.into(),
        thread_name: thread.name().into(),
        data_type: result.data_type.unwrap_or("text"),
        success,
        failure_message: (&examined.verdict.says).into(),
        bytes: result.body.len() as u64 + sub_results.sums().0,
        sent_bytes: result.sent_bytes,
        group_threads,
        all_threads,
        url: result.url.into(),
        latency_ms: result.latency_ms,
        idle_ms: 0,
        connect_ms: result.connect_ms,
        encoding: match result.data_type {
            Some("") => "".into(),
            _ => "UTF-8".into(),
        },
        intended_ns: start_ns,
        is_due: false,
        start_ns,
        sent_ns: local.connected_ns,
        end_ns: local.end_ns,
        errno: 0,
        spent: spent(local),
        phase: local.phase,
        failure: match local.phase {
            "" => "".into(),
            _ => result.message.into(),
        },
        variables: Vec::new(),
        details: result_details(view, result, &examined),
        below: Vec::new(),
    };
    row.below = sub_results.rows(test, &row);
    if !examined
        .revised
        .as_ref()
        .is_some_and(|seen| seen.is_ignored)
    {
        results.report(test, thread, row);
    }
    view.thread.set_last_ok(success);
    Some(success)
}
