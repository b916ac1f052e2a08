//! Sessions on MariaDB and MySQL.
//!
//! ```text
//! MySqlAddress ──connect──► Wire: packets ─► server ─► packets   stream: bytes, packet: what they say
//!                             ▲
//!                           Conn: query · prepare · execute · next_row · next_result
//! ```
//!
//! Memory is taken for what a server has sent, never for what it announces: packets, columns and their
//! definitions are bounded.

mod address;
mod conn;
mod connect;
mod failure;
mod packet;
mod stream;

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

// mysql_common leaves the choice of an implementation to those who use it.
use flate2 as _;
use futures_util::FutureExt as _;
use mysql_common::Value as Cell;
use mysql_common::constants::{CapabilityFlags, ColumnType};

pub(crate) use address::MySqlAddress;
pub(crate) use conn::{Conn, Given};
pub(crate) use failure::{Failure, ServerError};

use crate::error::SqlError;
use crate::placeholders::positional;
use crate::row::{EachRow, Inner, Row, number};
use crate::rows::{Form, NextRow, RowWriter};
use crate::time::parts;
use crate::value::Value;

/// Bytes of rows that travel together, as a packet or a multi-row INSERT: far below the smallest `max_allowed_packet` of a
/// default server.
const CHUNK_BYTES: usize = 512 << 10;
/// Errors of servers that take no rows as a file: MariaDB's and MySQL's.
const NO_FILES: [u16; 3] = [1148, 3948, 4166];
/// Errors that tell of a key that is there already, and of a value that must not be null.
const OF_CONSTRAINTS: [u16; 3] = [1048, 1062, 1586];

/// One session.
pub(crate) struct MySql(Conn);

/// A prepared statement, and which parameter each of its placeholders takes.
#[derive(Clone)]
pub(crate) struct Prepared {
    statement: Arc<conn::Statement>,
    order: Arc<[usize]>,
}

impl Drop for MySql {
    fn drop(&mut self) {
        self.0.stream().hang_up();
    }
}

impl MySql {
    pub(crate) async fn connect(address: &MySqlAddress) -> Result<Self, SqlError> {
        let password = address.password();
        let opened = guarded(Conn::open(
            address,
            password.as_deref(),
            CapabilityFlags::CLIENT_LOCAL_FILES,
        ))
        .await;
        opened.map(Self).map_err(Failure::told)
    }

    pub(crate) fn is_encrypted(&self) -> bool {
        self.0.is_encrypted
    }

    /// Another handle of its TCP connection; `None` for a socket of this host.
    pub(crate) fn tcp(&self) -> Option<std::net::TcpStream> {
        self.0.stream().tcp()
    }

    pub(crate) async fn prepare(&mut self, sql: &str) -> Result<Prepared, SqlError> {
        let positional = positional(sql);
        let prepared = guarded(self.0.prepare(&positional.sql)).await;
        Ok(Prepared {
            statement: prepared.map_err(Failure::told)?,
            order: positional.order.into(),
        })
    }

    pub(crate) async fn batch(&mut self, sql: &str) -> Result<(), SqlError> {
        guarded(self.0.batch(sql.as_bytes()))
            .await
            .map_err(Failure::told)
    }

    pub(crate) async fn execute(
        &mut self,
        prepared: &Prepared,
        parameters: &[Value<'_>],
    ) -> Result<u64, SqlError> {
        let parameters = ordered(prepared, parameters)?;
        let executed = async {
            let mut count = 0;
            match self.0.execute(&prepared.statement, &parameters).await? {
                Given::Changed(changed) => count = changed,
                Given::Rows(_) => {
                    while self.0.next_row().await?.is_some() {
                        count += 1;
                    }
                }
            }
            self.0.finish().await?;
            Ok::<u64, Failure>(count)
        };
        guarded(executed).await.map_err(Failure::told)
    }

    pub(crate) async fn query(
        &mut self,
        prepared: &Prepared,
        parameters: &[Value<'_>],
        each: EachRow<'_>,
    ) -> Result<(), SqlError> {
        let parameters = ordered(prepared, parameters)?;
        let mut failed = None;
        let read = async {
            self.0.execute(&prepared.statement, &parameters).await?;
            while let Some(row) = self.0.next_row().await? {
                if failed.is_none() {
                    failed = each(&Row(Inner::MySql(&row))).err();
                }
            }
            self.0.finish().await
        };
        guarded(read).await.map_err(Failure::told)?;
        failed.map_or(Ok(()), Err)
    }

    pub(crate) async fn load(
        &mut self,
        table: &str,
        columns: &[&str],
        next: NextRow<'_>,
    ) -> Result<u64, SqlError> {
        let columns = columns.join(", ");
        if self.0.sends_rows() {
            match guarded(self.send_rows(table, &columns, &mut *next)).await {
                // Its settings forbid it, before any row was asked for.
                Err(Failure::Server(said)) if NO_FILES.contains(&said.code) => {}
                loaded => return loaded.map_err(Failure::told),
            }
        }
        guarded(self.insert_rows(table, &columns, next))
            .await
            .map_err(Failure::told)
    }

    /// Loads rows as a file of `LOAD DATA LOCAL`: the server reads no statement for them.
    async fn send_rows(
        &mut self,
        table: &str,
        columns: &str,
        next: NextRow<'_>,
    ) -> Result<u64, Failure> {
        let sql = format!(
            "load data local infile 'rows' into table {table} character set utf8mb4 \
             fields terminated by 0x09 escaped by 0x5c lines terminated by 0x0a ({columns})"
        );
        let mut writer = RowWriter::new(Form::Copy);
        let piece = |text: &mut Vec<u8>| {
            std::mem::swap(text, &mut writer.text);
            let mut more = true;
            while more && writer.text.len() < CHUNK_BYTES {
                more = next(&mut writer);
            }
            std::mem::swap(text, &mut writer.text);
            more
        };
        self.0.batch(b"begin").await?;
        let loaded = match self.0.load(sql.as_bytes(), piece).await {
            Ok(done) if done.changed != writer.rows || done.warnings > 0 => self.warned().await,
            loaded => loaded.map(|_| writer.rows),
        };
        self.close(loaded).await
    }

    /// Commits rows that were loaded, or takes back what came before a failure.
    async fn close(&mut self, loaded: Result<u64, Failure>) -> Result<u64, Failure> {
        match &loaded {
            Ok(_) => self.0.batch(b"commit").await?,
            Err(_) => {
                // A session that is lost takes them back by itself.
                let _ = self.0.batch(b"rollback").await;
            }
        }
        loaded
    }

    /// The server has left rows out, or changed values, and only warns of that. Its first warning becomes the error that it
    /// is in an INSERT.
    #[cold]
    async fn warned(&mut self) -> Result<u64, Failure> {
        let mut said = ServerError {
            code: 0,
            state: "22000".into(),
            message: "rows were left out".into(),
        };
        self.0.query(b"show warnings limit 1").await?;
        while let Some(row) = self.0.next_row().await? {
            let text = |column| match row.as_ref(column) {
                Some(Cell::Bytes(bytes)) => String::from_utf8_lossy(bytes).into_owned(),
                _ => String::new(),
            };
            said.code = text(1).parse().unwrap_or(0);
            said.message = text(2);
        }
        self.0.finish().await?;
        if OF_CONSTRAINTS.contains(&said.code) {
            said.state = "23000".into();
        }
        Err(Failure::Server(Box::new(said)))
    }

    /// Loads rows as statements with many of them each.
    async fn insert_rows(
        &mut self,
        table: &str,
        columns: &str,
        next: NextRow<'_>,
    ) -> Result<u64, Failure> {
        let begin = format!("insert into {table} ({columns}) values ");
        let mut writer = RowWriter::new(Form::Insert);
        let (mut loaded, mut more) = (Ok(0), true);
        self.0.batch(b"begin").await?;
        while more && loaded.is_ok() {
            writer.begin_chunk(&begin);
            while more && writer.text.len() < CHUNK_BYTES {
                more = next(&mut writer);
            }
            if writer.rows > 0 {
                let inserted = self.0.batch(&writer.text).await;
                loaded = loaded.and_then(|rows| inserted.map(|()| rows + writer.rows));
            }
        }
        self.close(loaded).await
    }
}

/// Awaits a call, and turns a panic of it into an error that ends the session.
///
/// The library that reads keys and rows asserts some facts that a server can violate.
pub(crate) async fn guarded<T>(
    call: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    // The session, which may be half-changed, is not used again.
    let ended = AssertUnwindSafe(call).catch_unwind().await;
    ended.unwrap_or(Err(Failure::Garbled))
}

/// Reads any bytes as if a server had sent them: a target of fuzzing.
pub(crate) fn any_bytes(bytes: &[u8]) {
    conn::any_bytes(bytes);
}

fn ordered(prepared: &Prepared, parameters: &[Value<'_>]) -> Result<Vec<Cell>, SqlError> {
    let missing = || SqlError::unreadable("a parameter of the statement is missing");
    let values = prepared.order.iter().map(|index| {
        let value = parameters.get(*index).ok_or_else(missing)?;
        Ok(sent(value))
    });
    values.collect()
}

fn sent(value: &Value<'_>) -> Cell {
    match value {
        Value::Null => Cell::NULL,
        Value::Int(value) => Cell::Int(*value),
        Value::Float(value) => Cell::Double(*value),
        Value::Decimal(value) => Cell::Bytes(value.to_string().into_bytes()),
        Value::Text(text) => Cell::Bytes(text.as_bytes().to_vec()),
        Value::Time(micros) => {
            let (year, month, day, hour, minute, second, micro) = parts(*micros);
            Cell::Date(
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
pub(crate) fn value(row: &mysql_common::Row, column: usize) -> Result<Value<'_>, SqlError> {
    use ColumnType as T;
    let ty = row.columns_ref().get(column).map(|c| c.column_type());
    let text = |bytes| String::from_utf8_lossy(bytes);
    Ok(match row.as_ref(column) {
        None | Some(Cell::NULL) => Value::Null,
        Some(Cell::Int(value)) => Value::Int(*value),
        Some(Cell::UInt(value)) => match i64::try_from(*value) {
            Ok(value) => Value::Int(value),
            Err(_) => number(&value.to_string())?,
        },
        Some(Cell::Float(value)) => Value::Float(f64::from(*value)),
        Some(Cell::Double(value)) => Value::Float(*value),
        Some(Cell::Bytes(bytes)) => match ty {
            Some(T::MYSQL_TYPE_DECIMAL | T::MYSQL_TYPE_NEWDECIMAL) => number(&text(bytes))?,
            _ => Value::Text(text(bytes)),
        },
        Some(Cell::Date(year, month, day, hour, minute, second, micro)) => {
            let days = days(i64::from(*year), (*month).into(), (*day).into());
            let seconds = i64::from(*hour) * 3600 + i64::from(*minute) * 60 + i64::from(*second);
            Value::Time((days * 86_400 + seconds) * 1_000_000 + i64::from(*micro))
        }
        Some(other @ Cell::Time(..)) => {
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
