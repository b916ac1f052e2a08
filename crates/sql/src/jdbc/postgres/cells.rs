//! Values of columns as the objects of the driver print.

use jiff::Timestamp;
use tokio_postgres::Row;
use tokio_postgres::types::{Kind, Type};

use crate::jdbc::{Exception, java};
use crate::postgres::{EPOCH_2000, Raw, numeric_text};

const DAY_MICROS: i64 = 86_400_000_000;
/// Days from 1970 to 2000.
const DAYS_2000: i64 = EPOCH_2000 / DAY_MICROS;

/// The values of a row. Errors: a type of which it is not known how it prints.
pub(super) fn row(row: &Row) -> Result<Vec<Option<String>>, Exception> {
    (0..row.len()).map(|column| cell(row, column)).collect()
}

fn cell(row: &Row, column: usize) -> Result<Option<String>, Exception> {
    let raw: Option<Raw<'_>> = row
        .try_get(column)
        .map_err(|error| Exception::plain(error.to_string()))?;
    let Some(Raw(bytes, ty)) = raw else {
        return Ok(None);
    };
    match text(bytes, &ty) {
        Some(text) => Ok(Some(text)),
        None => Err(Exception::plain(format!(
            "values of the type `{ty}` are not supported"
        ))),
    }
}

fn text(bytes: &[u8], ty: &Type) -> Option<String> {
    if let Kind::Array(member) = ty.kind() {
        return array(bytes, member);
    }
    if let Kind::Enum(_) = ty.kind() {
        return Some(String::from_utf8_lossy(bytes).into_owned());
    }
    Some(match *ty {
        Type::BOOL => (*bytes.first()? != 0).to_string(),
        Type::INT2 => i16::from_be_bytes(bytes.try_into().ok()?).to_string(),
        Type::INT4 => i32::from_be_bytes(bytes.try_into().ok()?).to_string(),
        Type::INT8 => eight(bytes)?.to_string(),
        Type::OID => u32::from_be_bytes(bytes.try_into().ok()?).to_string(),
        Type::FLOAT4 => java::float(f32::from_be_bytes(bytes.try_into().ok()?)),
        Type::FLOAT8 => java::double(f64::from_be_bytes(bytes.try_into().ok()?)),
        Type::MONEY => java::double(eight(bytes)? as f64 / 100.0),
        Type::NUMERIC => java::decimal(&numeric_text(bytes)?),
        Type::DATE => java::date(i64::from(i32::from_be_bytes(bytes.try_into().ok()?)) + DAYS_2000),
        Type::TIMESTAMP => java::timestamp(eight(bytes)?.checked_add(EPOCH_2000)?),
        Type::TIMESTAMPTZ => java::timestamp(local(eight(bytes)?.checked_add(EPOCH_2000)?)?),
        Type::TIME => clock(eight(bytes)?),
        Type::INTERVAL => interval(bytes)?,
        Type::UUID => uuid(bytes)?,
        Type::JSONB => String::from_utf8_lossy(bytes.get(1..)?).into_owned(),
        Type::TEXT
        | Type::VARCHAR
        | Type::BPCHAR
        | Type::NAME
        | Type::CHAR
        | Type::JSON
        | Type::BYTEA
        | Type::VOID
        | Type::UNKNOWN => String::from_utf8_lossy(bytes).into_owned(),
        _ => return None,
    })
}

fn eight(bytes: &[u8]) -> Option<i64> {
    Some(i64::from_be_bytes(bytes.try_into().ok()?))
}

fn four(bytes: &[u8], at: usize) -> Option<i32> {
    Some(i32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// A moment in the time zone of this host, microseconds as if it were UTC.
fn local(micros: i64) -> Option<i64> {
    let moment = Timestamp::from_microsecond(micros).ok()?;
    let offset = jiff::tz::TimeZone::system().to_offset(moment);
    micros.checked_add(i64::from(offset.seconds()) * 1_000_000)
}

/// `java.sql.Time.toString`.
fn clock(micros: i64) -> String {
    let seconds = micros / 1_000_000;
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    format!("{hours:02}:{minutes:02}:{:02}", seconds % 60)
}

/// `PGInterval.toString`.
fn interval(bytes: &[u8]) -> Option<String> {
    let micros = eight(bytes.get(..8)?)?;
    let (days, months) = (four(bytes, 8)?, four(bytes, 12)?);
    let seconds = micros / 1_000_000;
    let part = (micros % 1_000_000).unsigned_abs();
    let part = format!("{part:06}");
    let part = part.trim_end_matches('0');
    let sign = if micros < 0 && seconds % 60 == 0 {
        "-"
    } else {
        ""
    };
    Some(format!(
        "{} years {} mons {days} days {} hours {} mins {sign}{}.{} secs",
        months / 12,
        months % 12,
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60,
        if part.is_empty() { "0" } else { part },
    ))
}

fn uuid(bytes: &[u8]) -> Option<String> {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let part = |from: usize, to: usize| digits.get(from..to);
    let parts = [
        part(0, 8)?,
        part(8, 12)?,
        part(12, 16)?,
        part(16, 20)?,
        part(20, 32)?,
    ];
    Some(parts.join("-"))
}

/// An array of one dimension as the server writes it.
fn array(bytes: &[u8], member: &Type) -> Option<String> {
    match four(bytes, 0)? {
        0 => return Some("{}".into()),
        1 => {}
        _ => return None,
    }
    let count = four(bytes, 12)?;
    let (mut members, mut at) = (Vec::new(), 20);
    for _ in 0..count {
        let length = four(bytes, at)?;
        at += 4;
        members.push(match usize::try_from(length) {
            Err(_) => "NULL".to_owned(),
            Ok(length) => {
                let value = bytes.get(at..at.checked_add(length)?)?;
                at += length;
                match *member {
                    Type::BOOL => if *value.first()? != 0 { "t" } else { "f" }.into(),
                    Type::TEXT | Type::VARCHAR | Type::BPCHAR | Type::NAME => {
                        in_array(&String::from_utf8_lossy(value))
                    }
                    Type::INT2 | Type::INT4 | Type::INT8 | Type::OID | Type::UUID => {
                        text(value, member)?
                    }
                    _ => return None,
                }
            }
        });
    }
    Some(format!("{{{}}}", members.join(",")))
}

fn in_array(text: &str) -> String {
    let is_plain = !text.is_empty()
        && !text.eq_ignore_ascii_case("null")
        && !text.contains(|c: char| "{},\"\\".contains(c) || c.is_ascii_whitespace());
    match is_plain {
        true => text.to_owned(),
        false => format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")),
    }
}
