//! Sessions on MariaDB and MySQL.

use std::future::Future;
use std::io;
use std::panic::AssertUnwindSafe;

use futures_util::FutureExt as _;
use mysql_async::consts::ColumnType;
use mysql_async::prelude::Queryable as _;
use mysql_async::{
    Conn, DriverError, Error, IoError, OptsBuilder, Params, Statement, Value as MyValue,
};

use crate::error::{Class, SqlError};
use crate::growth::bounded;
use crate::mysql_tls::MySqlAddress;
use crate::placeholders::positional;
use crate::row::{EachRow, Inner, Row, number};
use crate::rows::{Form, NextRow, RowWriter};
use crate::time::parts;
use crate::tls;
use crate::value::Value;

/// Bytes of one multi-row INSERT: far below the smallest `max_allowed_packet` of a default server.
const CHUNK_BYTES: usize = 512 << 10;

/// One session.
pub(crate) struct MySql {
    conn: Conn,
    pub(crate) is_encrypted: bool,
}

/// A prepared statement, and which parameter each of its placeholders takes.
#[derive(Clone)]
pub(crate) struct Prepared {
    statement: Statement,
    order: std::sync::Arc<[usize]>,
}

impl MySql {
    pub(crate) async fn connect(address: &MySqlAddress) -> Result<Self, SqlError> {
        let builder = OptsBuilder::from_opts(address.opts.clone())
            .pass(address.password())
            // Found rows, as PostgreSQL and SQLite count: also those that an update left as they were.
            .client_found_rows(true)
            .prefer_socket(false)
            .stmt_cache_size(256_usize);
        let refused = |error: io::Error| SqlError::untrusted(error.to_string());
        if let Some(tls) = address.tls().map_err(refused)? {
            // The driver keeps the state of handshakes with these options. New ones for each session make
            // each cost a whole handshake, as with MySQL's own client.
            match guarded(Conn::new(builder.clone().ssl_opts(tls))).await {
                Ok(conn) => {
                    return Ok(Self {
                        conn,
                        is_encrypted: true,
                    });
                }
                Err(Error::Driver(DriverError::NoClientSslFlagFromServer))
                    if address.goes_on_without() => {}
                Err(error) => return Err(told(error)),
            }
        }
        Ok(Self {
            conn: guarded(Conn::new(builder)).await.map_err(told)?,
            is_encrypted: false,
        })
    }

    pub(crate) async fn prepare(&mut self, sql: &str) -> Result<Prepared, SqlError> {
        let positional = positional(sql);
        let prepared = guarded(self.conn.prep(positional.sql)).await;
        let statement = prepared.map_err(told)?;
        Ok(Prepared {
            statement,
            order: positional.order.into(),
        })
    }

    pub(crate) async fn batch(&mut self, sql: &str) -> Result<(), SqlError> {
        guarded(self.conn.query_drop(sql)).await.map_err(told)
    }

    pub(crate) async fn execute(
        &mut self,
        prepared: &Prepared,
        parameters: &[Value<'_>],
    ) -> Result<u64, SqlError> {
        let parameters = ordered(prepared, parameters)?;
        let result = guarded(self.conn.exec_iter(&prepared.statement, parameters)).await;
        let result = result.map_err(told)?;
        let affected = result.affected_rows();
        guarded(result.drop_result()).await.map_err(told)?;
        Ok(affected)
    }

    pub(crate) async fn query(
        &mut self,
        prepared: &Prepared,
        parameters: &[Value<'_>],
        each: EachRow<'_>,
    ) -> Result<(), SqlError> {
        let parameters = ordered(prepared, parameters)?;
        let result = guarded(self.conn.exec_iter(&prepared.statement, parameters)).await;
        let mut result = result.map_err(told)?;
        let mut failed = None;
        while let Some(row) = guarded(result.next()).await.map_err(told)? {
            if failed.is_none() {
                failed = each(&Row(Inner::MySql(&row))).err();
            }
        }
        failed.map_or(Ok(()), Err)
    }

    pub(crate) async fn load(
        &mut self,
        table: &str,
        columns: &[&str],
        next: NextRow<'_>,
    ) -> Result<u64, SqlError> {
        let begin = format!("insert into {table} ({}) values ", columns.join(", "));
        let mut writer = RowWriter::new(Form::Insert);
        let (mut loaded, mut more) = (0, true);
        while more {
            writer.begin_chunk(&begin);
            while more && writer.text.len() < CHUNK_BYTES {
                more = next(&mut writer);
            }
            if writer.rows > 0 {
                let chunk = std::mem::take(&mut writer.text);
                guarded(self.conn.query_drop(chunk)).await.map_err(told)?;
                loaded += writer.rows;
            }
        }
        Ok(loaded)
    }
}

/// Awaits a call of the driver, and turns a panic of it into an error that ends the session.
///
/// The driver asserts some facts about packets and keys that a server can violate, and keeps as much as one
/// sends: see [`bounded`].
pub(crate) async fn guarded<T>(call: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    // The session, which may be half-changed, is not used again.
    let ended = AssertUnwindSafe(bounded(call)).catch_unwind().await;
    ended.unwrap_or_else(|_| {
        let says = "the answer is not one of MariaDB or MySQL";
        Err(io::Error::new(io::ErrorKind::InvalidData, says).into())
    })
}

fn ordered(prepared: &Prepared, parameters: &[Value<'_>]) -> Result<Params, SqlError> {
    let missing = || SqlError::unreadable("a parameter of the statement is missing");
    let values = prepared.order.iter().map(|index| {
        let value = parameters.get(*index).ok_or_else(missing)?;
        Ok(sent(value))
    });
    let values = values.collect::<Result<Vec<_>, SqlError>>()?;
    Ok(match values.is_empty() {
        true => Params::Empty,
        false => Params::Positional(values),
    })
}

fn sent(value: &Value<'_>) -> MyValue {
    match value {
        Value::Null => MyValue::NULL,
        Value::Int(value) => MyValue::Int(*value),
        Value::Float(value) => MyValue::Double(*value),
        Value::Decimal(value) => MyValue::Bytes(value.to_string().into_bytes()),
        Value::Text(text) => MyValue::Bytes(text.as_bytes().to_vec()),
        Value::Time(micros) => {
            let (year, month, day, hour, minute, second, micro) = parts(*micros);
            MyValue::Date(
                u16::try_from(year).unwrap_or(0),
                month as u8,
                day as u8,
                hour as u8,
                minute as u8,
                second as u8,
                micro,
            )
        }
    }
}

/// The value of a column.
pub(crate) fn value(row: &mysql_async::Row, column: usize) -> Result<Value<'_>, SqlError> {
    use ColumnType as T;
    let ty = row.columns_ref().get(column).map(|c| c.column_type());
    let text = |bytes| String::from_utf8_lossy(bytes);
    Ok(match row.as_ref(column) {
        None | Some(MyValue::NULL) => Value::Null,
        Some(MyValue::Int(value)) => Value::Int(*value),
        Some(MyValue::UInt(value)) => match i64::try_from(*value) {
            Ok(value) => Value::Int(value),
            Err(_) => number(&value.to_string())?,
        },
        Some(MyValue::Float(value)) => Value::Float(f64::from(*value)),
        Some(MyValue::Double(value)) => Value::Float(*value),
        Some(MyValue::Bytes(bytes)) => match ty {
            Some(T::MYSQL_TYPE_DECIMAL | T::MYSQL_TYPE_NEWDECIMAL) => number(&text(bytes))?,
            _ => Value::Text(text(bytes)),
        },
        Some(MyValue::Date(year, month, day, hour, minute, second, micro)) => {
            let days = days(i64::from(*year), (*month).into(), (*day).into());
            let seconds = i64::from(*hour) * 3600 + i64::from(*minute) * 60 + i64::from(*second);
            Value::Time((days * 86_400 + seconds) * 1_000_000 + i64::from(*micro))
        }
        Some(other @ MyValue::Time(..)) => {
            Value::Text(other.as_sql(true).trim_matches('\'').to_owned().into())
        }
    })
}

/// Days from 1970-01-01 to a date of the Gregorian calendar.
fn days(year: i64, month: i64, day: i64) -> i64 {
    // Howard Hinnant, days_from_civil.
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// An error of the driver as everybody sees it.
fn told(error: Error) -> SqlError {
    let said = match error {
        Error::Server(said) => said,
        Error::Driver(DriverError::NoClientSslFlagFromServer) => return SqlError::no_tls(),
        other => {
            let refused = match &other {
                Error::Io(IoError::Io(of_way)) => tls::refused(of_way),
                _ => None,
            };
            return refused.unwrap_or_else(|| SqlError::lost(other.to_string()));
        }
    };
    let class = match said.code {
        1213 => Class::Deadlock,
        1205 => Class::LockTimeout,
        1040 | 1203 | 1021 | 1114 | 1041 => Class::Resources,
        1044 | 1045 | 1698 => Class::Denied,
        1053 | 1927 | 2006 | 2013 => Class::Connection,
        1317 | 3024 | 1969 => Class::Cancelled,
        _ => Class::of_state(&said.state),
    };
    SqlError {
        class,
        code: Some(format!("{}/{}", said.state, said.code)),
        message: said.message,
        is_lost: class == Class::Connection,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_the_same_days_both_ways() {
        for day in [-719_468, -1, 0, 59, 11_016, 20_781, 2_932_896] {
            let (year, month, of_month) = crate::civil(day);
            assert_eq!(days(year, month.into(), of_month.into()), day);
        }
    }
}
