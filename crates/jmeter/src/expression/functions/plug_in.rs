//! The functions of the plug-in "Custom JMeter Functions".

use super::{FunctionCall, digest_of};
use crate::expression::jexl;
use crate::expression::{Fact, FunctionFault};
use crate::run::encode;

/// Characters with a meaning in a regular expression.
const PATTERN: &[char] = &[
    '\\', '^', '$', '.', '|', '?', '*', '+', '(', ')', '[', ']', '{', '}',
];

/// Gives the result to a variable, too, whose name these functions take with its blanks.
fn give_as_written(
    frame: &mut FunctionCall<'_>,
    variable: usize,
    result: &str,
) -> Result<(), FunctionFault> {
    if variable < frame.len() {
        let name = frame.argument(variable)?.into_owned();
        if !name.is_empty() {
            frame.world.set_variable(&name, result);
        }
    }
    frame.out.push_str(result);
    Ok(())
}

/// `__base64Decode(text, [variable])`: as UTF-8.
pub(super) fn base64_decode(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    let bytes = encode::from_base64(&frame.argument(0)?);
    give_as_written(frame, 1, &String::from_utf8_lossy(&bytes))
}

/// `__base64Encode(text, [variable])`: of its bytes in UTF-8.
pub(super) fn base64_encode(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    let mut encoded = Vec::new();
    encode::base64(frame.argument(0)?.as_bytes(), &mut encoded);
    give_as_written(frame, 1, &String::from_utf8_lossy(&encoded))
}

/// `__caseFormat(text, [mode], [variable])`.
pub(super) fn case_format(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    let (text, mode) = (frame.argument(0)?, frame.argument(1)?);
    let formatted = match mode.to_uppercase().as_str() {
        "" | "LOWER_CAMEL_CASE" => camel_case(&text, false),
        "UPPER_CAMEL_CASE" => camel_case(&text, true),
        "SNAKE_CASE" | "LOWER_UNDERSCORE" => words(&text).join("_").to_lowercase(),
        "KEBAB_CASE" | "LISP_CASE" | "SPINAL_CASE" | "LOWER_HYPHEN" => {
            words(&text).join("-").to_lowercase()
        }
        "TRAIN_CASE" => words(&text).join("-").to_uppercase(),
        "UPPER_UNDERSCORE" => words(&text).join("_").to_uppercase(),
        _ => {
            // The plug-in logs it and leaves the text unchanged.
            frame.note(format!("`{mode}` is not a mode of it"));
            text.into_owned()
        }
    };
    frame.give(2, &formatted)
}

/// The words of a text as Java's `split` finds them: empty ones at the end are left out, one at the beginning
/// is not.
fn words(text: &str) -> Vec<String> {
    let is_between =
        |c: char| matches!(c, ' ' | '\t' | '\n' | '\u{b}' | '\u{c}' | '\r' | '-' | '_');
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut was_between = false;
    for c in text.chars() {
        match (is_between(c), was_between) {
            (true, false) => words.push(std::mem::take(&mut word)),
            (true, true) => {}
            (false, _) => word.push(c),
        }
        was_between = is_between(c);
    }
    if !was_between {
        words.push(word);
    }
    while words.len() > 1 && words.last().is_some_and(String::is_empty) {
        words.pop();
    }
    words
}

fn camel_case(text: &str, begins_with_capital: bool) -> String {
    let words = words(text).into_iter().enumerate();
    let written = words.map(|(index, word)| {
        let word = word.to_lowercase();
        let mut characters = word.chars();
        match characters.next() {
            Some(first) if index > 0 || begins_with_capital => {
                first.to_uppercase().collect::<String>() + characters.as_str()
            }
            _ => word,
        }
    });
    written.collect()
}

/// `__chooseRandom(value, …, variable)`: one of the values.
pub(super) fn choose_random(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    let last = frame.len() - 1;
    let drawn = frame.random().below(last as u64) as usize;
    let value = frame.argument(drawn)?.into_owned();
    frame.give(last, &value)
}

/// `__doubleSum(number, …, [variable])`: the last argument is a variable unless it is a number.
pub(super) fn double_sum(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    let last = frame.len() - 1;
    let mut sum = 0.0;
    for index in 0..last {
        let text = frame.argument(index)?;
        sum += frame.parsed::<f64>(text.trim())?;
    }
    let word = frame.word(last)?;
    let number = word.parse::<f64>().ok();
    let mut written = String::new();
    let sum = sum + number.unwrap_or_default();
    jexl::write_double(sum, &mut written).map_err(|why| frame.fault(why))?;
    match number {
        Some(_) => {
            frame.out.push_str(&written);
            Ok(())
        }
        None => frame.give(last, &written),
    }
}

/// `__env(name, [variable], [default])`: its own name if the environment does not have it and there is no
/// default.
pub(super) fn env(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    let name = frame.argument(0)?;
    let all = frame.world.environment().map_err(|why| frame.end(&why))?;
    let value = match (all.get(&*name), frame.len()) {
        (Some(value), _) => value.clone(),
        (None, 3..) => frame.word(2)?,
        (None, _) => name.into_owned(),
    };
    give_as_written(frame, 1, &value)
}

/// `__if(actual, expected, value, other value, [variable])`: the value if both are equal.
pub(super) fn choose(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    let is_equal = frame.argument(0)? == frame.argument(1)?;
    let value = frame.argument(if is_equal { 2 } else { 3 })?.into_owned();
    frame.give(4, &value)
}

/// `__isDefined(variable)`: 1 or 0.
pub(super) fn is_defined(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    let name = frame.word(0)?;
    let is = frame.world.variable(&name).is_some();
    frame.out.push(if is { '1' } else { '0' });
    Ok(())
}

/// `__iterationNum()`: number of the user's iteration.
pub(super) fn iteration(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    frame.world.write_fact(Fact::Iteration, frame.out);
    Ok(())
}

/// `__lowercase(text, [variable])`.
pub(super) fn lower_case(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    let changed = frame.argument(0)?.to_lowercase();
    frame.give(1, &changed)
}

/// `__uppercase(text, [variable])`.
pub(super) fn upper_case(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    let changed = frame.argument(0)?.to_uppercase();
    frame.give(1, &changed)
}

/// `__MD5(text, [variable])`: in hexadecimal digits.
pub(super) fn md5(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    use std::fmt::Write as _;
    let mut digits = String::new();
    for byte in digest_of("MD5", frame.argument(0)?.as_bytes()).unwrap_or_default() {
        // Writing into a String cannot fail.
        let _ = write!(digits, "{byte:02x}");
    }
    frame.give(1, &digits)
}

/// `__strLen(text, [variable])`: as Java counts.
pub(super) fn length(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    let units = frame.argument(0)?.encode_utf16().count().to_string();
    frame.give(1, &units)
}

/// `__strReplace(text, part, other part, [variable])`: all occurrences. In some versions of the plug-in the
/// part is a regular expression: what is not the same in all of them is refused.
pub(super) fn replace(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    let (text, part) = (frame.argument(0)?, frame.argument(1)?);
    let other = frame.argument(2)?;
    if part.contains(PATTERN) || other.contains(['$', '\\']) {
        return Err(frame.end("its versions differ in what they replace"));
    }
    let replaced = text.replace(&*part, &other);
    give_as_written(frame, 3, &replaced)
}

/// `__substring(text, begin, end, [variable])`: places count from 0, the one of the end is not part of it.
pub(super) fn substring(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    let text = frame.argument(0)?;
    let places = [frame.word(1)?, frame.word(2)?];
    let begin = frame.parsed::<i32>(&places[0])?;
    let end = frame.parsed::<i32>(&places[1])?;
    let units: Vec<u16> = text.encode_utf16().collect();
    let range = usize::try_from(begin).ok().zip(usize::try_from(end).ok());
    let Some(part) = range.and_then(|(begin, end)| units.get(begin..end)) else {
        let class = "java.lang.StringIndexOutOfBoundsException";
        let says = format!("begin {begin}, end {end}, length {}", units.len());
        return Err(frame.thrown(class, says));
    };
    give_as_written(frame, 3, &String::from_utf16_lossy(part))
}
