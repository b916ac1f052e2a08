//! SQLite as `org.sqlite.JDBC` uses it.
//!
//! Where another connection has the right that a statement needs, its task waits in turns and lets others go
//! on: the other connection may live on the same thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rusqlite::types::ValueRef;
use rusqlite::{CachedStatement, Connection, Error, ErrorCode, OpenFlags, ffi};

use super::argument::{Argument, ArgumentKind};
use super::{Exception, Gives, JdbcAddress, JdbcOutcome, Room, Rows, java};
use crate::sqlite::{STEPS, confine};

const CLASS: &str = "org.sqlite.SQLiteException";
/// Longest wait of a statement for others, unless it says another.
const BUSY: Duration = Duration::from_millis(3000);
/// Times that the task only lets others run before it sleeps.
const YIELDS: u32 = 16;
/// Statements kept prepared.
const KEPT: usize = 64;

pub(super) struct Sqlite(Connection);

impl Sqlite {
    pub(super) fn open(place: &JdbcAddress) -> Result<Self, Exception> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let opened = match &place.file {
            Some(path) => Connection::open_with_flags(path, flags),
            None => Connection::open_in_memory_with_flags(flags),
        };
        let connection = opened.map_err(|error| Exception {
            is_lost: true,
            ..told(&error)
        })?;
        connection.set_prepared_statement_cache_capacity(KEPT);
        connection
            .busy_timeout(Duration::ZERO)
            .map_err(|error| told(&error))?;
        Ok(Self(connection))
    }

    pub(super) fn end_with(&mut self, stop: Arc<AtomicBool>) -> Result<(), Exception> {
        let is_over = move || stop.load(Ordering::Relaxed);
        let watching = self.0.progress_handler(STEPS, Some(is_over));
        watching.map_err(|error| told(&error))
    }

    pub(super) fn confine(
        &mut self,
        may_open: impl Fn(&str) -> bool + Send + 'static,
    ) -> Result<(), Exception> {
        confine(&mut self.0, may_open).map_err(|error| told(&error))
    }

    pub(super) async fn batch(&mut self, sql: &str) -> Result<(), Exception> {
        let connection = &self.0;
        in_turns(BUSY, || connection.execute_batch(sql)).await
    }

    pub(super) async fn run(
        &mut self,
        statement: &super::JdbcStatement<'_>,
    ) -> Result<JdbcOutcome, Exception> {
        let bound = statement.timeout.unwrap_or(BUSY);
        let connection = &self.0;
        if statement.expects == Gives::Anything {
            let says = "SQLite does not support Stored Procedures";
            return Err(Exception::plain(says));
        }
        if statement.arguments.is_none() && statement.expects == Gives::Count {
            in_turns(bound, || connection.execute_batch(statement.sql)).await?;
            // The statement was executed; the driver has forgotten it when it is asked what it changed.
            return Err(Exception::of(
                "java.lang.NullPointerException",
                None,
                "Cannot invoke \"org.sqlite.core.SafeStmtPtr.isClosed()\" because \"this.pointer\" is null",
            ));
        }
        let mut refused = None;
        let outcome = in_turns(bound, || {
            let executed = execute(connection, statement)?;
            Ok(executed.unwrap_or_else(|exception| {
                refused = Some(exception);
                JdbcOutcome::Count(0)
            }))
        })
        .await?;
        refused.map_or(Ok(outcome), Err)
    }
}

/// Executes a statement whose rows, or parameters, are asked for.
fn execute(
    connection: &Connection,
    statement: &super::JdbcStatement<'_>,
) -> Result<Result<JdbcOutcome, Exception>, Error> {
    let mut prepared = connection.prepare_cached(statement.sql)?;
    let arguments = statement.arguments.unwrap_or_default();
    let wanted = prepared.parameter_count();
    for index in 1..=wanted {
        // A parameter without a value is `NULL`.
        let null = Argument::Null(ArgumentKind::Open);
        bind(
            &mut prepared,
            index,
            arguments.get(index - 1).unwrap_or(&null),
        )?;
    }
    let has_rows = prepared.column_count() > 0;
    let gives_rows = statement.expects == Gives::Rows;
    if gives_rows && !has_rows {
        if statement.arguments.is_some() {
            return Ok(Err(Exception::plain("Query does not return results")));
        }
        // It was executed nevertheless.
        prepared.raw_execute()?;
        let exception = Exception {
            number: ffi::SQLITE_DONE,
            ..Exception::of(
                "java.sql.SQLException",
                Some("SQLITE_DONE"),
                "query does not return ResultSet",
            )
        };
        return Ok(Err(exception));
    }
    if !gives_rows {
        if has_rows {
            return Ok(Err(Exception::plain("Query returns results")));
        }
        prepared.raw_execute()?;
        // What the driver tells of every prepared statement when it is asked.
        return Ok(Ok(JdbcOutcome::Count(0)));
    }
    let columns = prepared.column_names().map(str::to_owned);
    let mut rows = Rows {
        columns: columns.collect(),
        rows: Vec::new(),
    };
    let most = statement.most_rows.unwrap_or(usize::MAX);
    let (mut found, mut room) = (prepared.raw_query(), Room::new());
    while rows.rows.len() < most
        && let Some(row) = found.next()?
    {
        let cells = (0..rows.columns.len()).map(|column| Ok(text(row.get_ref(column)?)));
        let cells = cells.collect::<Result<Vec<_>, Error>>()?;
        if let Err(refused) = room.take(&cells) {
            return Ok(Err(refused));
        }
        rows.rows.push(cells);
    }
    Ok(Ok(JdbcOutcome::Rows(rows)))
}

fn bind(
    statement: &mut CachedStatement<'_>,
    index: usize,
    argument: &Argument,
) -> Result<(), Error> {
    match argument {
        Argument::Null(_) => statement.raw_bind_parameter(index, rusqlite::types::Null),
        Argument::Int(value) => statement.raw_bind_parameter(index, value),
        Argument::Long(value) => statement.raw_bind_parameter(index, value),
        Argument::Short(value) => statement.raw_bind_parameter(index, value),
        Argument::Float(value) => statement.raw_bind_parameter(index, f64::from(*value)),
        Argument::Double(value) => statement.raw_bind_parameter(index, value),
        Argument::Bool(value) => statement.raw_bind_parameter(index, i32::from(*value)),
        Argument::Bytes(bytes) => statement.raw_bind_parameter(index, bytes),
        Argument::Decimal(text)
        | Argument::Text(text)
        | Argument::Date(text)
        | Argument::Time(text)
        | Argument::Timestamp(text) => statement.raw_bind_parameter(index, text),
    }
}

fn text(value: ValueRef<'_>) -> Option<String> {
    Some(match value {
        ValueRef::Null => return None,
        ValueRef::Integer(value) => value.to_string(),
        ValueRef::Real(value) => java::double(value),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
            String::from_utf8_lossy(bytes).into_owned()
        }
    })
}

/// Tries again while another connection has what is needed.
async fn in_turns<T>(
    bound: Duration,
    mut attempt: impl FnMut() -> Result<T, Error>,
) -> Result<T, Exception> {
    let begun = Instant::now();
    let mut tries = 0;
    loop {
        match attempt() {
            Ok(done) => return Ok(done),
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && begun.elapsed() < bound =>
            {
                tries += 1;
                match tries <= YIELDS {
                    true => tokio::task::yield_now().await,
                    false => tokio::time::sleep(Duration::from_millis(1)).await,
                }
            }
            Err(error) => return Err(told(&error)),
        }
    }
}

/// An error of the library as the driver shows it.
fn told(error: &Error) -> Exception {
    let (code, said) = match error {
        Error::SqliteFailure(code, said) => (code.extended_code, said.clone()),
        Error::SqlInputError { error, msg, .. } => (error.extended_code, Some(msg.clone())),
        other => return Exception::plain(other.to_string()),
    };
    let (name, meaning) = meaning(code);
    let said = said.unwrap_or_else(|| "not an error".into());
    Exception {
        number: code & 0xff,
        is_lost: matches!(code & 0xff, ffi::SQLITE_CANTOPEN | ffi::SQLITE_NOTADB),
        ..Exception::of(CLASS, None, format!("[{name}] {meaning} ({said})"))
    }
}

/// Name and meaning of a result code.
fn meaning(code: i32) -> (&'static str, &'static str) {
    match code {
        ffi::SQLITE_CONSTRAINT_CHECK => ("SQLITE_CONSTRAINT_CHECK", "A CHECK constraint failed"),
        ffi::SQLITE_CONSTRAINT_FOREIGNKEY => (
            "SQLITE_CONSTRAINT_FOREIGNKEY",
            "A foreign key constraint failed",
        ),
        ffi::SQLITE_CONSTRAINT_NOTNULL => {
            ("SQLITE_CONSTRAINT_NOTNULL", "A NOT NULL constraint failed")
        }
        ffi::SQLITE_CONSTRAINT_PRIMARYKEY => (
            "SQLITE_CONSTRAINT_PRIMARYKEY",
            "A PRIMARY KEY constraint failed",
        ),
        ffi::SQLITE_CONSTRAINT_UNIQUE => ("SQLITE_CONSTRAINT_UNIQUE", "A UNIQUE constraint failed"),
        ffi::SQLITE_CONSTRAINT_TRIGGER => (
            "SQLITE_CONSTRAINT_TRIGGER",
            "A RAISE function within a trigger fired, causing the SQL statement to abort",
        ),
        _ => match code & 0xff {
            ffi::SQLITE_ERROR => ("SQLITE_ERROR", "SQL error or missing database"),
            ffi::SQLITE_PERM => ("SQLITE_PERM", "Access permission denied"),
            ffi::SQLITE_BUSY => ("SQLITE_BUSY", "The database file is locked"),
            ffi::SQLITE_LOCKED => ("SQLITE_LOCKED", "A table in the database is locked"),
            ffi::SQLITE_READONLY => ("SQLITE_READONLY", "Attempt to write a readonly database"),
            ffi::SQLITE_IOERR => ("SQLITE_IOERR", "Some kind of disk I/O error occurred"),
            ffi::SQLITE_CORRUPT => ("SQLITE_CORRUPT", "The database disk image is malformed"),
            ffi::SQLITE_FULL => ("SQLITE_FULL", "Insertion failed because database is full"),
            ffi::SQLITE_CANTOPEN => ("SQLITE_CANTOPEN", "Unable to open the database file"),
            ffi::SQLITE_TOOBIG => ("SQLITE_TOOBIG", "String or BLOB exceeds size limit"),
            ffi::SQLITE_CONSTRAINT => ("SQLITE_CONSTRAINT", "Abort due to constraint violation"),
            ffi::SQLITE_MISMATCH => ("SQLITE_MISMATCH", "Data type mismatch"),
            ffi::SQLITE_NOTADB => ("SQLITE_NOTADB", "File opened that is not a database file"),
            _ => ("UNKNOWN_ERROR", "Unknown error"),
        },
    }
}
