//! Expressions in other languages.

use super::Frame;
use crate::expression::{Fault, condition};
use crate::script::{self, Bindings};

/// `__jexl3(expression, [variable])`: comparisons, arithmetic and logic; what else the language
/// has is refused.
pub(super) fn jexl(frame: &mut Frame<'_>) -> Result<(), Fault> {
    let text = frame.argument(0)?;
    let value = condition::evaluate(&text, frame.world).map_err(|why| frame.fault(why))?;
    frame.give(1, &value.to_string())
}

/// `__javaScript(script, [variable])`: the value of a script.
pub(super) fn java_script(frame: &mut Frame<'_>) -> Result<(), Fault> {
    let text = frame.argument(0)?;
    let bindings = Bindings {
        lent: frame.world.lend(),
        ..Bindings::default()
    };
    let (value, after) = script::evaluate(&text, bindings);
    frame.world.take_back(after.lent);
    let value = value.map_err(|why| frame.fault(why.to_string()))?;
    frame.give(1, value.as_deref().unwrap_or("null"))
}

/// Functions in a script language that is not executed. Reading a plan reports them, so that this is reached
/// only where the operator chose to go on without.
pub(super) fn not_here(frame: &mut Frame<'_>) -> Result<(), Fault> {
    Err(frame.fault("only JavaScript is executed"))
}
