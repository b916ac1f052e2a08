//! Execution of scripts with bounded time and memory.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use rquickjs::context::EvalOptions;
use rquickjs::function::IntoArgs;
use rquickjs::{CatchResultExt, Context, Ctx, Function, Object, Persistent, Runtime};
use serde_json::{Value as Json, json};
use sokudo_groovy::{LIBRARY, RUNTIME, Refusal, translate};
use sokudo_script::{Bounds, LanguageWithDate, Thrown, engine};

use super::{Bindings, LentFiles, ScriptLanguage, ScriptOwner};

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
/// Most translated scripts of one engine that are kept.
const MOST_TRANSLATED: usize = 256;

/// A script and its language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Code<'a> {
    /// The language.
    pub language: ScriptLanguage,
    /// The text.
    pub text: &'a str,
}

impl<'a> From<&'a str> for Code<'a> {
    /// JavaScript.
    fn from(text: &'a str) -> Self {
        let language = ScriptLanguage::JavaScript;
        Self { language, text }
    }
}

/// Reason why a script failed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScriptFault {
    /// Line of the script, from 1; 0: unknown.
    pub line: u32,
    /// Message.
    pub says: String,
    /// The exception of Java that it threw, as Java writes it; `None`: it failed in another way.
    pub exception: Option<String>,
    /// True if that is an `Error` of Java, which no element of JMeter catches.
    pub is_error: bool,
}

impl ScriptFault {
    /// As JMeter says it: with the exception of Java, or with its own message where there is none.
    pub fn in_jmeter(&self) -> String {
        let own = self.to_string();
        let says = self.exception.as_ref().unwrap_or(&own);
        format!("javax.script.ScriptException: {says}")
    }
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
    translated: Option<Translated>,
    context: Context,
    _runtime: Runtime,
    bindings: Rc<RefCell<Bindings>>,
    looks: Rc<Cell<u32>>,
}

/// The runtime of translated scripts, and the scripts that it has compiled.
struct Translated {
    runtime: Persistent<Object<'static>>,
    /// Number of each script in the runtime; or why it is not executed.
    known: HashMap<(ScriptLanguage, ScriptOwner, String), Result<u32, ScriptFault>>,
    next: u32,
}

thread_local! {
    static ENGINE: RefCell<Option<Engine>> = const { RefCell::new(None) };
}

/// Executes a script: its value as a text, `None` for no value, and the changed bindings.
pub fn evaluate<'a>(
    script: impl Into<Code<'a>>,
    bindings: Bindings,
) -> (Result<Option<String>, ScriptFault>, Bindings) {
    let Code { language, text } = script.into();
    let script = text;
    if script.len() > MOST_SCRIPT_BYTES {
        return (Err(fault("the script is longer than 1 MiB")), bindings);
    }
    ENGINE.with(|engine| {
        // An expression in a text that a script reads may be a script, too.
        let Ok(mut engine) = engine.try_borrow_mut() else {
            return (Err(fault("a script within a script")), bindings);
        };
        let engine = &mut *engine;
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
        let (outcome, bindings, is_spent) = ready.execute(language, script, bindings);
        if is_spent {
            // Memory that the script filled stays in use, so the next one gets a new engine.
            *engine = None;
        }
        (outcome, bindings)
    })
}

/// The class and text of the value of a translated script that needs files at most, or the exception
/// that it throws, for comparisons with the real languages. Errors: it is refused, or ends with a
/// fault.
pub fn described(
    language: ScriptLanguage,
    text: &str,
    files: &LentFiles,
) -> Result<String, String> {
    let dialect = language.dialect().ok_or("JavaScript is not translated")?;
    let script =
        translate(text, dialect, &[]).map_err(|all| format!("refused: {:?}", all.first()))?;
    of_runtime("describe", (language.word(), script), files.clone())
}

/// Members of the library of translated scripts that nothing carries out: there are none.
pub fn unmade() -> Result<String, String> {
    of_runtime("unmade", (), LentFiles::default())
}

/// The text that a function of the runtime gives.
fn of_runtime<A>(function: &str, arguments: A, files: LentFiles) -> Result<String, String>
where
    A: for<'js> IntoArgs<'js>,
{
    ENGINE.with_borrow_mut(|engine| {
        if engine.is_none() {
            *engine = Some(Engine::new().map_err(|error| error.to_string())?);
        }
        let engine = engine
            .as_mut()
            .ok_or("the script engine cannot be started")?;
        engine.translated().map_err(|error| error.to_string())?;
        let call = |ctx: &Ctx<'_>, engine: &Engine| {
            let done = engine.restored(ctx).and_then(|runtime| {
                let function: Function<'_> = runtime.get(function)?;
                function.call::<_, Option<String>>(arguments)
            });
            done.catch(ctx)
                .map_err(|error| Thrown::of(&error, OWN_LINES))
        };
        let mut bindings = Bindings::default();
        bindings.lent.files = files;
        let (said, ..) = engine.evaluate(bindings, call);
        Ok(said.map_err(|fault| fault.to_string())?.unwrap_or_default())
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
        says: says.into(),
        ..ScriptFault::default()
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
            translated: None,
            context,
            _runtime: runtime,
            bindings,
            looks,
        })
    }

    fn execute(
        &mut self,
        language: ScriptLanguage,
        script: &str,
        bindings: Bindings,
    ) -> (Result<Option<String>, ScriptFault>, Bindings, bool) {
        if language.is_java_script() {
            return self.evaluate(bindings, |ctx, engine| {
                let done = engine.evaluate.clone().restore(ctx);
                let done = done.and_then(|run| run.call::<_, Option<String>>((script,)));
                done.catch(ctx)
                    .map_err(|error| Thrown::of(&error, OWN_LINES))
            });
        }
        let number = match self.number(language, bindings.owner, script) {
            Ok(number) => number,
            Err(fault) => return (Err(fault), bindings, false),
        };
        let begins = begins(&bindings, language).to_string();
        let (outcome, mut bindings, spent) = self.evaluate(bindings, |ctx, engine| {
            let done = engine.restored(ctx).and_then(|runtime| {
                let run: Function<'_> = runtime.get("run")?;
                run.call::<_, String>((language.word(), number, begins))
                    .map(Some)
            });
            done.catch(ctx)
                .map_err(|error| Thrown::of(&error, OWN_LINES))
        });
        let outcome = outcome.map(|said| {
            let said: Json = serde_json::from_str(&said.unwrap_or_default()).unwrap_or_default();
            bindings.take_outputs(&said[1]);
            said[0].as_str().map(str::to_owned)
        });
        (outcome, bindings, spent)
    }

    /// The number of a translated script in the runtime, which compiles it the first time.
    fn number(
        &mut self,
        language: ScriptLanguage,
        owner: ScriptOwner,
        script: &str,
    ) -> Result<u32, ScriptFault> {
        self.translated()
            .map_err(|error| fault(&format!("the script engine cannot be started: {error}")))?;
        let key = (language, owner, script.to_owned());
        if let Some(known) = self.translated.as_ref().and_then(|all| all.known.get(&key)) {
            return known.clone();
        }
        let Some(dialect) = language.dialect() else {
            return Err(fault("the script is not translated"));
        };
        let made = translate(script, dialect, &owner.bindings(language));
        let made = made
            .map_err(|all| refused(&all))
            .and_then(|text| self.compile(&text));
        if let Some(translated) = &mut self.translated {
            translated.known.insert(key, made.clone());
        }
        made
    }

    fn compile(&mut self, text: &str) -> Result<u32, ScriptFault> {
        let Some(translated) = &mut self.translated else {
            return Err(fault("the script engine cannot be started"));
        };
        let is_full = translated.known.len() >= MOST_TRANSLATED;
        if is_full {
            translated.known.clear();
        }
        translated.next += 1;
        let number = translated.next;
        self.context.with(|ctx| {
            let done = self.restored(&ctx).and_then(|runtime| {
                let compile: Function<'_> = runtime.get("compile")?;
                compile.call::<_, ()>((number, text, is_full))
            });
            let caught = done.catch(&ctx);
            caught.map_err(|error| told(Thrown::of(&error, OWN_LINES)))
        })?;
        Ok(number)
    }

    fn restored<'js>(&self, ctx: &Ctx<'js>) -> rquickjs::Result<Object<'js>> {
        match &self.translated {
            Some(translated) => translated.runtime.clone().restore(ctx),
            None => Err(rquickjs::Error::Unknown),
        }
    }

    /// Starts the runtime of translated scripts if it is not there yet.
    fn translated(&mut self) -> rquickjs::Result<()> {
        if self.translated.is_some() {
            return Ok(());
        }
        let asked = Rc::clone(&self.bindings);
        let runtime = self.context.with(|ctx| {
            let host = host_function(&ctx, asked)?;
            let make: Function<'_> = ctx.eval(RUNTIME)?;
            let runtime: Object<'_> = make.call((host, LIBRARY))?;
            Ok::<_, rquickjs::Error>(Persistent::save(&ctx, runtime))
        })?;
        self.translated = Some(Translated {
            runtime,
            known: HashMap::new(),
            next: 0,
        });
        Ok(())
    }

    /// Carries out `act` with the bindings. Gives its outcome, the changed bindings, and whether the
    /// engine is spent.
    fn evaluate(
        &self,
        bindings: Bindings,
        act: impl FnOnce(&Ctx<'_>, &Self) -> Result<Option<String>, Thrown>,
    ) -> (Result<Option<String>, ScriptFault>, Bindings, bool) {
        self.looks.set(0);
        drop(self.bindings.replace(bindings));
        let outcome = self.context.with(|ctx| act(&ctx, self));
        let endless = self.looks.get() > MOST_LOOKS;
        let full = matches!(&outcome, Err(thrown) if thrown.is_out_of_memory());
        let outcome = outcome.map_err(|thrown| match endless {
            true => ScriptFault {
                line: thrown.line,
                says: "the script does not end: it exceeded its number of steps".into(),
                ..ScriptFault::default()
            },
            false => told(thrown),
        });
        let mut bindings = self.bindings.take();
        bindings.turn = None;
        (outcome, bindings, endless || full)
    }
}

fn prepare(
    ctx: &Ctx<'_>,
    bindings: Rc<RefCell<Bindings>>,
) -> rquickjs::Result<Persistent<Function<'static>>> {
    let host = host_function(ctx, bindings)?;
    let mut options = EvalOptions::default();
    // Plans are written for engines that make undeclared names global.
    options.strict = false;
    let make: Function<'_> = ctx.eval_with_options(PRELUDE, options)?;
    let evaluate: Function<'_> = make.call((host,))?;
    Ok(Persistent::save(ctx, evaluate))
}

fn host_function<'js>(
    ctx: &Ctx<'js>,
    bindings: Rc<RefCell<Bindings>>,
) -> rquickjs::Result<Function<'js>> {
    let host = move |name: String, a: String, b: String| -> Option<String> {
        bindings.borrow_mut().answer(&name, &a, &b)
    };
    Function::new(ctx.clone(), host)
}

/// Values that a translated script begins with.
fn begins(bindings: &Bindings, language: ScriptLanguage) -> Json {
    let parameters = bindings.parameters.as_str();
    let arguments: Vec<&str> = parameters
        .split(' ')
        .filter(|word| !word.is_empty())
        .collect();
    let mut all = json!({
        "owner": format!("{:?}", bindings.owner),
        "Label": bindings.label,
        "FileName": bindings.file,
        "Parameters": parameters,
        "args": arguments,
    });
    if language == ScriptLanguage::Groovy {
        return all;
    }
    if let Some(seen) = &bindings.seen {
        for (name, value) in bindings.owner.beanshell_values(seen) {
            all[name] = value;
        }
    }
    all
}

/// Reason of a script's refusal, in one line.
fn refused(all: &[Refusal]) -> ScriptFault {
    let first = all.first();
    ScriptFault {
        line: first.map_or(0, |refusal| refusal.line),
        says: first.map_or_else(String::new, |refusal| {
            format!("`{}` is not supported ({:?})", refusal.what, refusal.kind)
        }),
        ..ScriptFault::default()
    }
}

/// The message of the engine, with the name of the error if that adds information.
fn told(thrown: Thrown) -> ScriptFault {
    // Errors of the engine itself have names without a package.
    let is_javas = thrown.name.contains('.');
    let says = match (thrown.name.as_str(), thrown.message.is_empty()) {
        ("" | "Error", _) => thrown.message,
        (name, true) if is_javas => name.to_owned(),
        (name, _) => format!("{name}: {}", thrown.message),
    };
    ScriptFault {
        line: thrown.line,
        exception: is_javas.then(|| says.clone()),
        is_error: matches!(
            thrown.name.as_str(),
            "java.lang.Error" | "java.lang.AssertionError"
        ),
        says,
    }
}
