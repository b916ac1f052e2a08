//! Sessions on DuckDB.
//!
//! A file is open once in a process: all sessions on it are connections of that one database. Statements use the
//! threads of the engine beside the one that calls; a transaction that meets another one fails at once, and
//! nothing waits for a lock.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use duckdb::types::{ToSqlOutput, ValueRef};
use duckdb::{Config, Connection, ToSql, appender_params_from_iter, params_from_iter};
use rusqlite::types::Value as LiteValue;

use crate::embedded::Inside;
use crate::error::{Class, SqlError};
use crate::row::{EachRow, Inner, Row};
use crate::rows::{Form, NextRow, RowWriter};
use crate::time::civil;
use crate::value::{Decimal, Value};

/// Time between two looks whether a statement is to go on.
const LOOK: Duration = Duration::from_millis(20);
/// A moment that no statement ends at.
const NEVER: u64 = u64::MAX;

type Database = Mutex<Connection>;

/// The databases that are open, by their files.
static OPEN: Mutex<BTreeMap<PathBuf, Weak<Database>>> = Mutex::new(BTreeMap::new());

/// One session.
pub(crate) struct DuckDb {
    connection: Connection,
    /// Keeps the database open.
    _database: Arc<Database>,
    limit: Option<Limit>,
}

/// Limit of the time of a statement.
struct Limit {
    bound: Duration,
    /// Start of the clock by which `due_ns` counts.
    since: Instant,
    /// Moment at which the statement that is executed ends; [`NEVER`] while there is none.
    due_ns: Arc<AtomicU64>,
}

/// A statement that is executed, until it is dropped.
struct Executing {
    _inside: Inside,
    due_ns: Option<Arc<AtomicU64>>,
}

impl Drop for Executing {
    fn drop(&mut self) {
        if let Some(due_ns) = &self.due_ns {
            due_ns.store(NEVER, Ordering::Relaxed);
        }
    }
}

/// A row of a result, and the names of its columns.
pub(crate) struct DuckRow<'r> {
    names: &'r [String],
    row: &'r duckdb::Row<'r>,
}

impl DuckDb {
    pub(crate) fn open(path: &Path) -> Result<Self, SqlError> {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.into());
        let database = database(path)?;
        let connection = held(&database).try_clone().map_err(lost)?;
        Ok(Self {
            connection,
            _database: database,
            limit: None,
        })
    }

    /// Ends statements that take longer than `bound`, and each once `stop` is set.
    pub(crate) fn limit(&mut self, bound: Duration, stop: Arc<AtomicBool>) -> Result<(), SqlError> {
        let limit = Limit {
            bound,
            since: Instant::now(),
            due_ns: Arc::new(AtomicU64::new(NEVER)),
        };
        let (since, due_ns) = (limit.since, Arc::downgrade(&limit.due_ns));
        let handle = self.connection.interrupt_handle();
        let watch = move || {
            while let Some(due_ns) = due_ns.upgrade() {
                let due = due_ns.load(Ordering::Relaxed);
                let is_over = since.elapsed().as_nanos() > u128::from(due);
                if due != NEVER && (is_over || stop.load(Ordering::Relaxed)) {
                    handle.interrupt();
                }
                drop(due_ns);
                std::thread::sleep(LOOK);
            }
        };
        let named = std::thread::Builder::new().name("duckdb-limit".into());
        named
            .spawn(watch)
            .map_err(|error| SqlError::lost(error.to_string()))?;
        self.limit = Some(limit);
        Ok(())
    }

    fn begin(&self) -> Executing {
        let due_ns = self.limit.as_ref().map(|limit| {
            let due = limit.since.elapsed().saturating_add(limit.bound);
            let due_ns = u64::try_from(due.as_nanos()).unwrap_or(NEVER - 1);
            limit.due_ns.store(due_ns, Ordering::Relaxed);
            Arc::clone(&limit.due_ns)
        });
        Executing {
            _inside: Inside::begin(),
            due_ns,
        }
    }

    pub(crate) fn prepare(&mut self, sql: &str) -> Result<Arc<str>, SqlError> {
        let sql: Arc<str> = sql.into();
        self.connection.prepare_cached(&sql).map_err(told)?;
        Ok(sql)
    }

    pub(crate) fn batch(&mut self, sql: &str) -> Result<(), SqlError> {
        let _executing = self.begin();
        self.connection.execute_batch(sql).map_err(told)
    }

    pub(crate) fn execute(&mut self, sql: &str, parameters: &[Value<'_>]) -> Result<u64, SqlError> {
        let _executing = self.begin();
        let mut statement = self.connection.prepare_cached(sql).map_err(told)?;
        let done = statement.execute(params_from_iter(parameters));
        done.map(|rows| rows as u64).map_err(told)
    }

    pub(crate) fn query(
        &mut self,
        sql: &str,
        parameters: &[Value<'_>],
        each: EachRow<'_>,
    ) -> Result<(), SqlError> {
        let _executing = self.begin();
        let mut statement = self.connection.prepare_cached(sql).map_err(told)?;
        let mut rows = statement
            .query(params_from_iter(parameters))
            .map_err(told)?;
        let names = rows
            .as_ref()
            .map(|of| of.column_names())
            .unwrap_or_default();
        while let Some(row) = rows.next().map_err(told)? {
            let row = DuckRow { names: &names, row };
            each(&Row(Inner::DuckDb(&row)))?;
        }
        Ok(())
    }

    pub(crate) fn load(
        &mut self,
        table: &str,
        columns: &[&str],
        next: NextRow<'_>,
    ) -> Result<u64, SqlError> {
        self.batch("begin transaction")?;
        let loaded = self.append_all(table, columns, next);
        self.batch(match loaded {
            Ok(_) => "commit",
            Err(_) => "rollback",
        })?;
        loaded
    }

    fn append_all(
        &mut self,
        table: &str,
        columns: &[&str],
        next: NextRow<'_>,
    ) -> Result<u64, SqlError> {
        let _executing = self.begin();
        let appender = self.connection.appender_with_columns(table, columns);
        let mut appender = appender.map_err(told)?;
        let mut writer = RowWriter::new(Form::Values);
        let (mut loaded, mut more) = (0, true);
        while more {
            writer.begin_chunk("");
            more = next(&mut writer);
            for row in writer.values.chunks_exact(columns.len().max(1)) {
                let row = appender_params_from_iter(row.iter().map(Written));
                appender.append_row(row).map_err(told)?;
                loaded += 1;
            }
        }
        appender.flush().map_err(told)?;
        Ok(loaded)
    }
}

/// The database of a file: the one that is open, or a new one.
fn database(path: PathBuf) -> Result<Arc<Database>, SqlError> {
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(database) = open.get(&path).and_then(Weak::upgrade) {
        return Ok(database);
    }
    // Statements reach the file of the target and nothing else.
    let config = Config::default()
        .enable_external_access(false)
        .and_then(|config| config.enable_autoload_extension(false))
        .map_err(lost)?;
    let first = Connection::open_with_flags(&path, config).map_err(lost)?;
    let database = Arc::new(Mutex::new(first));
    open.retain(|_, database| database.strong_count() > 0);
    open.insert(path, Arc::downgrade(&database));
    Ok(database)
}

fn held(database: &Database) -> MutexGuard<'_, Connection> {
    database.lock().unwrap_or_else(PoisonError::into_inner)
}

impl DuckRow<'_> {
    pub(crate) fn columns(&self) -> usize {
        self.names.len()
    }

    pub(crate) fn name(&self, column: usize) -> Option<Cow<'_, str>> {
        self.names.get(column).map(|name| name.as_str().into())
    }

    pub(crate) fn value(&self, column: usize) -> Result<Value<'_>, SqlError> {
        Ok(match self.row.get_ref(column).map_err(told)? {
            ValueRef::Null => Value::Null,
            ValueRef::Boolean(value) => Value::Int(value.into()),
            ValueRef::TinyInt(value) => Value::Int(value.into()),
            ValueRef::SmallInt(value) => Value::Int(value.into()),
            ValueRef::Int(value) => Value::Int(value.into()),
            ValueRef::BigInt(value) => Value::Int(value),
            ValueRef::HugeInt(value) => whole(value),
            ValueRef::UTinyInt(value) => Value::Int(value.into()),
            ValueRef::USmallInt(value) => Value::Int(value.into()),
            ValueRef::UInt(value) => Value::Int(value.into()),
            ValueRef::UBigInt(value) => whole(value.into()),
            ValueRef::Float(value) => Value::Float(value.into()),
            ValueRef::Double(value) => Value::Float(value),
            ValueRef::Decimal(value) => Value::Decimal(Decimal {
                units: value.value(),
                places: value.scale(),
            }),
            ValueRef::Timestamp(unit, value) => Value::Time(unit.to_micros(value)),
            ValueRef::Date32(days) => {
                let (year, month, day) = civil(days.into());
                Value::Text(format!("{year:04}-{month:02}-{day:02}").into())
            }
            ValueRef::Text(bytes) => Value::Text(String::from_utf8_lossy(bytes)),
            _ => {
                return Err(SqlError::unreadable(format!(
                    "the type of column {} is not supported",
                    column + 1
                )));
            }
        })
    }
}

/// A whole number; a decimal one without places where it is large.
fn whole(value: i128) -> Value<'static> {
    match i64::try_from(value) {
        Ok(value) => Value::Int(value),
        Err(_) => Value::Decimal(Decimal {
            units: value,
            places: 0,
        }),
    }
}

/// A value as rows are written.
struct Written<'a>(&'a LiteValue);

impl ToSql for Written<'_> {
    fn to_sql(&self) -> duckdb::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self.0 {
            LiteValue::Null => ValueRef::Null,
            LiteValue::Integer(value) => ValueRef::BigInt(*value),
            LiteValue::Real(value) => ValueRef::Double(*value),
            LiteValue::Text(text) => ValueRef::Text(text.as_bytes()),
            LiteValue::Blob(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

impl ToSql for Value<'_> {
    fn to_sql(&self) -> duckdb::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Value::Null => ToSqlOutput::Borrowed(ValueRef::Null),
            Value::Int(value) => ToSqlOutput::Borrowed(ValueRef::BigInt(*value)),
            Value::Float(value) => ToSqlOutput::Borrowed(ValueRef::Double(*value)),
            Value::Decimal(value) => value.to_string().into(),
            Value::Text(text) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
            Value::Time(micros) => crate::text_of_time(*micros).into(),
        })
    }
}

fn lost(error: duckdb::Error) -> SqlError {
    SqlError {
        is_lost: true,
        class: Class::Connection,
        ..told(error)
    }
}

/// An error of the library as everybody sees it. Its kind stands at the begin of its text: the interface has no
/// code for it.
fn told(error: duckdb::Error) -> SqlError {
    let message = error.to_string();
    let kind = message.split_once(" Error:").map_or("", |(kind, _)| kind);
    let class = match kind {
        "TransactionContext" => Class::Serialization,
        "Constraint" => Class::Constraint,
        "INTERRUPT" => Class::Cancelled,
        "Out of Memory" => Class::Resources,
        "Permission" => Class::Denied,
        "Catalog" | "Parser" | "Binder" => Class::Undefined,
        _ => Class::Other,
    };
    SqlError {
        class,
        code: None,
        message,
        is_lost: false,
    }
}
