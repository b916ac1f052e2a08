//! Functions with scripts or conditions, and functions that log.

use super::FunctionCall;
use crate::expression::jexl::{self, Dialect};
use crate::expression::{Fact, FunctionFault, World};
use crate::script::{self, Bindings, Code, LogLevel, ScriptLanguage};

/// `__jexl3(expression, [variable])` and `__jexl2`: the value of a script in JEXL.
pub(super) fn jexl(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    let text = frame.argument(0)?;
    let dialect = Dialect::of(frame.call.function.name).unwrap_or(Dialect::Jexl3);
    let value = jexl::evaluate(&text, dialect, frame.world).map_err(|why| frame.fault(why))?;
    frame.give(1, &value)
}

/// True if a condition in JavaScript holds. Fails if it is neither true nor false.
///
/// As in JMeter, a condition has none of the objects that scripts have: one that uses them fails.
pub(crate) fn java_script_holds(text: &str, world: &mut dyn World) -> Result<bool, String> {
    let bindings = Bindings {
        lent: world.lend(),
        ..Bindings::default()
    };
    // Texts have these methods in JMeter's engine.
    const TEXTS: &str = "String.prototype.equals = function (other) { return String(this) === String(other) }; \
        String.prototype.equalsIgnoreCase = function (other) { return String(this).toLowerCase() === String(other).toLowerCase() };";
    // In the global scope, where none of JMeter's objects has a name.
    let alone = format!("{TEXTS} (0, eval)({})", serde_json::json!(text));
    let (value, after) = script::evaluate(alone.as_str(), bindings);
    world.take_back(after.lent);
    let told = |why: String| format!("condition `{text}`: {why}");
    match value.map_err(|why| told(why.to_string()))?.as_deref() {
        Some("true") => Ok(true),
        Some("false") => Ok(false),
        other => Err(told(format!(
            "`{}` is neither true nor false",
            other.unwrap_or("undefined")
        ))),
    }
}

/// `__javaScript(script, [variable])`: the value of a script.
pub(super) fn java_script(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    let value = run(frame, ScriptLanguage::JavaScript, "JavaScript")?;
    frame.give(1, value.as_deref().unwrap_or("null"))
}

/// `__groovy(script, [variable])`: the value of a script.
pub(super) fn groovy(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    let value = run(frame, ScriptLanguage::Groovy, "Groovy")?;
    frame.give(1, value.as_deref().unwrap_or_default())
}

/// `__BeanShell(script, [variable])`: the value of a script.
pub(super) fn beanshell(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    let value = run(frame, ScriptLanguage::BeanShell, "BeanShell")?;
    frame.give(1, value.as_deref().unwrap_or_default())
}

/// Executes the script in the first argument; `class` names the logger.
fn run(
    frame: &mut FunctionCall<'_>,
    language: ScriptLanguage,
    class: &str,
) -> Result<Option<String>, FunctionFault> {
    let text = frame.argument(0)?;
    let bindings = Bindings {
        lent: frame.world.lend(),
        ..Bindings::default()
    };
    let code = Code {
        language,
        text: &text,
    };
    let (value, after) = script::evaluate(code, bindings);
    frame.world.take_back(after.lent);
    frame.world.fulfil(after.wishes);
    for line in &after.logged {
        let logger = format!("org.apache.jmeter.functions.{class}");
        frame.world.log(line.level, &logger, &line.text);
    }
    value.map_err(|why| frame.fault(why.to_string()))
}

/// `__log(text, [level], [error], [comment])`: logs the text and gives it.
pub(super) fn log(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    let text = frame.argument(0)?.into_owned();
    let comment = frame.argument(3)?.into_owned();
    say(frame, "LogFunction", &text, &comment)?;
    frame.out.push_str(&text);
    Ok(())
}

/// `__logn(text, [level], [error])`: logs the text and gives nothing.
pub(super) fn log_silently(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    let text = frame.argument(0)?.into_owned();
    say(frame, "LogFunction2", &text, "")
}

/// Logs as these functions do. What they would print is logged, too.
fn say(
    frame: &mut FunctionCall<'_>,
    class: &str,
    text: &str,
    comment: &str,
) -> Result<(), FunctionFault> {
    let level = frame.word(1)?;
    let error = frame.argument(2)?;
    let Some(level) = (match level.to_ascii_uppercase().as_str() {
        "" | "OUT" => Some(LogLevel::Info),
        "ERR" => Some(LogLevel::Error),
        word => LogLevel::named(word),
    }) else {
        return Ok(());
    };
    let between = match comment {
        "" => " : ",
        comment => comment,
    };
    let mut said = String::new();
    frame.world.write_fact(Fact::UserName, &mut said);
    said.extend([" ", between, " ", text]);
    if !error.is_empty() {
        said = format!("{said} {error}");
    }
    let logger = format!("org.apache.jmeter.functions.{class}");
    frame.world.log(level, &logger, &said);
    Ok(())
}
