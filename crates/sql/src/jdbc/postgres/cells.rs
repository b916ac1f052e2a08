//! Values of columns as the objects of the driver print.

use jiff::Timestamp;

use crate::jdbc::{Exception, java};
use crate::postgres::{EPOCH_2000, PostgresRow, numeric_text, oid};

const DAY_MICROS: i64 = 86_400_000_000;
/// Days from 1970 to 2000.
const DAYS_2000: i64 = EPOCH_2000 / DAY_MICROS;

/// First object identifier of a type that is not PostgreSQL's own.
const FIRST_OF_USERS: u32 = 16_384;

/// The values of a row. Errors: a type of which it is not known how it prints.
pub(super) fn row(row: &PostgresRow<'_>) -> Result<Vec<Option<String>>, Exception> {
    let columns = 0..row.columns.len();
    columns.map(|column| cell(row, column)).collect()
}

fn cell(row: &PostgresRow<'_>, column: usize) -> Result<Option<String>, Exception> {
    let Some((bytes, ty)) = row.bytes(column) else {
        return Ok(None);
    };
    match text(bytes, ty) {
        Some(text) => Ok(Some(text)),
        None => Err(Exception::plain(format!(
            "values of the type with number {ty} are not supported"
        ))),
    }
}

/// The type of an array's members.
fn member_of(array: u32) -> Option<u32> {
    Some(match array {
        1000 => oid::BOOL,
        1003 => oid::NAME,
        1005 => oid::INT2,
        1007 => oid::INT4,
        1009 => oid::TEXT,
        1014 => oid::BPCHAR,
        1015 => oid::VARCHAR,
        1016 => oid::INT8,
        1028 => oid::OID,
        2951 => oid::UUID,
        _ => return None,
    })
}

fn text(bytes: &[u8], ty: u32) -> Option<String> {
    if let Some(member) = member_of(ty) {
        return array(bytes, member);
    }
    if ty >= FIRST_OF_USERS {
        // Values of enumerations are their names; others with numbers in them have bytes that no text has.
        let text = std::str::from_utf8(bytes).ok()?;
        return (!text.contains(char::is_control)).then(|| text.to_owned());
    }
    Some(match ty {
        oid::BOOL => (*bytes.first()? != 0).to_string(),
        oid::INT2 => i16::from_be_bytes(bytes.try_into().ok()?).to_string(),
        oid::INT4 => i32::from_be_bytes(bytes.try_into().ok()?).to_string(),
        oid::INT8 => eight(bytes)?.to_string(),
        oid::OID => u32::from_be_bytes(bytes.try_into().ok()?).to_string(),
        oid::FLOAT4 => java::float(f32::from_be_bytes(bytes.try_into().ok()?)),
        oid::FLOAT8 => java::double(f64::from_be_bytes(bytes.try_into().ok()?)),
        oid::MONEY => java::double(eight(bytes)? as f64 / 100.0),
        oid::NUMERIC => java::decimal(&numeric_text(bytes)?),
        oid::DATE => java::date(i64::from(i32::from_be_bytes(bytes.try_into().ok()?)) + DAYS_2000),
        oid::TIMESTAMP => java::timestamp(eight(bytes)?.checked_add(EPOCH_2000)?),
        oid::TIMESTAMPTZ => java::timestamp(local(eight(bytes)?.checked_add(EPOCH_2000)?)?),
        oid::TIME => clock(eight(bytes)?),
        oid::INTERVAL => interval(bytes)?,
        oid::UUID => uuid(bytes)?,
        oid::JSONB => String::from_utf8_lossy(bytes.get(1..)?).into_owned(),
        oid::TEXT
        | oid::VARCHAR
        | oid::BPCHAR
        | oid::NAME
        | oid::CHAR
        | oid::JSON
        | oid::BYTEA
        | oid::VOID
        | oid::UNKNOWN => String::from_utf8_lossy(bytes).into_owned(),
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
fn array(bytes: &[u8], member: u32) -> Option<String> {
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
                match member {
                    oid::BOOL => if *value.first()? != 0 { "t" } else { "f" }.into(),
                    oid::TEXT | oid::VARCHAR | oid::BPCHAR | oid::NAME => {
                        in_array(&String::from_utf8_lossy(value))
                    }
                    oid::INT2 | oid::INT4 | oid::INT8 | oid::OID | oid::UUID => {
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
