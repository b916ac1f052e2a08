//! Postprocessors, assertions and script listeners applied to a result.

use super::assertions::{Verdict, assert_all};
use super::context::View;
use super::databases::{self, BegunCall, DatabaseAnswer};
use super::extract::extract;
use super::local_samplers::{debug_request, debug_text};
use super::row::Details;
use super::sample_result::SampleResult;
use super::scripts::{ScriptOwner, run_script};
use super::sub_results::{SubResult, SubResults};
use crate::plan::{Id, ListenerKind, PostKind, Scope, Value};
use crate::script::ScriptSample;

/// Verdict of the elements in scope about a result.
pub(super) struct Examined {
    pub verdict: Verdict,
    /// The result as a script changed it.
    pub revised: Option<ScriptSample>,
}

/// The examination of a result whose postprocessor waits for a database.
#[derive(Debug)]
pub(super) struct Examining {
    /// Index of the postprocessor.
    post: usize,
    /// Its call.
    pub call: BegunCall,
    /// The result as a script changed it so far.
    revised: Option<ScriptSample>,
    /// Bytes of the sub-results before the examination.
    pub fetched_bytes: u64,
}

/// Runs the postprocessors of the current sampler, then its assertions, then its script listeners. `None`: a
/// postprocessor waits for a database; the next call goes on behind it.
pub(super) fn examine(
    view: &mut View<'_>,
    sub_results: &mut SubResults,
    result: &SampleResult<'_>,
) -> Option<Examined> {
    let (test, sampler) = (view.test(), view.thread.sampler() as usize);
    let scope = &test.plan.samplers[sampler].scope;
    let waited = view.thread.examining.take();
    if test.plan.reads_last_text && waited.is_none() {
        view.thread.keep_text(result.text);
    }
    if test.plan.reads_previous && waited.is_none() {
        let seen = result.seen(view);
        view.thread.keep_previous(seen);
    }
    let Processed { revised, is_lost } = post_process(view, sub_results, result, waited)?;
    if is_lost {
        return Some(lost(view, result));
    }
    let shown = shown(view, sub_results, scope);
    let result = &SampleResult {
        inner: shown.as_deref().unwrap_or(result.inner),
        ..*result
    };
    let now = result.revised(revised.as_ref());
    let holds = test.programs[sampler].holds;
    let mut verdict = assert_all(view, &scope.assertions, holds, &now);
    let revised = verdict.revised.take().or(revised);
    let now = result.revised(revised.as_ref());
    if test.plan.reads_previous {
        let mut seen = now.seen(view);
        seen.success = verdict.success;
        seen.asserted.clone_from(&verdict.asserted);
        view.thread.keep_previous(seen);
    }
    for id in &test.programs[sampler].listeners {
        let listener = &test.plan.listeners[*id as usize];
        if let ListenerKind::Script(script) = &listener.kind {
            let mut seen = now.seen(view);
            seen.success = verdict.success;
            seen.asserted.clone_from(&verdict.asserted);
            let owner = (ScriptOwner::Listener, &listener.name);
            run_script(view, owner, script, Some(seen));
        }
    }
    // Nobody hears of the result of a user whom an error ended.
    let unheard = view.thread.has_died().then(|| ScriptSample {
        is_ignored: true,
        ..now.seen(view)
    });
    let revised = unheard.or(revised);
    Some(Examined { verdict, revised })
}

/// The sub-results with those of debug postprocessors; `None`: no script asks for them, or there are none.
fn shown(view: &View<'_>, sub_results: &SubResults, scope: &Scope) -> Option<Vec<SubResult>> {
    let plan = &view.test().plan;
    let mut posts = scope.post_processors.iter();
    let shows = |id: &Id| {
        matches!(
            plan.post_processors[*id as usize].kind,
            PostKind::Debug { .. }
        )
    };
    (plan.reads_inner && posts.any(shows)).then(|| sub_results.direct())
}

/// A result as postprocessors left it.
struct Processed {
    /// The result as a script changed it.
    revised: Option<ScriptSample>,
    /// True if a postprocessor failed in a way that loses the sample.
    is_lost: bool,
}

/// A sample whose postprocessor failed: nobody judges it or hears of it.
fn lost(view: &View<'_>, result: &SampleResult<'_>) -> Examined {
    Examined {
        verdict: Verdict {
            success: true,
            ..Verdict::default()
        },
        revised: Some(ScriptSample {
            is_ignored: true,
            ..result.seen(view)
        }),
    }
}

/// Runs the postprocessors, those behind one that waited for a database; gives the result as a script changed
/// it. `None`: one of them waits.
fn post_process(
    view: &mut View<'_>,
    sub_results: &mut SubResults,
    result: &SampleResult<'_>,
    waited: Option<Box<Examining>>,
) -> Option<Processed> {
    let plan = &view.test().plan;
    let scope = &plan.samplers[view.thread.sampler() as usize].scope;
    let fetched_bytes = match &waited {
        Some(waited) => waited.fetched_bytes,
        None => sub_results.sums().0,
    };
    let (first, mut revised) = match waited {
        Some(waited) => (waited.post + 1, waited.revised),
        None => (0, None),
    };
    let mut shown: Option<Vec<SubResult>> = None;
    for (index, id) in scope.post_processors.iter().enumerate().skip(first) {
        if view.thread.has_died() {
            break;
        }
        let post = &plan.post_processors[*id as usize];
        let result = SampleResult {
            inner: shown.as_deref().unwrap_or(result.inner),
            ..*result
        };
        let now = result.revised(revised.as_ref());
        match &post.kind {
            PostKind::Script(script) => {
                let seen = now.seen(view);
                let owner = (ScriptOwner::PostProcessor, &post.name);
                let done = run_script(view, owner, script, Some(seen));
                if let Some(seen) = &done.seen {
                    view.thread.set_label(&seen.label);
                }
                revised = done.seen;
            }
            PostKind::Debug { variables, .. } => {
                sub_results.show(debug_result(view, variables));
                shown = self::shown(view, sub_results, scope);
            }
            PostKind::Database(query) => match databases::begin(view, &post.name, query) {
                Ok(call) => {
                    view.thread.examining = Some(Box::new(Examining {
                        post: index,
                        call,
                        revised,
                        fetched_bytes,
                    }));
                    return None;
                }
                Err(thrown) => databases::tell(view, &post.name, &thrown),
            },
            PostKind::Json { fits: false, .. } => {
                return Some(Processed {
                    revised,
                    is_lost: true,
                });
            }
            kind => extract(view, kind, &now),
        }
    }
    Some(Processed {
        revised,
        is_lost: false,
    })
}

/// Sets the variables of the postprocessor that waited for a database.
pub(super) fn answered(view: &mut View<'_>, answer: &DatabaseAnswer) {
    let Some(examining) = view.thread.examining.take() else {
        return;
    };
    let test = view.test();
    let scope = &test.plan.samplers[view.thread.sampler() as usize].scope;
    let id = scope.post_processors[examining.post];
    let name = &test.plan.post_processors[id as usize].name;
    databases::processed(view, (name, &examining.call), answer);
    view.thread.examining = Some(examining);
}

/// The sub-result of a debug postprocessor.
fn debug_result(view: &mut View<'_>, variables: &Value<bool>) -> SubResult {
    let now_ns = view.now_ns();
    let details = Details {
        query: debug_request(view, variables),
        response: debug_text(view, variables),
        ..Details::default()
    };
    SubResult {
        code: "200".into(),
        message: "OK".into(),
        url: "null".into(),
        encoding: "UTF-8".into(),
        data_type: "text",
        success: true,
        bytes: details.response.len() as u64,
        details: Some(Box::new(details)),
        start_ns: now_ns,
        sent_ns: now_ns,
        end_ns: now_ns,
        ..SubResult::default()
    }
}
