//! Expressions in other languages.

use super::Frame;
use crate::expression::{Fault, condition};

/// `__jexl3(expression, [variable])`: comparisons, arithmetic and logic; what else the language
/// has is refused.
pub(super) fn jexl(frame: &mut Frame<'_>) -> Result<(), Fault> {
    let text = frame.argument(0)?;
    let value = condition::evaluate(&text, frame.world).map_err(|why| frame.fault(why))?;
    frame.give(1, &value.to_string())
}

/// Functions that need the script engine. Reading a plan reports them, so that this is reached
/// only where the operator chose to go on without.
pub(super) fn not_here(frame: &mut Frame<'_>) -> Result<(), Fault> {
    Err(frame.fault("needs the script engine"))
}
