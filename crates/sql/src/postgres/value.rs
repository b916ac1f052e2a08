//! Values of parameters and columns in PostgreSQL's forms.

use std::fmt::Write as _;
use std::io::Write as _;

use super::failure::Failure;
use super::wire::{self, Column, Unwritable};
use super::{Form, PostgresRow};
use crate::error::SqlError;
use crate::row::number;
use crate::value::{Decimal, Value};

/// Microseconds from 1970 to 2000, where PostgreSQL counts from.
pub(crate) const EPOCH_2000: i64 = 946_684_800_000_000;

/// Object identifiers of types, as `pg_type.dat` fixes them.
pub(crate) mod oid {
    pub(crate) const BOOL: u32 = 16;
    pub(crate) const BYTEA: u32 = 17;
    pub(crate) const CHAR: u32 = 18;
    pub(crate) const NAME: u32 = 19;
    pub(crate) const INT8: u32 = 20;
    pub(crate) const INT2: u32 = 21;
    pub(crate) const INT4: u32 = 23;
    pub(crate) const TEXT: u32 = 25;
    pub(crate) const OID: u32 = 26;
    pub(crate) const JSON: u32 = 114;
    pub(crate) const FLOAT4: u32 = 700;
    pub(crate) const FLOAT8: u32 = 701;
    pub(crate) const UNKNOWN: u32 = 705;
    pub(crate) const MONEY: u32 = 790;
    pub(crate) const BPCHAR: u32 = 1042;
    pub(crate) const VARCHAR: u32 = 1043;
    pub(crate) const DATE: u32 = 1082;
    pub(crate) const TIME: u32 = 1083;
    pub(crate) const TIMESTAMP: u32 = 1114;
    pub(crate) const TIMESTAMPTZ: u32 = 1184;
    pub(crate) const INTERVAL: u32 = 1186;
    pub(crate) const NUMERIC: u32 = 1700;
    pub(crate) const VOID: u32 = 2278;
    pub(crate) const UUID: u32 = 2950;
    pub(crate) const JSONB: u32 = 3802;
}

/// Types whose binary form becomes a [`Value`] other than a text.
fn is_readable(ty: u32) -> bool {
    matches!(
        ty,
        oid::INT2
            | oid::INT4
            | oid::INT8
            | oid::OID
            | oid::BOOL
            | oid::FLOAT4
            | oid::FLOAT8
            | oid::NUMERIC
            | oid::TIMESTAMP
            | oid::TIMESTAMPTZ
            | oid::DATE
    )
}

/// The forms of a result's columns, as they stand in a message.
pub(super) fn forms(columns: &[Column], form: Form) -> Vec<u8> {
    if form == Form::Binary {
        return vec![0, 1, 0, 1];
    }
    // As many as the protocol's own count of columns.
    let mut forms = (columns.len() as u16).to_be_bytes().to_vec();
    for column in columns {
        forms.extend_from_slice(&[0, u8::from(is_readable(column.ty))]);
    }
    forms
}

/// Writes the message that gives values to a statement.
///
/// Errors: there are more or fewer of them than parameters, or one does not fit its type.
pub(super) fn bind(
    out: &mut Vec<u8>,
    name: &str,
    parameters: &[u32],
    values: &[Value<'_>],
    forms: &[u8],
) -> Result<(), Failure> {
    let (wanted, given) = (parameters.len(), values.len());
    if wanted != given {
        let says = format!("a statement takes {wanted} values, and {given} were given");
        return Err(Failure::Call(SqlError::unreadable(says)));
    }
    let each = || values.iter().zip(parameters.iter().copied());
    wire::message(out, b'B', |out| {
        // The portal without name.
        out.push(0);
        wire::put_text(out, name)?;
        wire::put_count(out, values.len())?;
        for (value, ty) in each() {
            out.extend_from_slice(&[0, u8::from(is_binary(value, ty))]);
        }
        wire::put_count(out, values.len())?;
        for (value, ty) in each() {
            put(out, value, ty)?;
        }
        out.extend_from_slice(forms);
        Ok(())
    })?;
    Ok(())
}

/// Whether a value goes in binary; all others go as text, which the server reads for every type.
fn is_binary(value: &Value<'_>, ty: u32) -> bool {
    match value {
        Value::Int(_) => matches!(ty, oid::INT2 | oid::INT4 | oid::INT8),
        Value::Float(_) => ty == oid::FLOAT8,
        _ => false,
    }
}

fn put(out: &mut Vec<u8>, value: &Value<'_>, ty: u32) -> Result<(), Unwritable> {
    let at = out.len();
    out.extend_from_slice(&(-1_i32).to_be_bytes());
    let large = Unwritable("a whole number is too large for its column");
    // Writing to memory cannot fail.
    match value {
        Value::Null => return Ok(()),
        Value::Int(value) => match ty {
            oid::INT8 => out.extend_from_slice(&value.to_be_bytes()),
            oid::INT4 => {
                let value = i32::try_from(*value).map_err(|_| large)?;
                out.extend_from_slice(&value.to_be_bytes());
            }
            oid::INT2 => {
                let value = i16::try_from(*value).map_err(|_| large)?;
                out.extend_from_slice(&value.to_be_bytes());
            }
            _ => drop(write!(out, "{value}")),
        },
        Value::Float(value) if ty == oid::FLOAT8 => out.extend_from_slice(&value.to_be_bytes()),
        Value::Float(value) => drop(write!(out, "{value}")),
        Value::Decimal(value) => drop(write!(out, "{value}")),
        Value::Text(text) => out.extend_from_slice(text.as_bytes()),
        Value::Time(micros) => drop(write!(out, "{}", crate::text_of_time(*micros))),
    }
    let length = i32::try_from(out.len() - at - 4);
    let length = length.map_err(|_| Unwritable("a value holds at most 1 GiB"))?;
    out[at..at + 4].copy_from_slice(&length.to_be_bytes());
    Ok(())
}

/// The value of a column.
pub(crate) fn read<'r>(row: &PostgresRow<'r>, column: usize) -> Result<Value<'r>, SqlError> {
    let Some((bytes, ty)) = row.bytes(column) else {
        return Ok(Value::Null);
    };
    decoded(bytes, ty).ok_or_else(|| {
        SqlError::unreadable(format!("a value of type number {ty} has a wrong length"))
    })
}

fn decoded(bytes: &[u8], ty: u32) -> Option<Value<'_>> {
    Some(match ty {
        oid::INT2 => Value::Int(i16::from_be_bytes(bytes.try_into().ok()?).into()),
        oid::INT4 => Value::Int(i32::from_be_bytes(bytes.try_into().ok()?).into()),
        oid::INT8 => Value::Int(i64::from_be_bytes(bytes.try_into().ok()?)),
        oid::OID => Value::Int(u32::from_be_bytes(bytes.try_into().ok()?).into()),
        oid::BOOL => Value::Int((*bytes.first()? != 0).into()),
        oid::FLOAT4 => Value::Float(f32::from_be_bytes(bytes.try_into().ok()?).into()),
        oid::FLOAT8 => Value::Float(f64::from_be_bytes(bytes.try_into().ok()?)),
        oid::NUMERIC => numeric(bytes)?,
        oid::TIMESTAMP | oid::TIMESTAMPTZ => {
            let micros = i64::from_be_bytes(bytes.try_into().ok()?);
            Value::Time(micros.saturating_add(EPOCH_2000))
        }
        oid::DATE => {
            let days: i64 = i32::from_be_bytes(bytes.try_into().ok()?).into();
            Value::Time(days * 86_400_000_000 + EPOCH_2000)
        }
        _ => Value::Text(String::from_utf8_lossy(bytes)),
    })
}

/// PostgreSQL's binary form of `numeric`: groups of four decimal digits.
fn numeric(bytes: &[u8]) -> Option<Value<'static>> {
    let text = numeric_text(bytes)?;
    if text == "NaN" {
        return Some(Value::Float(f64::NAN));
    }
    text.parse::<Decimal>()
        .map(Value::Decimal)
        .ok()
        .or_else(|| number(&text).ok())
}

/// All digits of a `numeric`; `NaN` for what is not a number, or infinite.
pub(crate) fn numeric_text(bytes: &[u8]) -> Option<String> {
    let word = |at: usize| {
        let two = bytes.get(2 * at..2 * at + 2)?;
        Some(i16::from_be_bytes(two.try_into().ok()?))
    };
    let (groups, weight) = (word(0)?, i32::from(word(1)?));
    let (sign, places) = (word(2)? as u16, word(3)? as u16);
    if !matches!(sign, 0 | 0x4000) {
        return Some("NaN".into());
    }
    let mut text = String::new();
    if sign == 0x4000 {
        text.push('-');
    }
    let digits = |at: i32| {
        let group = (0..i32::from(groups)).contains(&(weight - at));
        let index = usize::try_from(weight - at).ok()? + 4;
        if group { word(index) } else { Some(0) }
    };
    for at in (0..=weight.max(0)).rev() {
        // A group before the first one is zero.
        let group = if at > weight { 0 } else { digits(at)? };
        write!(text, "{group:04}").ok()?;
    }
    let mut part = String::new();
    for at in 1..=i32::from(places).div_euclid(4) + 1 {
        let group = if -at > weight { 0 } else { digits(-at)? };
        write!(part, "{group:04}").ok()?;
    }
    if places > 0 {
        text.push('.');
        text.push_str(part.get(..usize::from(places))?);
    }
    Some(trimmed(&text))
}

/// Without zeros in front.
fn trimmed(text: &str) -> String {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text),
    };
    let bare = digits.trim_start_matches('0');
    let zero = if bare.is_empty() || bare.starts_with('.') {
        "0"
    } else {
        ""
    };
    format!("{sign}{zero}{bare}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[i16]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_be_bytes()).collect()
    }

    #[test]
    fn numerics_are_read_digit_by_digit() {
        for (bytes, expected) in [
            (words(&[0, 0, 0, 2]), "0.00"),
            (words(&[2, 1, 0, 2, 12, 3456]), "123456.00"),
            (words(&[2, 0, 0x4000, 2, 7, 500]), "-7.05"),
            (words(&[1, -1, 0, 4, 1234]), "0.1234"),
            (words(&[1, -2, 0, 6, 1200]), "0.000012"),
            (words(&[1, 1, 0, 0, 30]), "300000"),
        ] {
            let read = numeric(&bytes).expect("a number");
            assert_eq!(
                read,
                Value::Decimal(expected.parse().unwrap()),
                "{expected}"
            );
        }
        assert!(numeric(&words(&[5, 0, 0, 0, 1])).is_none());
        assert!(matches!(
            numeric(&words(&[0, 0, -16384, 0])),
            Some(Value::Float(_))
        ));
    }
}
