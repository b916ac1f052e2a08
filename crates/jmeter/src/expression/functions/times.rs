//! Functions for times and dates.

use jiff::tz::TimeZone;

use super::FunctionCall;
use crate::expression::{FunctionFault, time as pattern};

/// Milliseconds of a day.
const DAY_MS: i64 = 86_400_000;

/// `__time([format], [variable])`: milliseconds since 1970 without a format; `/n` divides them;
/// `YMD`, `HMS`, `YMDHMS` and `USER1` … name patterns in `time.<name>`.
pub(super) fn time(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    let now_ms = frame.world.now_ms();
    let format = frame.argument(0)?;
    let said = match format.strip_prefix('/').and_then(|n| n.parse().ok()) {
        _ if format.is_empty() => now_ms.to_string(),
        Some(0_i64) => return Err(frame.thrown("java.lang.ArithmeticException", "/ by zero")),
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

/// `__timeShift(format, [date], shift, [locale], [variable])`: milliseconds without a format; of
/// four arguments the last is the variable. A date or shift that is not valid is logged and not
/// used.
pub(super) fn time_shift(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    let format = frame.word(0)?;
    let date = frame.word(1)?;
    let now_ms = frame.world.now_ms();
    let from_ms = match (date.as_str(), format.is_empty()) {
        ("", _) => Ok(now_ms),
        (date, true) => date
            .parse()
            .map_err(|_| format!("`{date}` is not a number of milliseconds")),
        (date, false) => pattern::read(&format, date, Some(now_ms), frame.world.time_zone()),
    };
    let from_ms = from_ms.unwrap_or_else(|why| {
        frame.note(why);
        now_ms
    });
    let shift = frame.word(2)?;
    let shift_ms = match shift.is_empty() {
        true => Ok(0),
        false => pattern::duration_ms(&shift),
    };
    let shift_ms = shift_ms.unwrap_or_else(|why| {
        frame.note(why);
        0
    });
    let at_ms = from_ms.saturating_add(shift_ms);
    let said = match format.is_empty() {
        true => at_ms.to_string(),
        false => written(frame, &format, at_ms)?,
    };
    let variable = frame.len() - 1;
    if variable == 4 {
        english_only(frame, 3)?;
    }
    frame.give(variable, &said)
}

/// `__dateTimeConvert(date, format, target format, [variable])`: from milliseconds without a format.
pub(super) fn convert(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    let (date, format) = (frame.argument(0)?, frame.argument(1)?);
    let target = frame.argument(2)?;
    let at_ms = match format.is_empty() {
        true => date
            .parse()
            .map_err(|_| format!("`{date}` is not a number of milliseconds")),
        false => pattern::lacks(&target, &format).and_then(|()| {
            let zone = frame.world.time_zone();
            pattern::read(&format, &date, Some(frame.world.now_ms()), zone)
        }),
    };
    let at_ms = at_ms.map_err(|why| frame.fault(why))?;
    let said = written(frame, &target, at_ms)?;
    frame.give(3, &said)
}

/// `__RandomDate(format, [start], end, [locale], [variable])`: a day from the start, today without
/// one, to the day before the end.
pub(super) fn random_date(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    let format = match frame.word(0)? {
        empty if empty.is_empty() => "yyyy-MM-dd".to_owned(),
        format => format,
    };
    english_only(frame, 3)?;
    let now_ms = frame.world.now_ms();
    let day = |frame: &mut FunctionCall<'_>, index: usize| {
        let date = frame.word(index)?;
        let at_ms = match date.is_empty() && index == 1 {
            true => Ok(pattern::local_ms(now_ms, frame.world.time_zone())),
            false => pattern::read(&format, &date, Some(now_ms), &TimeZone::UTC),
        };
        let at_ms = at_ms.unwrap_or_else(|why| {
            frame.note(why);
            0
        });
        Ok(at_ms.div_euclid(DAY_MS))
    };
    let (start, end) = (day(frame, 1)?, day(frame, 2)?);
    if end < start {
        return Err(frame.fault("the end is before the start"));
    }
    if end == start {
        let class = "java.lang.IllegalArgumentException";
        return Err(frame.thrown(class, "bound must be greater than origin"));
    }
    let drawn = frame.random().between(start, end - 1);
    let far = || frame.fault("the date is outside the years -9999 to 9999");
    let at = pattern::moment(drawn * DAY_MS, &TimeZone::UTC).ok_or_else(far)?;
    let mut said = String::new();
    pattern::write(&format, &at, &mut said).map_err(|why| frame.fault(why))?;
    frame.give(4, &said)
}

/// Fails for a locale in whose words dates are not written.
fn english_only(frame: &mut FunctionCall<'_>, index: usize) -> Result<(), FunctionFault> {
    let locale = frame.word(index)?;
    match locale.is_empty() || locale.starts_with("en") {
        true => Ok(()),
        false => Err(frame.fault(format!("the locale `{locale}` is not supported"))),
    }
}

fn written(frame: &FunctionCall<'_>, format: &str, ms: i64) -> Result<String, FunctionFault> {
    let far = || frame.fault(format!("`{ms}` is outside the years -9999 to 9999"));
    let at = pattern::moment(ms, frame.world.time_zone()).ok_or_else(far)?;
    let mut out = String::new();
    pattern::write(format, &at, &mut out).map_err(|why| frame.fault(why))?;
    Ok(out)
}
