//! Functions for times and dates.

use super::FunctionCall;
use crate::expression::{FunctionFault, time as pattern};

/// `__time([format], [variable])`: milliseconds since 1970 without a format; `/n` divides them;
/// `YMD`, `HMS`, `YMDHMS` and `USER1` … name patterns in `time.<name>`.
pub(super) fn time(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    let now_ms = frame.world.now_ms();
    let format = frame.argument(0)?;
    let said = match format.strip_prefix('/').and_then(|n| n.parse().ok()) {
        _ if format.is_empty() => now_ms.to_string(),
        Some(0_i64) => return Err(frame.fault("times cannot be divided by 0")),
        Some(divisor) => (now_ms / divisor).to_string(),
        None => {
            let mut named = String::new();
            let is_name = frame
                .world
                .write_property(&format!("time.{format}"), &mut named);
            written(frame, if is_name { &named } else { &format }, now_ms)?
        }
    };
    frame.give(1, &said)
}

/// `__timeShift(format, [date], shift, [locale], [variable])`: milliseconds without a format.
pub(super) fn time_shift(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    let format = frame.argument(0)?;
    let date = frame.argument(1)?;
    let from_ms = match (date.trim(), format.is_empty()) {
        ("", _) => frame.world.now_ms(),
        (date, true) => {
            let wrong = || frame.fault(format!("`{date}` is not a number of milliseconds"));
            date.parse().map_err(|_| wrong())?
        }
        (date, false) => {
            let read = pattern::read(&format, date, frame.world.time_zone());
            read.map_err(|why| frame.fault(why))?
        }
    };
    let shift = frame.word(2)?;
    let shift_ms = match shift.is_empty() {
        true => 0,
        false => pattern::duration_ms(&shift).map_err(|why| frame.fault(why))?,
    };
    let at_ms = from_ms.saturating_add(shift_ms);
    let said = match format.is_empty() {
        true => at_ms.to_string(),
        false => written(frame, &format, at_ms)?,
    };
    frame.give(4, &said)
}

fn written(frame: &FunctionCall<'_>, format: &str, ms: i64) -> Result<String, FunctionFault> {
    let far = || frame.fault(format!("`{ms}` is outside the years -9999 to 9999"));
    let at = pattern::moment(ms, frame.world.time_zone()).ok_or_else(far)?;
    let mut out = String::new();
    pattern::write(format, &at, &mut out).map_err(|why| frame.fault(why))?;
    Ok(out)
}
