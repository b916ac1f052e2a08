//! Carries out a JavaScript scenario.
//!
//! ```text
//! FILE.js ─► engine (no clock, no files, no network, bounded memory and computing time)
//!               │ host("phase", JSON)                        ▲ JSON
//!               ▼                                            │
//!            Phase ─► Executor ─► PhaseRecord ─► what a script sees of it
//! ```
//!
//! What scripts can call is written in `script/sokudo.js`, on top of a single function that takes and
//! gives JSON. Everything that crosses it is journalled: a record shows which decisions rested on which
//! numbers.

mod calls;
mod rehearse;
mod seen;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rquickjs::{CatchResultExt, Context, Ctx, Function, Module};
use sokudo_i18n::english;
use sokudo_model::Text;
use sokudo_script::apart::{self, Caller, NoEnd, Watch};
use sokudo_script::{Bounds, Language, Thrown, engine};

use crate::execute::Executor;
use crate::mistake::placed;
use calls::Calls;
pub use rehearse::{Open, Rehearsed, rehearse, syntax};

/// Definitions of the functions that scripts can call.
const PRELUDE: &str = include_str!("script/sokudo.js");
/// The same for editors.
pub const TYPES: &str = include_str!("../sokudo.d.ts");
/// Name under which the engine shows the script's own lines in a stack.
const OWN_LINES: &str = "eval_script:";
/// Stack of the engine, bytes.
const STACK_BYTES: usize = 1 << 20;

/// Limits of a script.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Memory of the engine, bytes.
    pub memory_bytes: usize,
    /// Time that the script computes itself, nanoseconds; what it waits for is not counted.
    pub compute_ns: u64,
    /// Journal, bytes; what comes later is left out.
    pub journal_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory_bytes: 512 << 20,
            compute_ns: 30_000_000_000,
            journal_bytes: 16 << 20,
        }
    }
}

/// Access of a script to the outside.
pub struct Outside {
    /// Monotonic time, nanoseconds: only to bound how long a script computes.
    pub now_ns: Box<dyn Fn() -> u64 + Send + Sync>,
    /// True when the operator wants the run to end. The script ends within 2 s, whatever it does.
    pub stop: Box<dyn Fn() -> bool + Send + Sync>,
    /// Seed of the run.
    pub seed: u64,
    /// Names and values that the operator set.
    pub parameters: Vec<(String, String)>,
}

/// The error that ended a script.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{}", english(&self.text()))]
pub struct ScriptError {
    /// Line of the script, from 1; 0 when it is not known.
    pub line: u32,
    /// Column, from 1; 0 when it is not known.
    pub column: u32,
    /// The failure.
    pub says: Text,
    /// Remedy for the operator.
    pub hint: Option<Text>,
    /// True when the operator wanted it.
    pub interrupted: bool,
    /// True when a limit on time or memory ended it.
    pub is_cut_off: bool,
}

impl ScriptError {
    /// The failure with its place.
    pub fn text(&self) -> Text {
        placed(self.line, self.column, self.says.clone())
    }

    fn new(says: impl Into<Text>, hint: impl Into<Text>) -> Self {
        Self {
            line: 0,
            column: 0,
            says: says.into(),
            hint: Some(hint.into()),
            interrupted: false,
            is_cut_off: false,
        }
    }
}

/// Result of a script.
pub struct Ended<E> {
    /// The executor.
    pub executor: E,
    /// A line of JSON for each call of the script: the request and the answer.
    pub journal: String,
    /// Whether it came to its end.
    pub outcome: Result<(), ScriptError>,
}

/// Time that the script has computed, outside of calls.
struct Meter {
    now_ns: Box<dyn Fn() -> u64 + Send + Sync>,
    stop: Box<dyn Fn() -> bool + Send + Sync>,
    left_ns: AtomicU64,
    since_ns: AtomicU64,
    over: AtomicBool,
    stopped: AtomicBool,
}

impl Meter {
    fn new(
        now_ns: Box<dyn Fn() -> u64 + Send + Sync>,
        stop: Box<dyn Fn() -> bool + Send + Sync>,
        limits: Limits,
    ) -> Self {
        Self {
            since_ns: AtomicU64::new(now_ns()),
            now_ns,
            stop,
            left_ns: AtomicU64::new(limits.compute_ns),
            over: AtomicBool::new(false),
            stopped: AtomicBool::new(false),
        }
    }

    fn used_ns(&self) -> u64 {
        (self.now_ns)().saturating_sub(self.since_ns.load(Ordering::Acquire))
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }

    fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }
}

impl Watch for Meter {
    fn pause(&self) {
        let used = self.used_ns();
        let left = self.left_ns.load(Ordering::Acquire).saturating_sub(used);
        self.left_ns.store(left, Ordering::Release);
    }

    fn resume(&self) {
        self.since_ns.store((self.now_ns)(), Ordering::Release);
    }

    fn ends(&self) -> bool {
        if self.used_ns() > self.left_ns.load(Ordering::Acquire) {
            self.over.store(true, Ordering::Release);
        }
        if (self.stop)() {
            self.stopped.store(true, Ordering::Release);
        }
        self.is_over() || self.is_stopped()
    }
}

/// Carries out a script.
pub fn run<E: Executor>(source: &str, executor: E, outside: Outside, limits: Limits) -> Ended<E> {
    let meter = Arc::new(Meter::new(outside.now_ns, outside.stop, limits));
    let mut calls = Calls::new(
        executor,
        outside.seed,
        outside.parameters,
        limits.journal_bytes,
    );
    let outcome = in_engine(source, &mut calls, &meter, limits);
    let outcome = outcome.and_then(|()| no_unasked(&calls));
    let journal = calls.take_journal();
    Ended {
        executor: calls.into_executor(),
        journal,
        outcome,
    }
}

/// Errors: parameters were set that the script never asked for.
fn no_unasked<E: Executor>(calls: &Calls<E>) -> Result<(), ScriptError> {
    match calls.unasked().as_slice() {
        [] => Ok(()),
        names => Err(ScriptError::new(
            Text::new("error-scenario-parameter").word("names", names.join("`, `")),
            Text::new("error-scenario-parameter-hint"),
        )),
    }
}

fn in_engine<E: Executor>(
    source: &str,
    calls: &mut Calls<E>,
    meter: &Arc<Meter>,
    limits: Limits,
) -> Result<(), ScriptError> {
    let (source, watching) = (source.to_owned(), Arc::clone(meter));
    let script = move |caller| evaluate(source, caller, watching, limits.memory_bytes);
    let answer = |name: &str, argument: &str| calls.answer(name, argument);
    let outcome = match apart::execute(&**meter, STACK_BYTES, script, answer) {
        Ok(outcome) => outcome,
        // The meter says why it had to end.
        Err(NoEnd::LeftBehind) => Err(Stopped::Thrown(Thrown::default())),
        Err(NoEnd::NoThread(why)) => Err(no_engine(why)),
    };
    let failed = calls.take_failure();
    outcome.map_err(|stopped| explained(stopped, meter, failed, limits))
}

/// Evaluates a script in an engine of its own.
fn evaluate(
    source: String,
    caller: Caller,
    meter: Arc<Meter>,
    memory_bytes: usize,
) -> Result<(), Stopped> {
    let bounds = Bounds {
        memory_bytes,
        stack_bytes: STACK_BYTES,
    };
    let context = engine(bounds, move || meter.ends())
        .and_then(|runtime| Context::custom::<Language>(&runtime))
        .map_err(no_engine)?;
    context.with(|ctx| {
        prepare(&ctx, caller).map_err(no_engine)?;
        let run: rquickjs::Result<()> = ctx.eval(source);
        run.catch(&ctx)
            .map_err(|error| Stopped::Thrown(Thrown::of(&error, OWN_LINES)))
    })
}

/// Reason why a script did not come to its end.
enum Stopped {
    /// There is no engine for it.
    NoEngine(String),
    /// By an error of the engine, of the script, or of a call.
    Thrown(Thrown),
}

fn no_engine(why: impl std::fmt::Display) -> Stopped {
    Stopped::NoEngine(why.to_string())
}

fn prepare(ctx: &Ctx<'_>, caller: Caller) -> rquickjs::Result<()> {
    let host = move |name: String, argument: String| -> rquickjs::Result<String> {
        caller.call(name, argument).ok_or(rquickjs::Error::Unknown)
    };
    ctx.globals()
        .set("__host", Function::new(ctx.clone(), host)?)?;
    Module::evaluate(ctx.clone(), "sokudo", PRELUDE)?.finish::<()>()
}

/// Puts the true reason in place of the engine's.
fn explained(
    stopped: Stopped,
    meter: &Meter,
    failed: Option<crate::Failed>,
    limits: Limits,
) -> ScriptError {
    let is_full = matches!(&stopped, Stopped::Thrown(thrown) if thrown.is_out_of_memory());
    let is_wanted = failed.as_ref().is_some_and(|failed| failed.interrupted);
    let mut error = match stopped {
        Stopped::NoEngine(why) => ScriptError::new(
            Text::new("error-scenario-engine").word("why", why),
            Text::new("error-scenario-engine-hint"),
        ),
        Stopped::Thrown(thrown) => thrown_by(thrown, failed),
    };
    error.is_cut_off = meter.is_over() || is_full;
    if meter.is_over() {
        let limit = std::time::Duration::from_nanos(limits.compute_ns);
        error.says = Text::new("error-scenario-computed").word("limit", format!("{limit:?}"));
        error.hint = Some(Text::new("error-scenario-computed-hint"));
    } else if is_full {
        let mib = limits.memory_bytes >> 20;
        error.says = Text::new("error-scenario-memory").with("mib", mib);
        error.hint = Some(Text::new("error-scenario-memory-hint"));
    }
    error.interrupted = meter.is_stopped() || is_wanted;
    if error.interrupted {
        error.says = Text::new("error-interrupted");
        error.hint = None;
    }
    error.hint = error
        .hint
        .or_else(|| Some(Text::new("error-scenario-types-hint")));
    error
}

/// Error of a script: the failure of the last call in messages, anything else in its own words.
fn thrown_by(thrown: Thrown, failed: Option<crate::Failed>) -> ScriptError {
    let of_call = failed.filter(|failed| english(&failed.says) == thrown.message);
    let (says, hint) = match of_call {
        Some(failed) => (failed.says, failed.hint),
        None => (thrown.message.into(), thrown.hint.map(Text::words)),
    };
    ScriptError {
        line: thrown.line,
        column: thrown.column,
        says,
        hint,
        interrupted: false,
        is_cut_off: false,
    }
}

#[cfg(test)]
mod tests;
