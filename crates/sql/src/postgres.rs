//! Sessions on PostgreSQL.
//!
//! The driver splits a session in a handle and a connection that moves bytes. Both are polled by the task that
//! awaits a call, so that no task is woken for the other.

use std::error::Error as StdError;
use std::fmt::Write as _;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::atomic::Ordering;
use std::task::Poll;

use bytes::{Bytes, BytesMut};
use futures_util::{SinkExt as _, TryStreamExt as _};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_postgres::types::{Format, FromSql, IsNull, ToSql, Type, to_sql_checked};
use tokio_postgres::{Client, Connection, Socket, Statement};

use crate::error::{Class, SqlError};
use crate::row::{EachRow, Inner, Row, number};
use crate::rows::{Form, NextRow, RowWriter};
use crate::target::PostgresAddress;
use crate::tls::{self, Encrypted};
use crate::value::{Decimal, Value};

/// Bytes of COPY that travel together.
const CHUNK_BYTES: usize = 64 << 10;
/// Microseconds from 1970 to 2000, where PostgreSQL counts from.
pub(crate) const EPOCH_2000: i64 = 946_684_800_000_000;

/// One session.
pub(crate) struct Postgres {
    client: Client,
    connection: Connection<Socket, Encrypted>,
    pub(crate) is_encrypted: bool,
}

impl Postgres {
    pub(crate) async fn connect(address: &PostgresAddress) -> Result<Self, SqlError> {
        let mut config = address.config.clone();
        if config.get_application_name().is_none() {
            config.application_name("sokudo");
        }
        if config.get_password().is_none()
            && let Some(password) = address.password()
        {
            config.password(password);
        }
        let tls = address.connector();
        let tls = tls.map_err(|error| SqlError::untrusted(error.to_string()))?;
        let encrypted = tls.encrypted();
        let (client, connection) = config.connect(tls).await.map_err(told)?;
        Ok(Self {
            client,
            connection,
            is_encrypted: encrypted.load(Ordering::Relaxed),
        })
    }

    /// Awaits a call while it moves the bytes of the connection.
    pub(crate) async fn drive<T, S: AsyncRead + AsyncWrite + Unpin>(
        connection: &mut Connection<Socket, S>,
        call: impl Future<Output = Result<T, SqlError>>,
    ) -> Result<T, SqlError> {
        let mut call = pin!(call);
        poll_fn(|cx| {
            loop {
                if let Poll::Ready(done) = call.as_mut().poll(cx) {
                    return Poll::Ready(done);
                }
                match connection.poll_message(cx) {
                    Poll::Pending => return call.as_mut().poll(cx),
                    Poll::Ready(Some(Ok(_notice))) => {}
                    Poll::Ready(Some(Err(error))) => {
                        return Poll::Ready(Err(SqlError {
                            is_lost: true,
                            ..told(error)
                        }));
                    }
                    Poll::Ready(None) => {
                        let says = "the server closed the connection";
                        return Poll::Ready(Err(SqlError::lost(says)));
                    }
                }
            }
        })
        .await
    }

    pub(crate) async fn prepare(&mut self, sql: &str) -> Result<Statement, SqlError> {
        let client = &self.client;
        let call = async { client.prepare(sql).await.map_err(told) };
        Self::drive(&mut self.connection, call).await
    }

    pub(crate) async fn batch(&mut self, sql: &str) -> Result<(), SqlError> {
        let client = &self.client;
        let call = async { client.batch_execute(sql).await.map_err(told) };
        Self::drive(&mut self.connection, call).await
    }

    pub(crate) async fn execute(
        &mut self,
        statement: &Statement,
        parameters: &[Value<'_>],
    ) -> Result<u64, SqlError> {
        let client = &self.client;
        let call = async {
            let done = client.execute_raw(statement, parameters).await;
            done.map_err(told)
        };
        Self::drive(&mut self.connection, call).await
    }

    pub(crate) async fn query(
        &mut self,
        statement: &Statement,
        parameters: &[Value<'_>],
        each: EachRow<'_>,
    ) -> Result<(), SqlError> {
        let client = &self.client;
        let call = async {
            let rows = client.query_raw(statement, parameters).await;
            let mut rows = pin!(rows.map_err(told)?);
            while let Some(row) = rows.try_next().await.map_err(told)? {
                each(&Row(Inner::Postgres(&row)))?;
            }
            Ok(())
        };
        Self::drive(&mut self.connection, call).await
    }

    /// Executes a statement once per set of parameters without waiting in between; tells of each as its
    /// answer comes.
    pub(crate) async fn pipeline(
        &mut self,
        statement: &Statement,
        sets: &[&[Value<'_>]],
        mut each: impl FnMut(usize, Result<u64, SqlError>),
    ) -> Result<(), SqlError> {
        let client = &self.client;
        let call = async {
            // The first poll of each future sends it: all of them before the first answer is waited for.
            let calls = sets.iter().map(|set| client.execute_raw(statement, *set));
            let calls = calls.collect::<futures_util::stream::FuturesOrdered<_>>();
            let mut calls = pin!(futures_util::StreamExt::enumerate(calls));
            while let Some((index, done)) = futures_util::StreamExt::next(&mut calls).await {
                let done = done.map_err(told);
                if let Err(error) = &done
                    && error.is_lost
                {
                    return Err(error.clone());
                }
                each(index, done);
            }
            Ok(())
        };
        Self::drive(&mut self.connection, call).await
    }

    pub(crate) async fn load(
        &mut self,
        table: &str,
        columns: &[&str],
        next: NextRow<'_>,
    ) -> Result<u64, SqlError> {
        let sql = format!("copy {table} ({}) from stdin", columns.join(", "));
        let client = &self.client;
        let call = async {
            let sink = client.copy_in::<_, Bytes>(&sql).await.map_err(told)?;
            let mut sink = pin!(sink);
            let mut writer = RowWriter::new(Form::Copy);
            let mut more = true;
            while more {
                while more && writer.text.len() < CHUNK_BYTES {
                    more = next(&mut writer);
                }
                if !writer.text.is_empty() {
                    let chunk = Bytes::from(std::mem::take(&mut writer.text));
                    writer.text.reserve(CHUNK_BYTES + 1024);
                    sink.send(chunk).await.map_err(told)?;
                }
            }
            sink.finish().await.map_err(told)
        };
        Self::drive(&mut self.connection, call).await
    }
}

/// An error of the driver as everybody sees it.
pub(crate) fn told(error: tokio_postgres::Error) -> SqlError {
    if let Some(said) = error.as_db_error() {
        let code = said.code().code();
        let class = Class::of_state(code);
        let fatal = matches!(said.severity(), "FATAL" | "PANIC");
        return SqlError {
            class,
            code: Some(code.into()),
            message: said.message().into(),
            is_lost: fatal || class == Class::Connection,
        };
    }
    let of_way = error.source().and_then(|source| source.downcast_ref());
    if let Some(refused) = of_way.and_then(tls::refused) {
        return refused;
    }
    let mut message = error.to_string();
    let mut source = error.source();
    while let Some(deeper) = source {
        // Writing to a string cannot fail.
        let _ = write!(message, ": {deeper}");
        source = deeper.source();
    }
    let of_value =
        message.starts_with("error serializing") || message.starts_with("error deserial");
    match of_value {
        true => SqlError::unreadable(message),
        // The driver has no other sign of it.
        false if message.ends_with("server does not support TLS") => SqlError::no_tls(),
        false => SqlError::lost(message),
    }
}

impl ToSql for Value<'_> {
    fn to_sql(
        &self,
        ty: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn StdError + Sync + Send>> {
        match self {
            Value::Null => return Ok(IsNull::Yes),
            Value::Int(value) => return int_to_sql(*value, ty, out),
            Value::Float(value) if *ty == Type::FLOAT8 => return value.to_sql(ty, out),
            Value::Float(value) => write!(out, "{value}")?,
            Value::Decimal(value) => write!(out, "{value}")?,
            Value::Text(text) => out.extend_from_slice(text.as_bytes()),
            Value::Time(micros) => out.write_str(&crate::text_of_time(*micros))?,
        }
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    /// Format of a value: text, which the server reads for every type, unless it has a binary form here.
    fn encode_format(&self, ty: &Type) -> Format {
        let is_binary = match self {
            Value::Int(_) => matches!(*ty, Type::INT2 | Type::INT4 | Type::INT8),
            Value::Float(_) => *ty == Type::FLOAT8,
            _ => false,
        };
        match is_binary {
            true => Format::Binary,
            false => Format::Text,
        }
    }

    to_sql_checked!();
}

fn int_to_sql(
    value: i64,
    ty: &Type,
    out: &mut BytesMut,
) -> Result<IsNull, Box<dyn StdError + Sync + Send>> {
    match *ty {
        Type::INT8 => value.to_sql(ty, out),
        Type::INT4 => i32::try_from(value)?.to_sql(ty, out),
        Type::INT2 => i16::try_from(value)?.to_sql(ty, out),
        _ => {
            write!(out, "{value}")?;
            Ok(IsNull::No)
        }
    }
}

/// The bytes of a column, with their type.
pub(crate) struct Raw<'a>(pub(crate) &'a [u8], pub(crate) Type);

impl<'a> FromSql<'a> for Raw<'a> {
    fn from_sql(ty: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn StdError + Sync + Send>> {
        Ok(Raw(raw, ty.clone()))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

/// The value of a column.
pub(crate) fn value(row: &tokio_postgres::Row, column: usize) -> Result<Value<'_>, SqlError> {
    let raw: Option<Raw<'_>> = row.try_get(column).map_err(told)?;
    let Some(Raw(bytes, ty)) = raw else {
        return Ok(Value::Null);
    };
    decoded(bytes, &ty)
        .ok_or_else(|| SqlError::unreadable(format!("values of the type `{ty}` cannot be read")))
}

fn decoded<'a>(bytes: &'a [u8], ty: &Type) -> Option<Value<'a>> {
    Some(match *ty {
        Type::INT2 => Value::Int(i16::from_be_bytes(bytes.try_into().ok()?).into()),
        Type::INT4 => Value::Int(i32::from_be_bytes(bytes.try_into().ok()?).into()),
        Type::INT8 => Value::Int(i64::from_be_bytes(bytes.try_into().ok()?)),
        Type::OID => Value::Int(u32::from_be_bytes(bytes.try_into().ok()?).into()),
        Type::BOOL => Value::Int((*bytes.first()? != 0).into()),
        Type::FLOAT4 => Value::Float(f32::from_be_bytes(bytes.try_into().ok()?).into()),
        Type::FLOAT8 => Value::Float(f64::from_be_bytes(bytes.try_into().ok()?)),
        Type::NUMERIC => numeric(bytes)?,
        Type::TIMESTAMP | Type::TIMESTAMPTZ => {
            let micros = i64::from_be_bytes(bytes.try_into().ok()?);
            Value::Time(micros.saturating_add(EPOCH_2000))
        }
        Type::DATE => {
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
