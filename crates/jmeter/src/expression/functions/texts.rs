//! Functions that convert text.

use std::fmt::Write as _;

use super::FunctionCall;
use crate::expression::FunctionFault;

/// `__changeCase(text, [mode], [variable])`: UPPER if no mode is given.
pub(super) fn change_case(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    let (text, mode) = (frame.argument(0)?, frame.word(1)?);
    let changed = match mode.to_ascii_uppercase().as_str() {
        "" | "UPPER" => text.to_uppercase(),
        "LOWER" => text.to_lowercase(),
        "CAPITALIZE" => {
            let mut chars = text.chars();
            let first = chars.next().map(|c| c.to_uppercase().collect::<String>());
            first.unwrap_or_default() + chars.as_str()
        }
        _ => return Err(frame.fault(format!("`{mode}` is not UPPER, LOWER or CAPITALIZE"))),
    };
    frame.give(2, &changed)
}

/// `__char(code, …)`: decimal, `0x` hexadecimal or `0` octal.
pub(super) fn char_codes(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    for index in 0..frame.len() {
        let word = frame.word(index)?;
        let code = match word.strip_prefix("0x").or(word.strip_prefix("0X")) {
            Some(digits) => u32::from_str_radix(digits, 16),
            None if word.len() > 1 && word.starts_with('0') => u32::from_str_radix(&word, 8),
            None => word.parse(),
        };
        let character = code.ok().and_then(char::from_u32);
        let wrong = || frame.fault(format!("`{word}` is not the code of a character"));
        let character = character.ok_or_else(wrong)?;
        frame.out.push(character);
    }
    Ok(())
}

/// `__escapeHtml(text)`.
pub(super) fn escape_html(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    for c in frame.argument(0)?.chars() {
        match c {
            '&' => frame.out.push_str("&amp;"),
            '<' => frame.out.push_str("&lt;"),
            '>' => frame.out.push_str("&gt;"),
            '"' => frame.out.push_str("&quot;"),
            other => frame.out.push(other),
        }
    }
    Ok(())
}

/// `__unescape(text)`: Java's escapes.
pub(super) fn unescape(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    let text = frame.argument(0)?;
    frame.out.push_str(&crate::properties::unescape(&text));
    Ok(())
}

/// `__split(text, variable, [separator])`: `variable_1` …, their number in `variable_n`.
pub(super) fn split(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    /// Most parts that become variables.
    const MOST: usize = 100_000;
    let (text, name) = (frame.argument(0)?, frame.word(1)?);
    let separator = match frame.argument(2)? {
        empty if empty.is_empty() => ",".into(),
        given => given,
    };
    let mut count = 0;
    for part in text.split(&*separator).take(MOST) {
        count += 1;
        let part = if part.is_empty() { "?" } else { part };
        frame.world.set_variable(&format!("{name}_{count}"), part);
    }
    frame
        .world
        .set_variable(&format!("{name}_n"), &count.to_string());
    frame.world.set_variable(&name, &text);
    frame.out.push_str(&text);
    Ok(())
}

/// `__urlencode(text)`: as in HTML forms, a blank becomes a plus.
pub(super) fn url_encode(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    for byte in frame.argument(0)?.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'*' | b'_' => {
                frame.out.push(char::from(byte));
            }
            b' ' => frame.out.push('+'),
            other => {
                let _ = write!(frame.out, "%{other:02X}");
            }
        }
    }
    Ok(())
}

/// `__urldecode(text)`.
pub(super) fn url_decode(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    let text = frame.argument(0)?;
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        match first {
            b'+' => bytes.push(b' '),
            b'%' => {
                let digits = rest.get(..2).and_then(|d| std::str::from_utf8(d).ok());
                let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
                let wrong = || frame.fault(format!("`{text}` has a % without two digits"));
                bytes.push(byte.ok_or_else(wrong)?);
                rest = &rest[2..];
            }
            other => bytes.push(*other),
        }
    }
    frame.out.push_str(&String::from_utf8_lossy(&bytes));
    Ok(())
}
