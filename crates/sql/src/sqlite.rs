//! Sessions on SQLite, within this process.
//!
//! SQLite allows one writer at a time. A session that wants to write asks for that right at the begin of
//! its transaction, and while another one has it, its task waits without holding the thread: the other
//! session may live on the same thread. A transaction that has begun never waits.

use std::ffi::c_int;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rusqlite::backup::{Backup, StepResult};
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::types::{ToSqlOutput, Value as LiteValue, ValueRef};
use rusqlite::{CachedStatement, Connection, ErrorCode, OpenFlags, Row as LiteRow, ToSql, ffi};

use crate::embedded::Inside;
use crate::error::{Class, SqlError};
use crate::placeholders::numbered;
use crate::row::{EachRow, Inner, Row};
use crate::rows::{Form, NextRow, RowWriter};
use crate::value::Value;

/// Longest wait for the right to write.
const BUSY_BOUND: Duration = Duration::from_secs(30);
/// Times that the task only lets others run before it sleeps.
const YIELDS: u32 = 16;
/// Pages of a copy between two looks whether it is to go on.
const PAGES: i32 = 256;
/// Statements kept prepared.
const STATEMENTS: usize = 256;

/// Steps of SQLite's machine between two looks whether a statement is to go on: some of them make a millisecond.
pub(crate) const STEPS: c_int = 20_000;

/// Settings that name folders for SQLite to write to.
const FOLDERS: [&str; 2] = ["temp_store_directory", "data_store_directory"];

/// Has statements name only those further files that `may_open` allows: `ATTACH` opens them, `VACUUM INTO` makes
/// them, and whose statements these are may not be whose files those are.
pub(crate) fn confine(
    connection: &mut Connection,
    may_open: impl Fn(&str) -> bool + Send + 'static,
) -> rusqlite::Result<()> {
    // The library takes such a name for an address, whose path may be any.
    let is_address = |name: &str| {
        let scheme = name.get(..5);
        scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case("file:"))
    };
    let judge = move |asked: AuthContext<'_>| match asked.action {
        // Databases in memory, and temporary ones: also what `VACUUM` needs.
        AuthAction::Attach {
            filename: "" | ":memory:",
        } => Authorization::Allow,
        AuthAction::Attach { filename } if !is_address(filename) && may_open(filename) => {
            Authorization::Allow
        }
        // A name that is computed is told to nobody.
        AuthAction::Attach { .. }
        | AuthAction::Unknown {
            code: ffi::SQLITE_ATTACH,
            ..
        } => Authorization::Deny,
        AuthAction::Pragma { pragma_name, .. }
            if FOLDERS
                .iter()
                .any(|name| pragma_name.eq_ignore_ascii_case(name)) =>
        {
            Authorization::Deny
        }
        _ => Authorization::Allow,
    };
    connection.authorizer(Some(judge))
}

/// One session.
pub(crate) struct Sqlite {
    connection: Connection,
    limit: Option<Limit>,
}

/// Limit of the time of a statement.
struct Limit {
    bound: Duration,
    /// Start of the clock by which `due_ns` counts.
    since: Instant,
    /// Moment at which the statement that is executed ends.
    due_ns: Arc<AtomicU64>,
}

impl Limit {
    /// A statement begins.
    fn begin(&self) {
        let due = self.since.elapsed().saturating_add(self.bound);
        let due_ns = u64::try_from(due.as_nanos()).unwrap_or(u64::MAX);
        self.due_ns.store(due_ns, Ordering::Relaxed);
    }
}

impl Sqlite {
    pub(crate) fn open(path: &Path) -> Result<Self, SqlError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = Connection::open_with_flags(path, flags).map_err(lost)?;
        // The file of the target is what its owner allows.
        confine(&mut connection, |_| false).map_err(lost)?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        connection.busy_timeout(Duration::ZERO).map_err(lost)?;
        let session = Self {
            connection,
            limit: None,
        };
        // An acknowledged commit is on the disk, as on a server.
        session.set_up("pragma synchronous = full")?;
        session.set_up("pragma foreign_keys = on")?;
        Ok(session)
    }

    /// Ends statements that take longer than `bound`, and each once `stop` is set.
    pub(crate) fn limit(&mut self, bound: Duration, stop: Arc<AtomicBool>) -> Result<(), SqlError> {
        let limit = Limit {
            bound,
            since: Instant::now(),
            due_ns: Arc::new(AtomicU64::new(u64::MAX)),
        };
        let (since, due_ns) = (limit.since, Arc::clone(&limit.due_ns));
        let is_over = move || {
            stop.load(Ordering::Relaxed)
                || since.elapsed().as_nanos() > u128::from(due_ns.load(Ordering::Relaxed))
        };
        let watching = self.connection.progress_handler(STEPS, Some(is_over));
        watching.map_err(lost)?;
        self.limit = Some(limit);
        Ok(())
    }

    fn begin(&self) {
        if let Some(limit) = &self.limit {
            limit.begin();
        }
    }

    /// Statements that give rows and need the file for a moment that another session may have.
    fn set_up(&self, sql: &str) -> Result<(), SqlError> {
        self.connection.execute_batch(sql).map_err(lost)
    }

    pub(crate) fn prepare(&mut self, sql: &str) -> Result<Arc<str>, SqlError> {
        let sql: Arc<str> = numbered(sql).into();
        self.connection.prepare_cached(&sql).map_err(told)?;
        Ok(sql)
    }

    /// Tries again while another session has the right to write.
    pub(crate) async fn batch(&mut self, sql: &str) -> Result<(), SqlError> {
        let begun = Instant::now();
        let mut tries = 0;
        loop {
            self.begin();
            let inside = Inside::begin();
            let done = self.connection.execute_batch(sql).map_err(told);
            drop(inside);
            match done {
                Err(error) if error.class == Class::LockTimeout && begun.elapsed() < BUSY_BOUND => {
                    tries += 1;
                    match tries <= YIELDS {
                        true => tokio::task::yield_now().await,
                        false => tokio::time::sleep(Duration::from_millis(1)).await,
                    }
                }
                done => return done,
            }
        }
    }

    fn bound(
        &mut self,
        sql: &str,
        parameters: &[Value<'_>],
    ) -> Result<CachedStatement<'_>, SqlError> {
        self.begin();
        let mut statement = self.connection.prepare_cached(sql).map_err(told)?;
        let wanted = statement.parameter_count();
        for (index, value) in (1..=wanted).zip(parameters) {
            statement.raw_bind_parameter(index, value).map_err(told)?;
        }
        match parameters.len() >= wanted {
            true => Ok(statement),
            false => Err(SqlError::unreadable(
                "a parameter of the statement is missing",
            )),
        }
    }

    pub(crate) fn execute(&mut self, sql: &str, parameters: &[Value<'_>]) -> Result<u64, SqlError> {
        let _inside = Inside::begin();
        let mut statement = self.bound(sql, parameters)?;
        if statement.column_count() > 0 {
            let mut rows = statement.raw_query();
            let mut count = 0;
            while rows.next().map_err(told)?.is_some() {
                count += 1;
            }
            return Ok(count);
        }
        statement
            .raw_execute()
            .map(|rows| rows as u64)
            .map_err(told)
    }

    pub(crate) fn query(
        &mut self,
        sql: &str,
        parameters: &[Value<'_>],
        each: EachRow<'_>,
    ) -> Result<(), SqlError> {
        let _inside = Inside::begin();
        let mut statement = self.bound(sql, parameters)?;
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next().map_err(told)? {
            each(&Row(Inner::Sqlite(row)))?;
        }
        Ok(())
    }

    pub(crate) async fn load(
        &mut self,
        table: &str,
        columns: &[&str],
        next: NextRow<'_>,
    ) -> Result<u64, SqlError> {
        let marks = vec!["?"; columns.len()].join(", ");
        let sql = format!(
            "insert into {table} ({}) values ({marks})",
            columns.join(", ")
        );
        self.batch("begin immediate").await?;
        let loaded = self.insert_all(&sql, next);
        let end = match loaded {
            Ok(_) => "commit",
            Err(_) => "rollback",
        };
        self.batch(end).await?;
        loaded
    }

    fn insert_all(&mut self, sql: &str, next: NextRow<'_>) -> Result<u64, SqlError> {
        self.begin();
        let mut statement = self.connection.prepare(sql).map_err(told)?;
        let mut writer = RowWriter::new(Form::Values);
        let (mut loaded, mut more) = (0, true);
        while more {
            writer.begin_chunk("");
            more = next(&mut writer);
            let width = statement.parameter_count();
            for row in writer.values.chunks_exact(width.max(1)) {
                for (index, value) in (1..).zip(row) {
                    statement.raw_bind_parameter(index, value).map_err(told)?;
                }
                statement.raw_execute().map_err(told)?;
                loaded += 1;
            }
        }
        Ok(loaded)
    }
}

/// Copies the database of a file into another file, while others may read and write it; the copy is as of one
/// moment. Asks `goes_on` between parts; returns false when it is not to go on.
///
/// Errors: there is no such database, or a file cannot be read or written.
pub fn copy(from: &Path, to: &Path, mut goes_on: impl FnMut() -> bool) -> Result<bool, SqlError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let source = Connection::open_with_flags(from, flags).map_err(lost)?;
    let created = flags | OpenFlags::SQLITE_OPEN_CREATE;
    let mut copied = Connection::open_with_flags(to, created).map_err(lost)?;
    let backup = Backup::new(&source, &mut copied).map_err(lost)?;
    while goes_on() {
        match backup.step(PAGES).map_err(told)? {
            StepResult::Done => return Ok(true),
            StepResult::More => {}
            // A writer has the file for a moment.
            _ => std::thread::sleep(Duration::from_millis(1)),
        }
    }
    Ok(false)
}

impl ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Value::Text(text) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
            other => ToSqlOutput::Owned(owned(other)),
        })
    }
}

/// A value as SQLite keeps it. Decimal numbers become texts, which a column of numbers turns into one.
pub(crate) fn owned(value: &Value<'_>) -> LiteValue {
    match value {
        Value::Null => LiteValue::Null,
        Value::Int(value) => LiteValue::Integer(*value),
        Value::Float(value) => LiteValue::Real(*value),
        Value::Decimal(value) => LiteValue::Real(value.to_f64()),
        Value::Text(text) => LiteValue::Text(text.as_ref().to_owned()),
        Value::Time(micros) => LiteValue::Text(crate::text_of_time(*micros)),
    }
}

/// The value of a column.
pub(crate) fn value<'r>(row: &'r LiteRow<'_>, column: usize) -> Result<Value<'r>, SqlError> {
    Ok(match row.get_ref(column).map_err(told)? {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(value) => Value::Int(value),
        ValueRef::Real(value) => Value::Float(value),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
            Value::Text(String::from_utf8_lossy(bytes))
        }
    })
}

fn lost(error: rusqlite::Error) -> SqlError {
    SqlError {
        is_lost: true,
        ..told(error)
    }
}

/// An error of the library as everybody sees it.
fn told(error: rusqlite::Error) -> SqlError {
    use ErrorCode as E;
    let code = error.sqlite_error_code();
    let (class, name) = match code {
        Some(E::DatabaseBusy | E::DatabaseLocked) => (Class::LockTimeout, "SQLITE_BUSY"),
        Some(E::ConstraintViolation) => (Class::Constraint, "SQLITE_CONSTRAINT"),
        Some(E::DiskFull) => (Class::Resources, "SQLITE_FULL"),
        Some(E::CannotOpen) => (Class::Connection, "SQLITE_CANTOPEN"),
        Some(E::ReadOnly) => (Class::Denied, "SQLITE_READONLY"),
        Some(E::PermissionDenied) => (Class::Denied, "SQLITE_PERM"),
        Some(E::NotADatabase) => (Class::Connection, "SQLITE_NOTADB"),
        Some(E::DatabaseCorrupt) => (Class::Connection, "SQLITE_CORRUPT"),
        Some(E::OperationInterrupted) => (Class::Cancelled, "SQLITE_INTERRUPT"),
        Some(E::SystemIoFailure) => (Class::Other, "SQLITE_IOERR"),
        Some(E::Unknown) => (Class::Undefined, "SQLITE_ERROR"),
        _ => (Class::Other, ""),
    };
    SqlError {
        class,
        code: (!name.is_empty()).then(|| name.into()),
        message: error.to_string(),
        is_lost: class == Class::Connection,
    }
}
