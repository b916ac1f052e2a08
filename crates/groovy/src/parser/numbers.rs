//! Numbers.

use super::{Parsed, Parser};
use crate::ast::{ExprKind, NumberKind};
use crate::{Dialect, Refusal, RefusalKind};

impl Parser {
    /// A number as it is written.
    pub(super) fn number(&self, line: u32, written: &str) -> Parsed<ExprKind> {
        let wrong = || Refusal::new(line, RefusalKind::Syntax, written);
        let text: String = written.chars().filter(|c| *c != '_').collect();
        let lower = text.to_ascii_lowercase();
        let radix = [("0x", 16), ("0b", 2)];
        if let Some((prefix, radix)) = radix.iter().find(|(prefix, _)| lower.starts_with(prefix)) {
            return based(&lower[prefix.len()..], *radix).ok_or_else(wrong);
        }
        let is_groovy = self.dialect == Dialect::Groovy;
        let (digits, suffix) = match lower.chars().last() {
            Some(c @ ('l' | 'i' | 'g' | 'd' | 'f')) => (&lower[..lower.len() - 1], c),
            _ => (lower.as_str(), ' '),
        };
        let is_whole = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        if is_whole && digits.len() > 1 && digits.starts_with('0') && suffix != 'd' && suffix != 'f'
        {
            return based(&digits[1..], 8)
                .filter(|_| suffix == ' ')
                .ok_or_else(wrong);
        }
        if !is_whole && digits.parse::<f64>().is_err() {
            return Err(wrong());
        }
        let kind = match (suffix, is_whole) {
            (' ' | 'i', true) => NumberKind::Integer,
            ('l', true) => NumberKind::Long,
            ('g', true) if is_groovy => NumberKind::BigInteger,
            ('g', false) if is_groovy => NumberKind::Decimal,
            (' ', false) if is_groovy => NumberKind::Decimal,
            (' ' | 'd', _) => NumberKind::Double,
            ('f', _) => NumberKind::Float,
            _ => return Err(wrong()),
        };
        Ok(ExprKind::Number(kind, digits.to_owned()))
    }
}

/// A number in another base, as Java's `int` or `long`.
fn based(digits: &str, radix: u32) -> Option<ExprKind> {
    let (digits, is_long) = match digits.strip_suffix('l') {
        Some(digits) => (digits, true),
        None => (digits, false),
    };
    let value = u64::from_str_radix(digits, radix).ok()?;
    Some(match (is_long, u32::try_from(value)) {
        (false, Ok(value)) => {
            ExprKind::Number(NumberKind::Integer, value.cast_signed().to_string())
        }
        _ => ExprKind::Number(NumberKind::Long, value.cast_signed().to_string()),
    })
}
