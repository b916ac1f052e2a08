//! Decimal formatting of integers without `fmt`, for the request path and result rows.

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

    proptest! {
        #[test]
        fn numbers_are_those_of_the_library(number: u64) {
            prop_assert_eq!(written(number), number.to_string());
        }
    }
}
