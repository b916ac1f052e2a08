//! How is a script carried out, and bounded?

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use rquickjs::context::EvalOptions;
use rquickjs::{CatchResultExt, Context, Ctx, Function, Persistent, Runtime};
use sokudo_script::{Bounds, LanguageWithDate, Thrown, engine};

use super::Bindings;

/// What scripts can call.
const PRELUDE: &str = include_str!("jmeter.js");
/// Name under which the engine shows the script's own lines in a stack.
const OWN_LINES: &str = "<input>:";
/// What one thread's engine may take.
const BOUNDS: Bounds = Bounds {
    memory_bytes: 64 << 20,
    stack_bytes: 512 << 10,
};
/// Looks of the engine at whether a script goes on for too long: each after about ten thousand
/// steps. Counted, not timed, so that a script ends at the same place in every run.
const MOST_LOOKS: u32 = 2_000;
/// Longest script, bytes.
const MOST_SCRIPT_BYTES: usize = 1 << 20;

/// Why a script did not come to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Line of the script, from 1; 0 when it is not known.
    pub line: u32,
    /// What happened.
    pub says: String,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            0 => f.write_str(&self.says),
            line => write!(f, "line {line}: {}", self.says),
        }
    }
}

impl std::error::Error for Fault {}

/// One thread's engine.
struct Engine {
    // Values of the context go before it, and it before the runtime.
    evaluate: Persistent<Function<'static>>,
    context: Context,
    _runtime: Runtime,
    bindings: Rc<RefCell<Bindings>>,
    looks: Rc<Cell<u32>>,
}

thread_local! {
    static ENGINE: RefCell<Option<Engine>> = const { RefCell::new(None) };
}

/// Carries a script out: its value as a text, `None` for nothing, and what it changed.
pub fn evaluate(script: &str, bindings: Bindings) -> (Result<Option<String>, Fault>, Bindings) {
    if script.len() > MOST_SCRIPT_BYTES {
        return (Err(fault("the script is longer than 1 MiB")), bindings);
    }
    ENGINE.with_borrow_mut(|engine| {
        if engine.is_none() {
            match Engine::new() {
                Ok(made) => *engine = Some(made),
                Err(error) => return (Err(fault(&format!("no script engine: {error}"))), bindings),
            }
        }
        let Some(ready) = engine else {
            return (Err(fault("no script engine")), bindings);
        };
        let (outcome, bindings, is_spent) = ready.evaluate(script, bindings);
        if is_spent {
            // What filled its memory stays in it: the next script begins in a new one.
            *engine = None;
        }
        (outcome, bindings)
    })
}

/// Why a text is no script; `None`: it is one. Nothing is carried out.
pub fn flaw(script: &str) -> Option<Fault> {
    let check = "(function(source) { new Function(source); })";
    let engine = Engine::new().ok()?;
    engine.context.with(|ctx| {
        let check: Function<'_> = ctx.eval(check).ok()?;
        let checked: rquickjs::Result<()> = check.call((script,));
        let error = checked.catch(&ctx).err()?;
        let mut told = told(Thrown::of(&error, OWN_LINES));
        // The function around it has two lines of its own.
        told.line = told.line.saturating_sub(2);
        Some(told)
    })
}

fn fault(says: &str) -> Fault {
    Fault {
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
    ) -> (Result<Option<String>, Fault>, Bindings, bool) {
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
            true => Fault {
                line: thrown.line,
                says: "the script does not end".into(),
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
    // Plans are written for engines that make a global of a name that nobody declared.
    options.strict = false;
    let make: Function<'_> = ctx.eval_with_options(PRELUDE, options)?;
    let evaluate: Function<'_> = make.call((host,))?;
    Ok(Persistent::save(ctx, evaluate))
}

/// What the engine says, with the name of the error where that says more.
fn told(thrown: Thrown) -> Fault {
    Fault {
        line: thrown.line,
        says: match thrown.name.as_str() {
            "" | "Error" => thrown.message,
            name => format!("{name}: {}", thrown.message),
        },
    }
}
