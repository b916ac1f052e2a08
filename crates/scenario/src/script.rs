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

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use rquickjs::{CatchResultExt, Context, Ctx, Function, Module};
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
    pub now_ns: Box<dyn Fn() -> u64>,
    /// True when the operator wants the run to end.
    pub stop: Box<dyn Fn() -> bool>,
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
    /// The executor; `None` only when the engine kept hold of it.
    pub executor: Option<E>,
    /// A line of JSON for each call of the script: the request and the answer.
    pub journal: String,
    /// Whether it came to its end.
    pub outcome: Result<(), ScriptError>,
}

/// Time that the script has computed, outside of calls.
struct Meter {
    now_ns: Box<dyn Fn() -> u64>,
    stop: Box<dyn Fn() -> bool>,
    left_ns: Cell<u64>,
    since_ns: Cell<u64>,
    over: Cell<bool>,
    stopped: Cell<bool>,
}

impl Meter {
    fn new(now_ns: Box<dyn Fn() -> u64>, stop: Box<dyn Fn() -> bool>, limits: Limits) -> Self {
        Self {
            since_ns: Cell::new(now_ns()),
            now_ns,
            stop,
            left_ns: Cell::new(limits.compute_ns),
            over: Cell::new(false),
            stopped: Cell::new(false),
        }
    }

    /// The script computes no more: a call begins.
    fn pause(&self) {
        let used = (self.now_ns)().saturating_sub(self.since_ns.get());
        self.left_ns.set(self.left_ns.get().saturating_sub(used));
    }

    /// It computes again.
    fn resume(&self) {
        self.since_ns.set((self.now_ns)());
    }

    /// True when the engine has to end the script.
    fn ends(&self) -> bool {
        let used = (self.now_ns)().saturating_sub(self.since_ns.get());
        if used > self.left_ns.get() {
            self.over.set(true);
        }
        if (self.stop)() {
            self.stopped.set(true);
        }
        self.over.get() || self.stopped.get()
    }
}

/// Carries out a script.
pub fn run<E: Executor + 'static>(
    source: &str,
    executor: E,
    outside: Outside,
    limits: Limits,
) -> Ended<E> {
    let meter = Rc::new(Meter::new(outside.now_ns, outside.stop, limits));
    let calls = Rc::new(RefCell::new(Calls::new(
        executor,
        outside.seed,
        outside.parameters,
        limits.journal_bytes,
    )));
    let outcome = in_engine(source, &calls, &meter, limits);
    let outcome = outcome.and_then(|()| no_unasked(&calls.borrow()));
    let journal = calls.borrow_mut().take_journal();
    let executor = Rc::try_unwrap(calls).ok();
    Ended {
        executor: executor.map(|calls| calls.into_inner().into_executor()),
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

fn in_engine<E: Executor + 'static>(
    source: &str,
    calls: &Rc<RefCell<Calls<E>>>,
    meter: &Rc<Meter>,
    limits: Limits,
) -> Result<(), ScriptError> {
    let bounds = Bounds {
        memory_bytes: limits.memory_bytes,
        stack_bytes: STACK_BYTES,
    };
    let watching = Rc::clone(meter);
    let context = engine(bounds, move || watching.ends())
        .and_then(|runtime| Context::custom::<Language>(&runtime));
    let context =
        context.map_err(|error| ScriptError::new(format!("{NO_ENGINE}: {error}"), FREE_MEMORY))?;
    let outcome = context.with(|ctx| {
        prepare(&ctx, calls, meter).map_err(|error| Thrown {
            message: format!("{NO_ENGINE}: {error}"),
            hint: Some(FREE_MEMORY.into()),
            ..Thrown::default()
        })?;
        let run: rquickjs::Result<()> = ctx.eval(source);
        run.catch(&ctx)
            .map_err(|error| Thrown::of(&error, OWN_LINES))
    });
    let failed = calls.borrow_mut().take_failure();
    outcome.map_err(|thrown| explained(thrown, meter, failed, limits))
}

fn prepare<E: Executor + 'static>(
    ctx: &Ctx<'_>,
    calls: &Rc<RefCell<Calls<E>>>,
    meter: &Rc<Meter>,
) -> rquickjs::Result<()> {
    let (calls, meter) = (Rc::clone(calls), Rc::clone(meter));
    let host = move |name: String, argument: String| -> String {
        meter.pause();
        let answer = calls.borrow_mut().answer(&name, &argument);
        meter.resume();
        answer
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
        is_cut_off: meter.over.get() || is_full,
    };
    if meter.over.get() {
        let limit = std::time::Duration::from_nanos(limits.compute_ns);
        error.says = format!("the script computed for more than {limit:?}");
        error.hint = Some("look for a loop that never ends".into());
    } else if is_full {
        let mib = limits.memory_bytes >> 20;
        error.says = format!("the script used more than {mib} MiB of memory");
        error.hint = Some("keep numbers, not everything that was ever told".into());
    }
    error.interrupted = meter.stopped.get() || failed.is_some_and(|failed| failed.interrupted);
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
