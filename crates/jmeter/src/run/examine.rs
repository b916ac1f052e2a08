//! Postprocessors, assertions and script listeners applied to a result.

use super::assertions::{Verdict, assert_all};
use super::context::View;
use super::extract::extract;
use super::local_samplers::debug_text;
use super::sample_result::SampleResult;
use super::scripts::{ScriptOwner, run_script};
use super::sub_results::{SubResult, SubResults};
use crate::plan::{ListenerKind, PostKind, Value};
use crate::script::ScriptSample;

/// Verdict of the elements in scope about a result.
pub(super) struct Examined {
    pub verdict: Verdict,
    /// The result as a script changed it.
    pub revised: Option<ScriptSample>,
}

/// Runs the postprocessors of the current sampler, then its assertions, then its script listeners.
pub(super) fn examine(
    view: &mut View<'_>,
    sub_results: &mut SubResults,
    result: &SampleResult<'_>,
) -> Examined {
    let (test, sampler) = (view.test(), view.thread.sampler() as usize);
    let scope = &test.plan.samplers[sampler].scope;
    if test.plan.reads_last_text {
        view.thread.keep_text(result.text);
    }
    if test.plan.reads_previous {
        let seen = result.seen(view.thread.label());
        view.thread.keep_previous(seen);
    }
    let revised = post_process(view, sub_results, result);
    let now = result.revised(revised.as_ref());
    let holds = test.programs[sampler].holds;
    let mut verdict = assert_all(view, &scope.assertions, holds, &now);
    let revised = verdict.revised.take().or(revised);
    let now = result.revised(revised.as_ref());
    if test.plan.reads_previous {
        let mut seen = now.seen(view.thread.label());
        seen.success = verdict.success;
        view.thread.keep_previous(seen);
    }
    for id in &scope.listeners {
        let listener = &test.plan.listeners[*id as usize];
        if let ListenerKind::Script(script) = &listener.kind {
            let mut seen = now.seen(view.thread.label());
            seen.success = verdict.success;
            let owner = (ScriptOwner::Listener, &listener.name);
            run_script(view, owner, script, Some(seen));
        }
    }
    Examined { verdict, revised }
}

/// Runs the postprocessors; gives the result as a script changed it.
fn post_process(
    view: &mut View<'_>,
    sub_results: &mut SubResults,
    result: &SampleResult<'_>,
) -> Option<ScriptSample> {
    let plan = &view.test().plan;
    let mut revised: Option<ScriptSample> = None;
    for id in &plan.samplers[view.thread.sampler() as usize]
        .scope
        .post_processors
    {
        let post = &plan.post_processors[*id as usize];
        let now = result.revised(revised.as_ref());
        match &post.kind {
            PostKind::Script(script) => {
                let seen = now.seen(view.thread.label());
                let owner = (ScriptOwner::PostProcessor, &post.name);
                let done = run_script(view, owner, script, Some(seen));
                if let Some(seen) = &done.seen {
                    view.thread.set_label(&seen.label);
                }
                revised = done.seen;
            }
            PostKind::Debug { variables, .. } => {
                sub_results.show(debug_result(view, variables));
            }
            kind => extract(view, kind, &now),
        }
    }
    revised
}

/// The sub-result of a debug postprocessor.
fn debug_result(view: &mut View<'_>, variables: &Value<bool>) -> SubResult {
    let now_ns = view.now_ns();
    SubResult {
        code: "200".into(),
        message: "OK".into(),
        url: "null".into(),
        encoding: "UTF-8".into(),
        data_type: "text",
        success: true,
        bytes: debug_text(view, variables).len() as u64,
        start_ns: now_ns,
        sent_ns: now_ns,
        end_ns: now_ns,
        ..SubResult::default()
    }
}
