//! Execution of scripts with bounded time and memory.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use rquickjs::context::EvalOptions;
use rquickjs::{CatchResultExt, Context, Ctx, Function, Persistent, Runtime};
use sokudo_script::{Bounds, LanguageWithDate, Thrown, engine};

use super::Bindings;

/// The objects that scripts can use.
const PRELUDE: &str = include_str!("jmeter.js");
/// File name of the script in stack traces.
const OWN_LINES: &str = "<input>:";
/// Most memory of one thread's engine, bytes.
const BOUNDS: Bounds = Bounds {
    memory_bytes: 64 << 20,
    stack_bytes: 512 << 10,
};
/// Most interrupts of one script; the engine interrupts about every ten thousand steps. Counted,
/// not timed, so that a script ends at the same step in every run.
const MOST_LOOKS: u32 = 2_000;
/// Longest script, bytes.
const MOST_SCRIPT_BYTES: usize = 1 << 20;

/// Reason why a script failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptFault {
    /// Line of the script, from 1; 0: unknown.
    pub line: u32,
    /// Message.
    pub says: String,
}

impl std::fmt::Display for ScriptFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            0 => f.write_str(&self.says),
            line => write!(f, "line {line}: {}", self.says),
        }
    }
}

impl std::error::Error for ScriptFault {}

/// One thread's engine.
struct Engine {
    // Fields are dropped in this order: values of the context, the context, the runtime.
    evaluate: Persistent<Function<'static>>,
    context: Context,
    _runtime: Runtime,
    bindings: Rc<RefCell<Bindings>>,
    looks: Rc<Cell<u32>>,
}

thread_local! {
    static ENGINE: RefCell<Option<Engine>> = const { RefCell::new(None) };
}

/// Executes a script: its value as a text, `None` for no value, and the changed bindings.
pub fn evaluate(
    script: &str,
    bindings: Bindings,
) -> (Result<Option<String>, ScriptFault>, Bindings) {
    if script.len() > MOST_SCRIPT_BYTES {
        return (Err(fault("the script is longer than 1 MiB")), bindings);
    }
    ENGINE.with_borrow_mut(|engine| {
        if engine.is_none() {
            match Engine::new() {
                Ok(made) => *engine = Some(made),
                Err(error) => {
                    return (
                        Err(fault(&format!(
                            "the script engine cannot be started: {error}"
                        ))),
                        bindings,
                    );
                }
            }
        }
        let Some(ready) = engine else {
            return (Err(fault("the script engine cannot be started")), bindings);
        };
        let (outcome, bindings, is_spent) = ready.evaluate(script, bindings);
        if is_spent {
            // Memory that the script filled stays in use, so the next one gets a new engine.
            *engine = None;
        }
        (outcome, bindings)
    })
}

/// The syntax error of a script; `None`: it has none. Nothing is executed.
pub fn flaw(script: &str) -> Option<ScriptFault> {
    let check = "(function(source) { new Function(source); })";
    let engine = Engine::new().ok()?;
    engine.context.with(|ctx| {
        let check: Function<'_> = ctx.eval(check).ok()?;
        let checked: rquickjs::Result<()> = check.call((script,));
        let error = checked.catch(&ctx).err()?;
        let mut told = told(Thrown::of(&error, OWN_LINES));
        // The function around the script adds two lines.
        told.line = told.line.saturating_sub(2);
        Some(told)
    })
}

fn fault(says: &str) -> ScriptFault {
    ScriptFault {
        line: 0,
        says: says.into(),
    }
}

impl Engine {
    fn new() -> rquickjs::Result<Self> {
        let looks = Rc::new(Cell::new(0));
        let counted = Rc::clone(&looks);
        let runtime = engine(BOUNDS, move || {
            counted.set(counted.get() + 1);
            counted.get() > MOST_LOOKS
        })?;
        let context = Context::custom::<LanguageWithDate>(&runtime)?;
        let bindings = Rc::new(RefCell::new(Bindings::default()));
        let asked = Rc::clone(&bindings);
        let evaluate = context.with(|ctx| prepare(&ctx, asked))?;
        Ok(Self {
            evaluate,
            context,
            _runtime: runtime,
            bindings,
            looks,
        })
    }

    fn evaluate(
        &self,
        script: &str,
        bindings: Bindings,
    ) -> (Result<Option<String>, ScriptFault>, Bindings, bool) {
        self.looks.set(0);
        drop(self.bindings.replace(bindings));
        let outcome = self.context.with(|ctx| {
            let done = self.evaluate.clone().restore(&ctx);
            let done = done.and_then(|run| run.call::<_, Option<String>>((script,)));
            done.catch(&ctx)
                .map_err(|error| Thrown::of(&error, OWN_LINES))
        });
        let endless = self.looks.get() > MOST_LOOKS;
        let full = matches!(&outcome, Err(thrown) if thrown.is_out_of_memory());
        let outcome = outcome.map_err(|thrown| match endless {
            true => ScriptFault {
                line: thrown.line,
                says: "the script does not end: it exceeded its number of steps".into(),
            },
            false => told(thrown),
        });
        (outcome, self.bindings.take(), endless || full)
    }
}

fn prepare(
    ctx: &Ctx<'_>,
    bindings: Rc<RefCell<Bindings>>,
) -> rquickjs::Result<Persistent<Function<'static>>> {
    let host = move |name: String, a: String, b: String| -> Option<String> {
        bindings.borrow_mut().answer(&name, &a, &b)
    };
    let host = Function::new(ctx.clone(), host)?;
    let mut options = EvalOptions::default();
    // Plans are written for engines that make undeclared names global.
    options.strict = false;
    let make: Function<'_> = ctx.eval_with_options(PRELUDE, options)?;
    let evaluate: Function<'_> = make.call((host,))?;
    Ok(Persistent::save(ctx, evaluate))
}

/// The message of the engine, with the name of the error if that adds information.
fn told(thrown: Thrown) -> ScriptFault {
    ScriptFault {
        line: thrown.line,
        says: match thrown.name.as_str() {
            "" | "Error" => thrown.message,
            name => format!("{name}: {}", thrown.message),
        },
    }
}
