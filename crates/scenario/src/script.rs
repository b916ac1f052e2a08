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
use sokudo_script::apart::{self, Caller, NoEnd, Watch};
use sokudo_script::{Bounds, Language, Thrown, engine};

use crate::execute::Executor;
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

/// Message and hint when there is no engine.
const NO_ENGINE: &str = "the script engine cannot be started";
const FREE_MEMORY: &str = "free memory on this host";

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
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{says}", place(*.line, *.column))]
pub struct ScriptError {
    /// Line of the script, from 1; 0 when it is not known.
    pub line: u32,
    /// Column, from 1; 0 when it is not known.
    pub column: u32,
    /// The failure.
    pub says: String,
    /// Remedy for the operator.
    pub hint: Option<String>,
    /// True when the operator wanted it.
    pub interrupted: bool,
    /// True when a limit on time or memory ended it.
    pub is_cut_off: bool,
}

fn place(line: u32, column: u32) -> String {
    match (line, column) {
        (0, _) => String::new(),
        (line, 0) => format!("line {line}: "),
        (line, column) => format!("line {line}, column {column}: "),
    }
}

impl ScriptError {
    fn new(says: impl Into<String>, hint: impl Into<String>) -> Self {
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
            format!("the script has no parameter `{}`", names.join("`, `")),
            "it asks for parameters with `parameter(NAME, USUAL)`; look there for their names",
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
        Err(NoEnd::LeftBehind) => Err(Thrown::default()),
        Err(NoEnd::NoThread(why)) => Err(no_engine(why)),
    };
    let failed = calls.take_failure();
    outcome.map_err(|thrown| explained(thrown, meter, failed, limits))
}

/// Evaluates a script in an engine of its own.
fn evaluate(
    source: String,
    caller: Caller,
    meter: Arc<Meter>,
    memory_bytes: usize,
) -> Result<(), Thrown> {
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
            .map_err(|error| Thrown::of(&error, OWN_LINES))
    })
}

fn no_engine(why: impl std::fmt::Display) -> Thrown {
    Thrown {
        message: format!("{NO_ENGINE}: {why}"),
        hint: Some(FREE_MEMORY.into()),
        ..Thrown::default()
    }
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
    thrown: Thrown,
    meter: &Meter,
    failed: Option<crate::Failed>,
    limits: Limits,
) -> ScriptError {
    let is_full = thrown.is_out_of_memory();
    let mut error = ScriptError {
        line: thrown.line,
        column: thrown.column,
        says: thrown.message,
        hint: thrown.hint,
        interrupted: false,
        is_cut_off: meter.is_over() || is_full,
    };
    if meter.is_over() {
        let limit = std::time::Duration::from_nanos(limits.compute_ns);
        error.says = format!("the script computed for more than {limit:?}");
        error.hint = Some("look for a loop that never ends".into());
    } else if is_full {
        let mib = limits.memory_bytes >> 20;
        error.says = format!("the script used more than {mib} MiB of memory");
        error.hint = Some("keep numbers, not everything that was ever told".into());
    }
    error.interrupted = meter.is_stopped() || failed.is_some_and(|failed| failed.interrupted);
    if error.interrupted {
        error.says = "interrupted".into();
        error.hint = None;
    }
    error.hint = error
        .hint
        .or_else(|| Some("`sokudo scenario types` shows what can be called".into()));
    error
}

#[cfg(test)]
mod tests;
