//! Connections as the engines' JDBC drivers make them: any statement, and results as the text of Java objects.
//!
//! ```text
//! JdbcAddress ──connect──► Connection ── run(statement) ──► JdbcOutcome: rows as texts · a count
//!                        │                        └─► Exception: class, SQLSTATE, number, message
//!                        └── set_auto_commit · commit · rollback
//! ```
//!
//! Executing test plans that were written for JDBC needs what those drivers show: which Java type a
//! column has and how its value prints, what the message of an error is, and when a transaction begins. The
//! drivers are `org.postgresql:postgresql` 42.7, `org.mariadb.jdbc:mariadb-java-client` 3.5,
//! `com.mysql:mysql-connector-j` 9 and `org.xerial:sqlite-jdbc` 3.50.

mod argument;
mod java;
mod mysql;
mod postgres;
mod scan;
mod sqlite;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

pub use argument::{Argument, ArgumentKind};
use mysql::MySql;
use postgres::Postgres;
use sqlite::Sqlite;

use crate::tls::{Encryption, Proof, Roots, Trust};

/// A JDBC driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Driver {
    /// `org.postgresql.Driver`.
    Postgres,
    /// `org.mariadb.jdbc.Driver`.
    MariaDb,
    /// `com.mysql.cj.jdbc.Driver`.
    MySql,
    /// `org.sqlite.JDBC`.
    Sqlite,
}

/// A database, and as whom. It prints without its password.
#[derive(Clone)]
pub struct JdbcAddress {
    /// The driver.
    pub driver: Driver,
    /// Host of a server.
    pub host: String,
    /// Port of a server.
    pub port: u16,
    /// Name of the database on its server; empty: the driver's own choice.
    pub database: String,
    /// File of SQLite; `None`: a database in memory, of each connection its own.
    pub file: Option<PathBuf>,
    /// User.
    pub user: String,
    /// Password.
    pub password: String,
    /// Settings of the session, by name: those of PostgreSQL.
    pub settings: Vec<(String, String)>,
    /// Encryption of the session.
    pub encryption: JdbcEncryption,
    /// File with certificates of authorities to trust, in PEM; `None`: those of this system.
    pub authorities: Option<PathBuf>,
}

/// Encryption of a session, and what the server has to prove.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JdbcEncryption {
    /// None.
    Never,
    /// Only if the server offers it.
    WhereOffered,
    /// Always, with any certificate.
    Always,
    /// Always, with a certificate that an authority signed.
    Authority,
    /// The same, for the name of the host.
    Name,
}

impl JdbcAddress {
    fn encryption(&self) -> Encryption {
        match self.encryption {
            JdbcEncryption::Never => Encryption::Never,
            JdbcEncryption::WhereOffered => Encryption::WhereOffered,
            _ => Encryption::Always,
        }
    }

    /// Check of the server's certificate.
    fn trust(&self) -> Trust {
        Trust {
            proof: match self.encryption {
                JdbcEncryption::Authority => Proof::Authority,
                JdbcEncryption::Name => Proof::Name,
                _ => Proof::None,
            },
            roots: self.authorities.clone().map_or(Roots::System, Roots::File),
        }
    }
}

impl std::fmt::Debug for JdbcAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("JdbcAddress")
            .field("driver", &self.driver)
            .field("host", &self.host)
            .field("port", &self.port)
            .field("database", &self.database)
            .field("file", &self.file)
            .finish_non_exhaustive()
    }
}

/// A level of isolation, by its name in JDBC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Isolation {
    /// `TRANSACTION_READ_UNCOMMITTED`.
    ReadUncommitted,
    /// `TRANSACTION_READ_COMMITTED`.
    ReadCommitted,
    /// `TRANSACTION_REPEATABLE_READ`.
    RepeatableRead,
    /// `TRANSACTION_SERIALIZABLE`.
    Serializable,
}

impl Isolation {
    fn sql(self) -> &'static str {
        match self {
            Self::ReadUncommitted => "read uncommitted",
            Self::ReadCommitted => "read committed",
            Self::RepeatableRead => "repeatable read",
            Self::Serializable => "serializable",
        }
    }
}

/// A statement that is to be executed.
#[derive(Debug, Clone)]
pub struct JdbcStatement<'a> {
    /// Its text; parameters are written as `?`.
    pub sql: &'a str,
    /// Its parameters; `None`: it is not a prepared statement.
    pub arguments: Option<&'a [Argument]>,
    /// Its expected result.
    pub expects: Gives,
    /// Most rows that are read; `None`: all.
    pub most_rows: Option<usize>,
    /// Longest time that it may take; `None`: no bound.
    pub timeout: Option<Duration>,
}

impl JdbcStatement<'_> {
    fn most(&self) -> usize {
        self.most_rows.unwrap_or(usize::MAX)
    }
}

/// Expected result of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gives {
    /// Rows: `executeQuery`.
    Rows,
    /// A count: `executeUpdate`.
    Count,
    /// Either, and several of them: `prepareCall`.
    Anything,
}

/// Result of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JdbcOutcome {
    /// Rows.
    Rows(Rows),
    /// Number of rows that it changed; −1 where the driver does not tell.
    Count(i64),
}

/// Rows of a result, as Java prints their objects.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rows {
    /// Labels of the columns.
    pub columns: Vec<String>,
    /// Values by row; `None`: `NULL`.
    pub rows: Vec<Vec<Option<String>>>,
}

/// Memory of the rows of one result, bytes: what a Java program with its usual gigabyte could hold.
const KEPT_BYTES: usize = if cfg!(test) { 1 << 20 } else { 512 << 20 };

/// Room for the rows of one result.
struct Room(usize);

impl Room {
    fn new() -> Self {
        Self(KEPT_BYTES)
    }

    /// Takes the room of a row. Errors: there is no more, told as the driver for PostgreSQL tells it.
    fn take(&mut self, cells: &[Option<String>]) -> Result<(), Exception> {
        let texts = cells.iter().flatten().map(String::len).sum::<usize>();
        let bytes = texts + size_of_val(cells) + size_of::<Vec<Option<String>>>();
        let left = self.0.checked_sub(bytes).ok_or_else(|| {
            let says = "Ran out of memory retrieving query results.";
            Exception::of("org.postgresql.util.PSQLException", Some("53200"), says)
        })?;
        self.0 = left;
        Ok(())
    }
}

/// Exception of a driver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exception {
    /// Its Java class.
    pub class: &'static str,
    /// SQLSTATE; `None`: `null`.
    pub state: Option<String>,
    /// The vendor's number.
    pub number: i32,
    /// Its message.
    pub message: String,
    /// True if the connection cannot be used any more.
    pub is_lost: bool,
}

impl Exception {
    /// A `java.sql.SQLException` without SQLSTATE.
    pub fn plain(message: impl Into<String>) -> Self {
        Self::of("java.sql.SQLException", None, message)
    }

    fn of(class: &'static str, state: Option<&str>, message: impl Into<String>) -> Self {
        Self {
            class,
            state: state.map(str::to_owned),
            number: 0,
            message: message.into(),
            is_lost: false,
        }
    }
}

/// A connection. Dropping it closes it; what was not committed is rolled back.
pub struct Connection {
    inner: Inner,
    auto_commit: bool,
}

enum Inner {
    Postgres(Box<Postgres>),
    MySql(Box<MySql>),
    Sqlite(Sqlite),
}

impl Connection {
    /// Connects, with auto-commit as drivers begin. Errors: what the driver throws; no answer within `bound`.
    pub async fn connect(place: &JdbcAddress, bound: Duration) -> Result<Self, Exception> {
        let connecting = async {
            Ok(match place.driver {
                Driver::Postgres => Inner::Postgres(Box::new(Postgres::connect(place).await?)),
                Driver::MariaDb | Driver::MySql => {
                    Inner::MySql(Box::new(MySql::connect(place).await?))
                }
                Driver::Sqlite => Inner::Sqlite(Sqlite::open(place)?),
            })
        };
        let connected = tokio::time::timeout(bound, connecting).await;
        let inner = connected.unwrap_or_else(|_| {
            Err(Exception {
                is_lost: true,
                ..Exception::plain("The connection attempt failed.")
            })
        })?;
        Ok(Self {
            inner,
            auto_commit: true,
        })
    }

    /// Ends the statement that is executed once `stop` is set, where this process executes it itself.
    pub fn end_with(&mut self, stop: &Arc<AtomicBool>) -> Result<(), Exception> {
        match &mut self.inner {
            Inner::Postgres(_) | Inner::MySql(_) => Ok(()),
            Inner::Sqlite(session) => session.end_with(Arc::clone(stop)),
        }
    }

    /// Has statements name only those further files of this host that `may_open` allows.
    pub fn confine(
        &mut self,
        may_open: impl Fn(&str) -> bool + Send + 'static,
    ) -> Result<(), Exception> {
        match &mut self.inner {
            Inner::Postgres(_) | Inner::MySql(_) => Ok(()),
            Inner::Sqlite(session) => session.confine(may_open),
        }
    }

    /// Executes a statement. It gives one outcome, or any number where it may give anything.
    pub async fn run(
        &mut self,
        statement: &JdbcStatement<'_>,
    ) -> Result<Vec<JdbcOutcome>, Exception> {
        let is_auto = self.auto_commit;
        match &mut self.inner {
            Inner::Postgres(it) => Ok(vec![it.run(statement, is_auto).await?]),
            Inner::MySql(it) => it.run(statement).await,
            Inner::Sqlite(it) => Ok(vec![it.run(statement).await?]),
        }
    }

    /// Executes statements of the owner, without results.
    pub async fn set_up(&mut self, sql: &str) -> Result<(), Exception> {
        match &mut self.inner {
            Inner::Postgres(it) => it.batch(sql).await,
            Inner::MySql(it) => it.batch(sql).await,
            Inner::Sqlite(it) => it.batch(sql).await,
        }
    }

    /// Sets the isolation of the transactions from now on.
    pub async fn set_isolation(&mut self, isolation: Isolation) -> Result<(), Exception> {
        let level = isolation.sql();
        match &mut self.inner {
            Inner::Postgres(it) => {
                let sql =
                    format!("SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL {level}");
                it.batch(&sql).await
            }
            Inner::MySql(it) => {
                let sql = format!("SET SESSION TRANSACTION ISOLATION LEVEL {level}");
                it.batch(&sql).await
            }
            Inner::Sqlite(it) => {
                let reads_all = isolation == Isolation::ReadUncommitted;
                it.batch(&format!("PRAGMA read_uncommitted = {reads_all}"))
                    .await
            }
        }
    }

    /// True if each statement is a transaction of its own.
    pub fn auto_commit(&self) -> bool {
        self.auto_commit
    }

    /// Begins or ends that each statement is a transaction of its own. A change commits.
    pub async fn set_auto_commit(&mut self, on: bool) -> Result<(), Exception> {
        if self.auto_commit == on {
            return Ok(());
        }
        match &mut self.inner {
            Inner::Postgres(it) => it.end("COMMIT").await?,
            Inner::MySql(it) => {
                it.batch(&format!("set autocommit={}", u8::from(on)))
                    .await?
            }
            Inner::Sqlite(it) => it.batch(if on { "commit;" } else { "begin;" }).await?,
        }
        self.auto_commit = on;
        Ok(())
    }

    /// Commits the transaction. Errors: that of the driver when each statement is one of its own.
    pub async fn commit(&mut self) -> Result<(), Exception> {
        self.finish("COMMIT").await
    }

    /// Rolls the transaction back. Errors: as [`Connection::commit`].
    pub async fn rollback(&mut self) -> Result<(), Exception> {
        self.finish("ROLLBACK").await
    }

    async fn finish(&mut self, word: &'static str) -> Result<(), Exception> {
        let is_auto = self.auto_commit;
        match &mut self.inner {
            Inner::Postgres(_) if is_auto => Err(postgres::not_in_transaction(word)),
            Inner::Postgres(it) => it.end(word).await,
            Inner::MySql(it) => it.finish(word, is_auto).await,
            Inner::Sqlite(_) if is_auto => Err(Exception::plain("database in auto-commit mode")),
            Inner::Sqlite(it) => it.batch(&format!("{};begin;", word.to_lowercase())).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// A connection to a file of its own.
    async fn own(directory: &tempfile::TempDir) -> Connection {
        let place = JdbcAddress {
            driver: Driver::Sqlite,
            host: String::new(),
            port: 0,
            database: String::new(),
            file: Some(directory.path().join("own.db")),
            user: String::new(),
            password: String::new(),
            settings: Vec::new(),
            encryption: JdbcEncryption::Never,
            authorities: None,
        };
        let bound = Duration::from_secs(30);
        Connection::connect(&place, bound).await.expect("a session")
    }

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime")
    }

    fn query(sql: &str, most_rows: Option<usize>) -> JdbcStatement<'_> {
        JdbcStatement {
            sql,
            arguments: None,
            expects: Gives::Rows,
            most_rows,
            timeout: None,
        }
    }

    #[test]
    fn a_result_without_end_is_refused() {
        let directory = tempfile::tempdir().expect("a directory");
        let endless =
            "with recursive n(x) as (select 1 union all select x + 1 from n) select x from n";
        runtime().block_on(async {
            let mut connection = own(&directory).await;
            let refused = connection.run(&query(endless, None)).await;
            let refused = refused.expect_err("too many rows");
            assert_eq!(refused.state.as_deref(), Some("53200"), "{refused:?}");
            assert!(!refused.is_lost);
            let some = connection.run(&query(endless, Some(100))).await;
            assert!(some.is_ok(), "{some:?}");
        });
    }

    #[test]
    fn a_statement_without_end_ends_with_the_test() {
        let directory = tempfile::tempdir().expect("a directory");
        let endless = "with recursive n(x) as (select 1 union all select x + 1 from n) select count(*) from n";
        let stop = Arc::new(AtomicBool::new(false));
        let later = Arc::clone(&stop);
        let stopping = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(100));
            later.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        runtime().block_on(async {
            let mut connection = own(&directory).await;
            connection.end_with(&stop).expect("a watch");
            let ended = connection.run(&query(endless, None)).await;
            ended.expect_err("an end");
        });
        stopping.join().expect("it stops");
    }

    #[test]
    fn statements_open_no_file_that_is_not_allowed() {
        let directory = tempfile::tempdir().expect("a directory");
        let (inside, outside) = (
            directory.path().join("in.db"),
            directory.path().join("out.db"),
        );
        let allowed = inside.display().to_string();
        runtime().block_on(async {
            let mut connection = own(&directory).await;
            let may_open = move |path: &str| path == allowed;
            connection.confine(may_open).expect("a guard");
            let place = outside.display();
            for sql in [
                format!("attach '{place}' as x"),
                format!("attach 'file:{place}' as x"),
                format!("attach 'FILE:{place}?mode=rwc' as x"),
                format!(
                    "attach '{}' || 'out.db' as x",
                    directory.path().join("").display()
                ),
                format!("vacuum into '{place}'"),
                format!("vacuum into 'file:{place}'"),
                format!(
                    "pragma temp_store_directory = '{}'",
                    directory.path().display()
                ),
            ] {
                let done = connection.set_up(&sql).await;
                assert!(done.is_err(), "{sql}");
                assert!(!outside.exists(), "{sql}");
            }
            for sql in [
                format!("attach '{}' as x", inside.display()),
                "create table x.t(a)".into(),
                "attach ':memory:' as y".into(),
                "vacuum".into(),
            ] {
                connection.set_up(&sql).await.expect(&sql);
            }
        });
    }
}
