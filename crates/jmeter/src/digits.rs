//! Decimal formatting of integers without `fmt`, for the request path and result rows.

use std::borrow::Cow;

/// The pairs of digits from 00 to 99.
const PAIRS: &str = "0001020304050607080910111213141516171819\
                     2021222324252627282930313233343536373839\
                     4041424344454647484950515253545556575859\
                     6061626364656667686970717273747576777879\
                     8081828384858687888990919293949596979899";

/// Appends a number in decimal.
#[inline]
pub fn digits(number: u64, out: &mut String) {
    match number {
        0..=9 => out.push(char::from(b'0' + number as u8)),
        10..=99 => pair(number, out),
        _ => many_digits(number, out),
    }
}

/// A number with zeros before it, up to a width that a plan names. `fmt` panics at widths beyond 65535.
pub fn zero_padded(number: impl std::fmt::Display, width: usize) -> String {
    let digits = number.to_string();
    let (sign, digits) = match digits.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", digits.as_str()),
    };
    let zeros = width.saturating_sub(sign.len() + digits.len());
    [sign, &"0".repeat(zeros), digits].concat()
}

/// A status of HTTP in decimal. One of three digits allocates nothing.
pub fn status_text(status: u16) -> Cow<'static, str> {
    let at = status.checked_sub(100).map(|above| 3 * usize::from(above));
    let text = at.and_then(|at| STATUSES.get(at..at + 3));
    match text.and_then(|text| std::str::from_utf8(text).ok()) {
        Some(text) => text.into(),
        None => status.to_string().into(),
    }
}

/// The numbers from 100 to 999.
static STATUSES: [u8; 2_700] = {
    let mut text = [0; 2_700];
    let mut at = 0;
    while at < text.len() {
        let number = 100 + at / 3;
        text[at] = b'0' + (number / 100) as u8;
        text[at + 1] = b'0' + (number / 10 % 10) as u8;
        text[at + 2] = b'0' + (number % 10) as u8;
        at += 3;
    }
    text
};

/// Appends a number above 99.
fn many_digits(number: u64, out: &mut String) {
    match number {
        10_000.. => {
            digits(number / 10_000, out);
            pair(number / 100 % 100, out);
        }
        _ => digits(number / 100, out),
    }
    pair(number % 100, out);
}

/// Appends two digits of a number below 100.
#[inline]
fn pair(number: u64, out: &mut String) {
    let at = number as usize * 2;
    out.push_str(&PAIRS[at..at + 2]);
}

/// A number with a comma between each three digits, as messages of JMeter have it.
pub(crate) fn grouped(number: i64) -> String {
    let digits = number.unsigned_abs().to_string();
    let mut out = String::from(if number < 0 { "-" } else { "" });
    for (index, digit) in digits.char_indices() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(number: u64) -> String {
        let mut out = String::new();
        digits(number, &mut out);
        out
    }

    #[test]
    fn numbers_of_every_length_are_whole() {
        let mut number = 1u64;
        for _ in 0..20 {
            for near in [number - 1, number, number + 1] {
                assert_eq!(written(near), near.to_string());
            }
            number = number.saturating_mul(10);
        }
        assert_eq!(written(u64::MAX), u64::MAX.to_string());
    }

    #[test]
    fn statuses_are_those_of_the_library() {
        for status in 0..=u16::MAX {
            assert_eq!(status_text(status), status.to_string());
        }
    }

    proptest! {
        #[test]
        fn numbers_are_those_of_the_library(number: u64) {
            prop_assert_eq!(written(number), number.to_string());
        }
    }
}
