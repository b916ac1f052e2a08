//! Functions that convert text.

use std::fmt::Write as _;

use super::{FunctionCall, entities};
use crate::expression::FunctionFault;

/// `__changeCase(text, [mode], [variable])`: UPPER if no mode is given.
pub(super) fn change_case(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    let (text, mode) = (frame.argument(0)?, frame.argument(1)?);
    let changed = match mode.to_ascii_uppercase().as_str() {
        "" | "UPPER" => text.to_uppercase(),
        "LOWER" => text.to_lowercase(),
        "CAPITALIZE" => {
            let mut chars = text.chars();
            let first = chars.next().map(|c| c.to_uppercase().collect::<String>());
            first.unwrap_or_default() + chars.as_str()
        }
        _ => {
            // JMeter logs it and leaves the text unchanged.
            frame.note(format!("`{mode}` is not UPPER, LOWER or CAPITALIZE"));
            text.into_owned()
        }
    };
    frame.give(2, &changed)
}

/// `__char(code, …)`: decimal, `0x` hexadecimal or `0` octal; anything that is not a number is left out.
pub(super) fn char_codes(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    let mut units: Vec<u16> = Vec::with_capacity(frame.len());
    for index in 0..frame.len() {
        let word = frame.word(index)?;
        match decoded(&word) {
            // As in Java, a character has 16 bits.
            Some(code) => units.push(code as u16),
            None => frame.note(format!("`{word}` is not the code of a character")),
        }
    }
    frame.out.push_str(&String::from_utf16_lossy(&units));
    Ok(())
}

/// A number as `Long.decode` reads it.
fn decoded(word: &str) -> Option<i64> {
    let (sign, digits) = match word.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, word.strip_prefix('+').unwrap_or(word)),
    };
    let hexadecimal = ["0x", "0X", "#"].into_iter();
    let mut hexadecimal = hexadecimal.filter_map(|prefix| digits.strip_prefix(prefix));
    let number = match (hexadecimal.next(), digits.strip_prefix('0')) {
        (Some(digits), _) => i64::from_str_radix(digits, 16),
        (None, Some(digits)) if !digits.is_empty() => i64::from_str_radix(digits, 8),
        _ => digits.parse(),
    };
    // A second sign is not valid.
    let is_digit = |c: char| c.is_ascii_alphanumeric() || c == '#';
    let number = number.ok().filter(|_| digits.starts_with(is_digit));
    number.map(|number| sign * number)
}

/// `__escapeHtml(text)`: with the entities of HTML 4.
pub(super) fn escape_html(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    let escaped = html_escaped(&frame.argument(0)?);
    frame.out.push_str(&escaped);
    Ok(())
}

/// A text with the entities of HTML 4.
pub(crate) fn html_escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match entities::name_of(c) {
            Some(name) => out.extend(["&", name, ";"]),
            None => out.push(c),
        }
    }
    out
}

/// `__unescapeHtml(text)`: with the entities of HTML 4.
pub(super) fn unescape_html(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    let unescaped = html_unescaped(&frame.argument(0)?);
    frame.out.push_str(&unescaped);
    Ok(())
}

/// A text without the entities of HTML 4.
pub(crate) fn html_unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('&') {
        out.push_str(before);
        let end = after.find(';');
        let character = end.and_then(|end| entities::character_of(&after[..end]));
        match (end, character) {
            (Some(end), Some(character)) => {
                out.push(character);
                rest = &after[end + 1..];
            }
            _ => {
                out.push('&');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

/// `__escapeXml(text)`.
pub(super) fn escape_xml(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    let escaped = xml_escaped(&frame.argument(0)?);
    frame.out.push_str(&escaped);
    Ok(())
}

/// A text with the entities of XML 1.0, which has no control characters.
pub(crate) fn xml_escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            '\t' | '\n' | '\r' => out.push(c),
            '\u{0}'..'\u{20}' | '\u{fffe}' | '\u{ffff}' => {}
            '\u{7f}'..='\u{84}' | '\u{86}'..='\u{9f}' => {
                let _ = write!(out, "&#{};", u32::from(c));
            }
            other => out.push(other),
        }
    }
    out
}

/// `__escapeOroRegexpChars(text, [variable])`: a backslash before all but letters, digits and `_`.
pub(super) fn escape_regex(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    let mut escaped = String::new();
    for c in frame.argument(0)?.chars() {
        if !(c.is_alphanumeric() || c == '_') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    frame.give(1, &escaped)
}

/// `__unescape(text)`: Java's escapes.
pub(super) fn unescape(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    let text = frame.argument(0)?;
    frame.out.push_str(&crate::properties::unescape(&text));
    Ok(())
}

/// `__split(text, variable, [separators])`: `variable_1` …, their number in `variable_n`. Each
/// character of `separators` separates; an empty part is `?`, one before the first is left out.
pub(super) fn split(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    /// Most parts that become variables.
    const MOST: usize = 100_000;
    let (text, name) = (frame.argument(0)?, frame.word(1)?);
    let separators = match frame.argument(2)? {
        empty if empty.is_empty() => ",".into(),
        given => given,
    };
    let separates = |c: char| separators.contains(c);
    let mut parts: Vec<&str> = text.split(separates).take(MOST).collect();
    // Nothing before the first separator, and nothing at all, are not parts.
    if parts.first().is_some_and(|first| first.is_empty()) {
        parts.remove(0);
    }
    let parts = parts
        .iter()
        .map(|part| if part.is_empty() { "?" } else { part });
    let mut count = 0;
    for part in parts {
        count += 1;
        frame.world.set_variable(&format!("{name}_{count}"), part);
    }
    let world = &mut *frame.world;
    world.set_variable(&format!("{name}_n"), &count.to_string());
    world.remove_variable(&format!("{name}_{}", count + 1));
    world.set_variable(&name, &text);
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
                let wrong = || {
                    let says = "URLDecoder: Illegal hex characters in escape (%) pattern";
                    frame.thrown("java.lang.IllegalArgumentException", says)
                };
                bytes.push(byte.ok_or_else(wrong)?);
                rest = &rest[2..];
            }
            other => bytes.push(*other),
        }
    }
    frame.out.push_str(&String::from_utf8_lossy(&bytes));
    Ok(())
}
