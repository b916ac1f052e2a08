//! Whole numbers in the patterns of Java's `DecimalFormat`.

use crate::digits::zero_padded;

/// A number in a pattern such as `user_000`, `#,##0.00` or `0%`; an empty one: plain digits.
pub(super) fn decimal(value: i64, pattern: &str) -> String {
    let (positive, negative) = halves(pattern);
    let digits = |c: char| matches!(c, '0' | '#' | ',' | '.');
    let (prefix, number, suffix) = parts(positive, digits);
    let scale = match () {
        () if prefix.contains('%') || suffix.contains('%') => 100,
        () if suffix.contains('\u{2030}') => 1000,
        () => 1,
    };
    let amount = u128::from(value.unsigned_abs()) * scale;
    let (prefix, suffix) = match (value < 0, negative) {
        (true, Some(negative)) => {
            let (prefix, _, suffix) = parts(negative, digits);
            (plain(prefix), plain(suffix))
        }
        (true, None) => (format!("-{}", plain(prefix)), plain(suffix)),
        (false, _) => (plain(prefix), plain(suffix)),
    };
    match suffix.strip_prefix('E').filter(|_| !number.is_empty()) {
        Some(exponent) => {
            let width = exponent.bytes().take_while(|byte| *byte == b'0').count();
            let rest = &exponent[width..];
            format!("{prefix}{}{rest}", scientific(amount, number, width))
        }
        None => format!("{prefix}{}{suffix}", grouped(amount, number)),
    }
}

/// The patterns of positive and of negative numbers.
fn halves(pattern: &str) -> (&str, Option<&str>) {
    let mut is_quoted = false;
    for (at, character) in pattern.char_indices() {
        match character {
            '\'' => is_quoted = !is_quoted,
            ';' if !is_quoted => return (&pattern[..at], Some(&pattern[at + 1..])),
            _ => {}
        }
    }
    (pattern, None)
}

/// Text before the digits, the digits, and text behind them.
fn parts(pattern: &str, is_digit: impl Fn(char) -> bool) -> (&str, &str, &str) {
    let mut is_quoted = false;
    let mut from = pattern.len();
    for (at, character) in pattern.char_indices() {
        is_quoted ^= character == '\'';
        if !is_quoted && is_digit(character) {
            from = at;
            break;
        }
    }
    let (prefix, behind) = pattern.split_at(from);
    let end = behind.find(|c| !is_digit(c)).unwrap_or(behind.len());
    let (number, suffix) = behind.split_at(end);
    (prefix, number, suffix)
}

/// A text without its quotes; two of them are one.
fn plain(text: &str) -> String {
    text.replace("\'\'", "\u{0}")
        .replace('\'', "")
        .replace('\u{0}', "'")
}

fn zeros(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'0').count()
}

fn grouped(amount: u128, number: &str) -> String {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let width = zeros(whole);
    let mut digits = zero_padded(amount, width);
    let size = whole.rfind(',').map_or(0, |at| whole.len() - at - 1);
    if size > 0 {
        let mut at = digits.len();
        while at > size {
            at -= size;
            digits.insert(at, ',');
        }
    }
    match zeros(fraction) {
        0 => digits,
        places => digits + "." + &"0".repeat(places),
    }
}

/// One digit, as many behind the point as the pattern has zeros or the number needs, and an exponent.
fn scientific(amount: u128, number: &str, width: usize) -> String {
    let fraction = number.split_once('.').map_or("", |(_, fraction)| fraction);
    let digits = amount.to_string();
    let (first, behind) = digits.split_at(1);
    let most = fraction.len();
    let least = zeros(fraction);
    let mut behind: String = behind.chars().take(most).collect();
    while behind.len() > least && behind.ends_with('0') {
        behind.pop();
    }
    while behind.len() < least {
        behind.push('0');
    }
    let point = if behind.is_empty() { "" } else { "." };
    let exponent = digits.len() - 1;
    format!("{first}{point}{behind}E{}", zero_padded(exponent, width))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_of_any_length_are_filled() {
        let pattern = "0".repeat(100_000);
        assert_eq!(decimal(7, &pattern).len(), 100_000);
        let scientific = format!("0E{pattern}");
        assert_eq!(decimal(7, &scientific).len(), 100_002);
    }

    #[test]
    fn numbers_are_written_as_java_does() {
        for (value, pattern, expected) in [
            (7, "", "7"),
            (7, "000", "007"),
            (-7, "00", "-07"),
            (1234, "00", "1234"),
            (7, "user_000", "user_007"),
            (7, "#", "7"),
            (0, "#", "0"),
            (5, "00.0", "05.0"),
            (1_234_567, "#,##0", "1,234,567"),
            (1, "#,##0.00", "1.00"),
            (12, "0.00E0", "1.20E1"),
            (5, "'n'00", "n05"),
            (5, "0%", "500%"),
            (-3, "0;(0)", "(3)"),
            (5, "user", "user5"),
            (1, "ID-0000-X", "ID-0001-X"),
        ] {
            assert_eq!(decimal(value, pattern), expected, "{pattern}");
        }
    }
}
