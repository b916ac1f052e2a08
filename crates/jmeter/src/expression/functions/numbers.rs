//! Functions for random numbers, counters and sums.

use std::fmt::Write as _;
use std::str::FromStr;

use super::FunctionCall;
use crate::expression::FunctionFault;

/// Longest random text.
const MOST_CHARACTERS: i64 = 1 << 20;

/// `__Random(least, most, [variable])`: both bounds included.
pub(super) fn random(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    let (least, most) = (frame.integer(0)?, frame.integer(1)?);
    if most < least {
        let class = "java.lang.IllegalArgumentException";
        return Err(frame.thrown(class, "bound must be greater than origin"));
    }
    let drawn = frame.random().between(least, most).to_string();
    frame.give(2, &drawn)
}

/// `__RandomString(length, [characters], [variable])`.
pub(super) fn random_string(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    let length: i64 = frame.strict::<i32>(0)?.into();
    if !(0..=MOST_CHARACTERS).contains(&length) {
        let why = format!("`{length}` is not a length from 0 to {MOST_CHARACTERS}");
        return Err(frame.fault(why));
    }
    let given = frame.word(1)?;
    let characters: Vec<char> = match given.is_empty() {
        true => ('a'..='z').chain('A'..='Z').chain('0'..='9').collect(),
        false => given.chars().collect(),
    };
    let random = frame.random();
    let drawn: String = (0..length)
        .map(|_| characters[random.below(characters.len() as u64) as usize])
        .collect();
    frame.give(2, &drawn)
}

/// `__UUID()`: version 4.
pub(super) fn uuid(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    let high = frame.random().bits();
    let low = frame.random().bits();
    let (high, low) = (high & !0xf000 | 0x4000, low & !(0b11 << 62) | 0b10 << 62);
    let _ = write!(
        frame.out,
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        high >> 32,
        high >> 16 & 0xffff,
        high & 0xffff,
        low >> 48,
        low & 0xffff_ffff_ffff
    );
    Ok(())
}

/// `__counter(per user?, [variable])`: 1, 2, 3 …
pub(super) fn counter(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    let per_user = frame.argument(0)?.eq_ignore_ascii_case("true");
    let count = frame.world.count(frame.call.site, per_user).to_string();
    frame.give(1, &count)
}

/// `__intSum(a, b, …, [variable])`: 32 bits, wrapping as Java does.
pub(super) fn int_sum(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    sum::<i32>(frame, |sum| i64::from(sum as i32))
}

/// `__longSum(a, b, …, [variable])`: 64 bits, wrapping as Java does.
pub(super) fn long_sum(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    sum::<i64>(frame, |sum| sum)
}

/// The last argument is a variable name unless it is a number.
fn sum<T: FromStr + Into<i64>>(
    frame: &mut FunctionCall<'_>,
    wrap: fn(i64) -> i64,
) -> Result<(), FunctionFault> {
    let last = frame.len() - 1;
    let mut sum = 0_i64;
    for index in 0..last {
        sum = sum.wrapping_add(frame.strict::<T>(index)?.into());
    }
    let word = frame.word(last)?;
    let number: Option<i64> = word.parse::<T>().ok().map(Into::into);
    let sum = wrap(sum.wrapping_add(number.unwrap_or_default())).to_string();
    match number {
        Some(_) => {
            frame.out.push_str(&sum);
            Ok(())
        }
        None => frame.give(last, &sum),
    }
}
