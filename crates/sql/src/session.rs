//! One session, whichever engine it is on.

use std::future::Future;
use std::net::TcpStream;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::duckdb::DuckDb;
use crate::error::SqlError;
use crate::mysql::{MySql, Prepared};
use crate::postgres::{self, Failure, Postgres};
use crate::row::{EachRow, Row};
use crate::rows::{NextRow, RowWriter};
use crate::sqlite::Sqlite;
use crate::target::{Engine, ServerAddress, Target};
use crate::value::Value;

/// Memory of the rows that [`Session::rows`] keeps, bytes.
const KEPT_BYTES: usize = 64 << 20;
/// Why no more are kept. It stands in `reasons.ftl`, too.
const TOO_MANY: &str = "the server gives more rows than any statement of the test has";

/// The answer to a call that is rare. Boxed, so that the drivers behind it are compiled once, here, and not
/// in each crate that calls.
type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, SqlError>> + 'a>>;

/// A session on a database. Dropping it closes the connection; what was under way there is rolled back.
pub struct Session {
    inner: Inner,
    /// Texts of what is prepared; `None` where nobody asks for them.
    texts: Option<Vec<String>>,
}

enum Inner {
    Postgres(Box<Postgres>),
    MySql(Box<MySql>),
    Sqlite(Sqlite),
    DuckDb(DuckDb),
}

/// A statement that one session has prepared.
#[derive(Clone)]
pub struct Statement(Form);

#[derive(Clone)]
enum Form {
    Postgres(postgres::Statement),
    MySql(Prepared),
    Embedded(Arc<str>),
}

/// Access and isolation with which a transaction begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begin {
    /// It reads only, as of one moment.
    Read,
    /// It writes, at the isolation that is the default of its server. SQLite gives it the right to write at
    /// once.
    Write,
    /// It writes, and the server puts it in order with all others.
    Serializable,
}

impl Session {
    /// Connects. A password that the data source name does not hold is taken from `PGPASSWORD` or
    /// `MYSQL_PWD`.
    ///
    /// Errors: no answer within `bound`, or the server refuses.
    pub fn connect(target: &Target, bound: Duration) -> Answer<'_, Self> {
        Self::connect_at(target.place.clone(), bound)
    }

    /// Connects to another database on the target's server; a file stays the same.
    ///
    /// Errors: as [`Self::connect`].
    pub fn connect_to<'a>(target: &Target, database: &str, bound: Duration) -> Answer<'a, Self> {
        Self::connect_at(target.place_of(database), bound)
    }

    fn connect_at<'a>(place: ServerAddress, bound: Duration) -> Answer<'a, Self> {
        let connecting = async move {
            let inner = match &place {
                ServerAddress::Postgres(address) => {
                    Inner::Postgres(Box::new(Postgres::connect(address).await?))
                }
                ServerAddress::MySql(address) => {
                    Inner::MySql(Box::new(MySql::connect(address).await?))
                }
                ServerAddress::Sqlite(path) => Inner::Sqlite(Sqlite::open(path)?),
                ServerAddress::DuckDb(path) => Inner::DuckDb(DuckDb::open(path)?),
            };
            Ok(Self { inner, texts: None })
        };
        Box::pin(async move {
            let connected = tokio::time::timeout(bound, connecting).await;
            connected.unwrap_or_else(|_| Err(SqlError::timeout()))
        })
    }

    /// Ends statements that take longer than `bound`, and each once `stop` is set, where this process executes
    /// them itself: waiting for a server can be given up at any time, a statement of SQLite or DuckDB holds its
    /// thread.
    ///
    /// Errors: it cannot be watched.
    pub fn limit(&mut self, bound: Duration, stop: &Arc<AtomicBool>) -> Result<(), SqlError> {
        match &mut self.inner {
            Inner::Postgres(_) | Inner::MySql(_) => Ok(()),
            Inner::Sqlite(session) => session.limit(bound, Arc::clone(stop)),
            Inner::DuckDb(session) => session.limit(bound, Arc::clone(stop)),
        }
    }

    /// Another handle of its TCP connection, whose state can be read while the session is used; `None` where it has
    /// none.
    pub fn tcp(&self) -> Option<TcpStream> {
        match &self.inner {
            Inner::Postgres(session) => session.tcp(),
            Inner::MySql(session) => session.tcp(),
            Inner::Sqlite(_) | Inner::DuckDb(_) => None,
        }
    }

    /// Its engine.
    pub fn engine(&self) -> Engine {
        match self.inner {
            Inner::Postgres(_) => Engine::Postgres,
            Inner::MySql(_) => Engine::MySql,
            Inner::Sqlite(_) => Engine::Sqlite,
            Inner::DuckDb(_) => Engine::DuckDb,
        }
    }

    /// Keeps the texts of the statements that are prepared from now on.
    pub fn keep_texts(&mut self) {
        self.texts = Some(Vec::new());
    }

    /// The texts that were kept so far, each once, in the order of their first preparation; none are kept any more.
    pub fn take_texts(&mut self) -> Vec<String> {
        self.texts.take().unwrap_or_default()
    }

    /// Prepares a statement with placeholders `$1`, `$2`, …
    pub fn prepare<'a>(&'a mut self, sql: &'a str) -> Answer<'a, Statement> {
        Box::pin(async move {
            let prepared = Statement(match &mut self.inner {
                Inner::Postgres(session) => {
                    let form = postgres::Form::Readable;
                    let prepared = session.prepare(sql, &[], form).await;
                    Form::Postgres(prepared.map_err(Failure::told)?)
                }
                Inner::MySql(session) => Form::MySql(session.prepare(sql).await?),
                Inner::Sqlite(session) => Form::Embedded(session.prepare(sql)?),
                Inner::DuckDb(session) => Form::Embedded(session.prepare(sql)?),
            });
            if let Some(texts) = &mut self.texts
                && !texts.iter().any(|text| text == sql)
            {
                texts.push(sql.to_owned());
            }
            Ok(prepared)
        })
    }

    /// Executes several statements, separated by `;`, without parameters and results.
    pub async fn batch(&mut self, sql: &str) -> Result<(), SqlError> {
        match &mut self.inner {
            Inner::Postgres(session) => session.batch(sql).await.map_err(Failure::told),
            Inner::MySql(session) => session.batch(sql).await,
            Inner::Sqlite(session) => session.batch(sql).await,
            Inner::DuckDb(session) => session.batch(sql),
        }
    }

    /// Executes a prepared statement; returns how many rows it changed, or gave.
    ///
    /// Errors: those of the server, and a statement of another session.
    pub async fn execute(
        &mut self,
        statement: &Statement,
        parameters: &[Value<'_>],
    ) -> Result<u64, SqlError> {
        match (&mut self.inner, &statement.0) {
            (Inner::Postgres(session), Form::Postgres(statement)) => {
                let done = session.execute(statement, parameters).await;
                done.map_err(Failure::told)
            }
            (Inner::MySql(session), Form::MySql(statement)) => {
                session.execute(statement, parameters).await
            }
            (Inner::Sqlite(session), Form::Embedded(sql)) => session.execute(sql, parameters),
            (Inner::DuckDb(session), Form::Embedded(sql)) => session.execute(sql, parameters),
            _ => Err(foreign()),
        }
    }

    /// Executes a prepared statement and hands its rows over, one by one.
    ///
    /// Errors: those of the server, and those of `each`, which end the reading.
    pub async fn query(
        &mut self,
        statement: &Statement,
        parameters: &[Value<'_>],
        mut each: impl FnMut(&Row<'_>) -> Result<(), SqlError>,
    ) -> Result<(), SqlError> {
        self.query_each(statement, parameters, &mut each).await
    }

    /// [`Self::query`] compiled once: three engines' drivers for each caller were most of the code that
    /// callers consisted of.
    async fn query_each(
        &mut self,
        statement: &Statement,
        parameters: &[Value<'_>],
        each: EachRow<'_>,
    ) -> Result<(), SqlError> {
        match (&mut self.inner, &statement.0) {
            (Inner::Postgres(session), Form::Postgres(statement)) => {
                let done = session.query(statement, parameters, each).await;
                done.map(drop).map_err(Failure::told)
            }
            (Inner::MySql(session), Form::MySql(statement)) => {
                session.query(statement, parameters, each).await
            }
            (Inner::Sqlite(session), Form::Embedded(sql)) => session.query(sql, parameters, each),
            (Inner::DuckDb(session), Form::Embedded(sql)) => session.query(sql, parameters, each),
            _ => Err(foreign()),
        }
    }

    /// The first row of a prepared statement, as `read` gives it; `None` without any row.
    pub async fn query_first<T>(
        &mut self,
        statement: &Statement,
        parameters: &[Value<'_>],
        read: impl Fn(&Row<'_>) -> Result<T, SqlError>,
    ) -> Result<Option<T>, SqlError> {
        let mut first = None;
        self.query(statement, parameters, |row| {
            if first.is_none() {
                first = Some(read(row)?);
            }
            Ok(())
        })
        .await?;
        Ok(first)
    }

    /// All rows of a statement that is used once, as owned values.
    ///
    /// Errors: those of the server, and more rows than [`KEPT_BYTES`] hold.
    pub fn rows<'a>(
        &'a mut self,
        sql: &'a str,
        parameters: &'a [Value<'a>],
    ) -> Answer<'a, Vec<Vec<Value<'static>>>> {
        Box::pin(async move {
            let statement = self.prepare(sql).await?;
            let (mut rows, mut kept) = (Vec::new(), 0);
            self.query(&statement, parameters, |row| {
                let values = (0..row.columns()).map(|column| Ok(row.value(column)?.into_owned()));
                let values = values.collect::<Result<Vec<_>, SqlError>>()?;
                kept += values.iter().map(bytes_of).sum::<usize>() + size_of::<Vec<Value<'_>>>();
                if kept > KEPT_BYTES {
                    return Err(SqlError::lost(TOO_MANY));
                }
                rows.push(values);
                Ok(())
            })
            .await?;
            Ok(rows)
        })
    }

    /// Executes prepared statements of PostgreSQL in their order without waiting in between. They are one
    /// transaction if they do not begin and end one. Returns how many rows each of them changed, or gave.
    ///
    /// Errors: the first one; the statements behind it are not executed. Statements of another engine.
    pub async fn pipeline(
        &mut self,
        steps: &[(&Statement, &[Value<'_>])],
    ) -> Result<&[u64], SqlError> {
        let Inner::Postgres(session) = &mut self.inner else {
            return Err(foreign());
        };
        let foreign_one =
            |(statement, _): &(&Statement, &[Value<'_>])| !matches!(statement.0, Form::Postgres(_));
        if steps.iter().any(foreign_one) {
            return Err(foreign());
        }
        let steps = steps
            .iter()
            .filter_map(|(statement, values)| match &statement.0 {
                Form::Postgres(statement) => Some((statement, *values)),
                Form::MySql(_) | Form::Embedded(_) => None,
            });
        session.pipeline(steps).await.map_err(Failure::told)
    }

    /// Begins a transaction.
    pub async fn begin(&mut self, begin: Begin) -> Result<(), SqlError> {
        let sql = match (self.engine(), begin) {
            (Engine::Postgres, Begin::Read) => "begin isolation level repeatable read read only",
            (Engine::Postgres, Begin::Write) => "begin",
            (Engine::Postgres, Begin::Serializable) => "begin isolation level serializable",
            (Engine::MySql, Begin::Read) => "start transaction with consistent snapshot, read only",
            (Engine::MySql, Begin::Write) => "begin",
            (Engine::MySql, Begin::Serializable) => {
                "set transaction isolation level serializable; begin"
            }
            (Engine::Sqlite, Begin::Read) => "begin",
            (Engine::Sqlite, Begin::Write | Begin::Serializable) => "begin immediate",
            // Every transaction sees one moment, and there is no other isolation.
            (Engine::DuckDb, _) => "begin transaction",
        };
        self.batch(sql).await
    }

    /// Commits the transaction.
    pub async fn commit(&mut self) -> Result<(), SqlError> {
        self.batch("commit").await
    }

    /// Rolls the transaction back.
    pub async fn rollback(&mut self) -> Result<(), SqlError> {
        self.batch("rollback").await
    }

    /// Loads rows into a table: `next` writes one row, or several, and says whether more follow. It must
    /// end each row. Returns the number of rows. All or none of them are there afterwards, and they are a transaction of
    /// their own.
    pub async fn load(
        &mut self,
        table: &str,
        columns: &[&str],
        mut next: impl FnMut(&mut RowWriter) -> bool,
    ) -> Result<u64, SqlError> {
        self.load_each(table, columns, &mut next).await
    }

    /// [`Self::load`] compiled once, as [`Self::query_each`].
    fn load_each<'a>(
        &'a mut self,
        table: &'a str,
        columns: &'a [&'a str],
        next: NextRow<'a>,
    ) -> Answer<'a, u64> {
        Box::pin(async move {
            match &mut self.inner {
                Inner::Postgres(session) => {
                    let loaded = session.load(table, columns, next).await;
                    loaded.map_err(Failure::told)
                }
                Inner::MySql(session) => session.load(table, columns, next).await,
                Inner::Sqlite(session) => session.load(table, columns, next).await,
                Inner::DuckDb(session) => session.load(table, columns, next),
            }
        })
    }

    /// Product and version of the server: `PostgreSQL 15.18`, with ` over TLS` where the session is
    /// encrypted.
    pub async fn version(&mut self) -> Result<String, SqlError> {
        let sql = match self.engine() {
            Engine::Postgres => {
                "select 'PostgreSQL ' || split_part(current_setting('server_version'), ' ', 1)"
            }
            Engine::MySql => "select version()",
            Engine::Sqlite => "select 'SQLite ' || sqlite_version()",
            Engine::DuckDb => "select 'DuckDB ' || version()",
        };
        let rows = self.rows(sql, &[]).await?;
        let first = rows.into_iter().flatten().next();
        let mut says = match first {
            Some(Value::Text(text)) => text.into_owned(),
            _ => self.engine().name().into(),
        };
        if self.is_encrypted() {
            says.push_str(" over TLS");
        }
        Ok(says)
    }

    /// Whether it is encrypted.
    pub fn is_encrypted(&self) -> bool {
        match &self.inner {
            Inner::Postgres(session) => session.is_encrypted,
            Inner::MySql(session) => session.is_encrypted(),
            Inner::Sqlite(_) | Inner::DuckDb(_) => false,
        }
    }
}

/// Memory of a value, bytes.
fn bytes_of(value: &Value<'_>) -> usize {
    let text = match value {
        Value::Text(text) => text.len(),
        _ => 0,
    };
    size_of::<Value<'_>>() + text
}

#[cold]
fn foreign() -> SqlError {
    SqlError::unreadable("the statement belongs to another kind of session")
}
