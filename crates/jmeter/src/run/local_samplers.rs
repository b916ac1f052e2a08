//! Results of samplers that send nothing: scripts, Java requests, dummy samplers and debug samplers.

use std::collections::BTreeMap;

use sokudo_model::Spent;

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

/// Examines and reports the result of a script sampler; true if it succeeded.
pub(super) fn conclude_script(
    view: &mut View<'_>,
    sub_results: &mut SubResults,
    results: &mut Results,
    start_ns: i64,
    seen: &ScriptSample,
) -> bool {
    let elapsed_ms = view.test().between_ms(start_ns, view.now_ns());
    if seen.is_ignored {
        view.thread.set_last_ok(seen.success);
        return seen.success;
    }
    let result = SampleResult {
        headers: &seen.headers,
        sampler_data: &seen.sampler_data,
        content_type: &seen.content_type,
        data_type: seen.data_type,
        sent_bytes: seen.sent_bytes,
        ..SampleResult::of_text(
            &seen.text,
            &seen.code,
            &seen.message,
            elapsed_ms,
            seen.success,
        )
    };
    conclude(view, sub_results, results, start_ns, &result)
}

/// Examines and reports the result that a dummy sampler states; true if it succeeded.
pub(super) fn conclude_dummy(
    view: &mut View<'_>,
    sub_results: &mut SubResults,
    results: &mut Results,
    start_ns: i64,
    dummy: &Dummy,
) -> bool {
    let (code, message) = (view.text(&dummy.code), view.text(&dummy.message));
    let (text, url) = (view.text(&dummy.response), view.text(&dummy.url));
    let number = |value: i64| u64::try_from(value).unwrap_or(0);
    let elapsed_ms = number(view.integer(&dummy.response_time_ms));
    let latency_ms = number(view.integer(&dummy.latency_ms));
    let connect_ms = number(view.integer(&dummy.connect_ms));
    let success = view.flag(&dummy.success);
    let result = SampleResult {
        url: &url,
        latency_ms,
        connect_ms,
        ..SampleResult::of_text(&text, &code, &message, elapsed_ms, success)
    };
    conclude(view, sub_results, results, start_ns, &result)
}

/// Examines and reports the result of a debug sampler; true if it succeeded.
pub(super) fn conclude_debug(
    view: &mut View<'_>,
    sub_results: &mut SubResults,
    results: &mut Results,
    variables: &Value<bool>,
) -> bool {
    let text = debug_text(view, variables);
    let result = SampleResult::of_text(&text, "200", "OK", 0, true);
    let now_ns = view.now_ns();
    conclude(view, sub_results, results, now_ns, &result)
}

/// The variables of a user, one per line, sorted by name; empty unless they are wanted.
pub(super) fn debug_text(view: &mut View<'_>, variables: &Value<bool>) -> String {
    let mut text = String::new();
    if view.flag(variables) {
        text.push_str("JMeterVariables:\n");
        let (test, own) = (view.test(), view.thread.variables());
        // Those of the start are there while the plan is read.
        let of_plan = test.variables.iter();
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

fn conclude(
    view: &mut View<'_>,
    sub_results: &mut SubResults,
    results: &mut Results,
    start_ns: i64,
    result: &SampleResult<'_>,
) -> bool {
    sub_results.clear();
    let result = &SampleResult {
        start_ms: view.test().wall_ms(start_ns),
        ..*result
    };
    let examined = examine(view, sub_results, result);
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
        encoding: "UTF-8".into(),
        intended_ns: start_ns,
        is_due: false,
        start_ns,
        sent_ns: start_ns,
        end_ns: view.now_ns(),
        errno: 0,
        spent: Spent::default(),
        phase: "",
        failure: "".into(),
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
    success
}
