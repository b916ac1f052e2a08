//! Functions with scripts or conditions, and functions that log.

use super::FunctionCall;
use crate::expression::{Fact, FunctionFault, condition};
use crate::script::{self, Bindings, LogLevel};

/// `__jexl3(expression, [variable])`: comparisons, arithmetic and logic; other constructs are
/// refused.
pub(super) fn jexl(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    let text = frame.argument(0)?;
    let value = condition::evaluate(&text, frame.world).map_err(|why| frame.fault(why))?;
    frame.give(1, &value.to_string())
}

/// `__javaScript(script, [variable])`: the value of a script.
pub(super) fn java_script(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    let text = frame.argument(0)?;
    let bindings = Bindings {
        lent: frame.world.lend(),
        ..Bindings::default()
    };
    let (value, after) = script::evaluate(&text, bindings);
    frame.world.take_back(after.lent);
    for line in &after.logged {
        let logger = "org.apache.jmeter.functions.JavaScript";
        frame.world.log(line.level, logger, &line.text);
    }
    let value = value.map_err(|why| frame.fault(why.to_string()))?;
    frame.give(1, value.as_deref().unwrap_or("null"))
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

/// Functions in an unsupported script language. They are reported when the plan is read, so that
/// this is reached only if the operator chose to continue.
pub(super) fn not_here(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    Err(frame.fault("only JavaScript is supported"))
}
