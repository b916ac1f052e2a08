//! Operations on a database outside of a run: making and checking its tables.

use std::future::Future;
use std::pin::Pin;
use std::time::{Duration, Instant};

use sokudo_model::{Refusal, Text};
use sokudo_sql::{Class, Engine, Session, SqlError, Target};
use sokudo_workload::refusal::{failed, operator};
use tokio::runtime::{Builder, Runtime};

use crate::dbt1::Dbt1;
use crate::dbt2::Dbt2;
use crate::dbt3::Dbt3;
use crate::drive::{self, Benchmark};
pub use crate::drive::{Broken, Checked, How, Loaded};
use crate::options::Commit;
use crate::tables;
pub use crate::tables::Upkeep;
use crate::tpcb::Tpcb;

/// Longest wait for a session.
pub(crate) const CONNECT: Duration = Duration::from_secs(8);

/// Longest wait for all that a load asks before it begins. The controller waits longer for the host.
pub(crate) const SET_UP: Duration = Duration::from_secs(15);

/// A session for a load, with its commits acknowledged so.
///
/// Errors: those of the server.
pub(crate) async fn connect(
    target: &Target,
    bound: Duration,
    commit: Commit,
) -> Result<Session, SqlError> {
    let mut session = Session::connect(target, bound).await?;
    let sql = match (commit, target.engine()) {
        (Commit::Sync, _) | (Commit::Async, Engine::MySql | Engine::DuckDb) => return Ok(session),
        (Commit::Async, Engine::Postgres) => "set synchronous_commit = off",
        // With a write-ahead log a file stays whole: only checkpoints are waited for.
        (Commit::Async, Engine::Sqlite) => "pragma synchronous = normal",
    };
    session.batch(sql).await?;
    Ok(session)
}

/// The tables of a workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tables {
    /// Branches, tellers, accounts, history.
    Tpcb,
    /// The ten tables of a web shop.
    Dbt1,
    /// The nine tables of order entry.
    Dbt2,
    /// The eight tables of decision support.
    Dbt3,
}

impl Tables {
    /// The workload.
    pub(crate) fn workload(self) -> &'static str {
        match self {
            Self::Tpcb => Tpcb::KIND.name,
            Self::Dbt1 => Dbt1::KIND.name,
            Self::Dbt2 => Dbt2::KIND.name,
            Self::Dbt3 => Dbt3::KIND.name,
        }
    }

    /// Their names.
    pub(crate) fn names(self) -> &'static [&'static str] {
        match self {
            Self::Tpcb => Tpcb::TABLES,
            Self::Dbt1 => Dbt1::TABLES,
            Self::Dbt2 => Dbt2::TABLES,
            Self::Dbt3 => Dbt3::TABLES,
        }
    }
}

/// Makes the tables anew and fills them; `scale` counts branches, units of 2,880 customers, warehouses, or hundredths of the scale factor.
///
/// Errors: the server refuses, or is not there.
pub fn init(target: &Target, tables: Tables, scale: u32) -> Result<Loaded, Refusal> {
    match tables {
        Tables::Tpcb => work::<Tpcb, _>(target, Tpcb::init(target, scale)),
        Tables::Dbt1 => work::<Dbt1, _>(target, Dbt1::init(target, scale)),
        Tables::Dbt2 => work::<Dbt2, _>(target, Dbt2::init(target, scale)),
        Tables::Dbt3 => work::<Dbt3, _>(target, Dbt3::init(target, scale)),
    }
}

/// Checks what must hold in the tables.
///
/// Errors: the server refuses or is not there, or has no such tables.
pub fn check(target: &Target, tables: Tables) -> Result<Checked, Refusal> {
    match tables {
        Tables::Tpcb => work::<Tpcb, _>(target, checked::<Tpcb>(target)),
        Tables::Dbt1 => work::<Dbt1, _>(target, checked::<Dbt1>(target)),
        Tables::Dbt2 => work::<Dbt2, _>(target, checked::<Dbt2>(target)),
        Tables::Dbt3 => work::<Dbt3, _>(target, checked::<Dbt3>(target)),
    }
}

/// Does what is done to tables from time to time.
///
/// Errors: the server refuses or is not there, or has no such tables.
pub fn upkeep(target: &Target, tables: Tables, what: Upkeep) -> Result<(), Refusal> {
    match tables {
        Tables::Tpcb => work::<Tpcb, _>(target, kept_up::<Tpcb>(target, what)),
        Tables::Dbt1 => work::<Dbt1, _>(target, kept_up::<Dbt1>(target, what)),
        Tables::Dbt2 => work::<Dbt2, _>(target, kept_up::<Dbt2>(target, what)),
        Tables::Dbt3 => work::<Dbt3, _>(target, kept_up::<Dbt3>(target, what)),
    }
}

async fn kept_up<B: Benchmark>(target: &Target, what: Upkeep) -> Result<(), SqlError> {
    let mut session = Session::connect(target, CONNECT).await?;
    // MariaDB tells of a table that is not there in a row, not as an error.
    find(&mut session, B::TABLES).await?;
    tables::upkeep(&mut session, what, B::TABLES).await
}

/// Looks for these tables.
///
/// Errors: one is not there.
pub(crate) async fn find(session: &mut Session, tables: &[&str]) -> Result<(), SqlError> {
    for table in tables {
        let nothing = format!("select count(*) from {table} where 1 = 0");
        drive::one(session, &nothing).await?;
    }
    Ok(())
}

/// Awaits what a load asks before it begins, until `due`.
///
/// Errors: those of the server, and its silence.
pub(crate) fn set_up<T>(
    due: Instant,
    work: impl Future<Output = Result<T, SqlError>>,
) -> Result<(Runtime, Result<T, SqlError>), Refusal> {
    let runtime = runtime()?;
    let done = block_on(&runtime, async {
        tokio::time::timeout_at(due.into(), work).await
    });
    let done = done.unwrap_or_else(|_| Err(SqlError::timeout()));
    Ok((runtime, done))
}

async fn checked<B: Benchmark>(target: &Target) -> Result<Checked, SqlError> {
    let mut session = Session::connect(target, CONNECT).await?;
    let mut checked = drive::conditions::<B>(&mut session).await?;
    let contents = B::contents(&mut session).await?;
    checked.kept += contents.kept;
    checked.broken.extend(contents.broken);
    Ok(checked)
}

fn work<B: Benchmark, T>(
    target: &Target,
    work: impl Future<Output = Result<T, SqlError>>,
) -> Result<T, Refusal> {
    fits::<B>(target)?;
    let done = block_on(&runtime()?, work);
    done.map_err(|error| match error.class {
        Class::Undefined => no_tables(target, B::KIND.name, &error),
        _ => refused(target, &error),
    })
}

/// Checks that the workload is one for the engine of the target.
///
/// Errors: DuckDB, and a workload of many small transactions.
pub(crate) fn fits<B: Benchmark>(target: &Target) -> Result<(), Refusal> {
    match target.engine() {
        Engine::DuckDb if !B::IS_ANALYTICAL => Err(operator(
            Text::new("error-sql-analytical").word("workload", B::KIND.name),
            Text::new("error-sql-analytical-hint"),
        )),
        Engine::DuckDb | Engine::Postgres | Engine::MySql | Engine::Sqlite => Ok(()),
    }
}

/// A runtime for the sessions of one thread.
pub(crate) fn runtime() -> Result<Runtime, Refusal> {
    let made = Builder::new_current_thread().enable_all().build();
    made.map_err(|error| failed(Text::new("error-no-thread").with("error", error), None))
}

/// Runs a future to its end. Boxed, because each type of future would compile the runtime's loop anew.
pub(crate) fn block_on<'a, T: 'a>(runtime: &Runtime, work: impl Future<Output = T> + 'a) -> T {
    let work: Pin<Box<dyn Future<Output = T> + 'a>> = Box::pin(work);
    runtime.block_on(work)
}

/// Refusal of a database that cannot be used, with a hint by what it says.
pub(crate) fn refused(target: &Target, error: &SqlError) -> Refusal {
    let (says, hint) = match error.class {
        Class::Denied => ("error-sql-refused", "error-sql-refused-denied-hint"),
        Class::Resources if error.is_of_sessions() => {
            ("error-sql-refused", "error-sql-refused-sessions-hint")
        }
        Class::Resources => ("error-sql-refused", "error-sql-refused-resources-hint"),
        Class::Connection => ("error-sql-refused", "error-sql-refused-connection-hint"),
        Class::NoTls => ("error-sql-no-tls", "error-sql-no-tls-hint"),
        Class::Untrusted => ("error-sql-untrusted", "error-sql-untrusted-hint"),
        _ => ("error-sql-refused", "error-sql-refused-hint"),
    };
    let says = Text::new(says).with("target", target);
    let says = match error.class {
        Class::NoTls => says,
        _ => says.word("why", error.to_string()),
    };
    operator(says, Text::new(hint))
}

/// Refusal of a database without the tables, or with empty ones.
pub(crate) fn no_tables(target: &Target, workload: &str, error: &SqlError) -> Refusal {
    operator(
        Text::new("error-sql-no-tables")
            .with("target", target)
            .word("workload", workload)
            .word("why", error.to_string()),
        Text::new("error-sql-no-tables-hint").word("workload", workload),
    )
}
