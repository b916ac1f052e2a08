//! Tables of workloads: made empty, filled part by part over several sessions, then given their keys; the table whose
//! rows say how large the database is comes last.

use std::cell::Cell;

use futures_util::stream::{FuturesUnordered, StreamExt as _};
use sokudo_sql::{Class, Engine, Session, SqlError, Statement, Target, Value};

use crate::db::CONNECT;

/// Sessions that fill tables at a time.
const LOADERS: usize = 4;

/// A commit of a part does not wait for the disk. That of the rows which say that the database is whole does, and the log is
/// written in the order of its commits.
const NO_WAIT: &str = "set synchronous_commit = off";

/// A table: its columns with `{time}` where a moment stands and `{date}` where a day does, and its primary key.
pub(crate) struct Table {
    pub(crate) name: &'static str,
    pub(crate) columns: &'static str,
    pub(crate) key: &'static str,
    /// Further indexes: name and columns.
    pub(crate) indexes: &'static [(&'static str, &'static str)],
    /// Rows that are short enough to lie in the key's own tree on SQLite.
    pub(crate) is_narrow: bool,
}

/// The names of tables.
pub(crate) const fn names<const N: usize>(tables: &[Table; N]) -> [&'static str; N] {
    let mut names = [""; N];
    let mut at = 0;
    while at < N {
        names[at] = tables[at].name;
        at += 1;
    }
    names
}

/// Makes tables anew, in place of those that are there. PostgreSQL gets the keys once the rows are there,
/// DuckDB none.
///
/// Errors: those of the server.
pub(crate) async fn create(session: &mut Session, tables: &[Table]) -> Result<(), SqlError> {
    let engine = session.engine();
    let (moment, day) = match engine {
        Engine::Postgres => ("timestamp", "date"),
        Engine::MySql => ("datetime(6)", "date"),
        Engine::Sqlite => {
            // Readers do not wait for the writer, and a commit is one write.
            session.batch("pragma journal_mode = wal").await?;
            ("text", "text")
        }
        Engine::DuckDb => ("timestamp", "date"),
    };
    for table in tables {
        let (name, key) = (table.name, table.key);
        let columns = table
            .columns
            .replace("{time}", moment)
            .replace("{date}", day);
        let key = match engine {
            // It keeps the least and the most of each part of a column, and reads the parts that may hold a key.
            Engine::Postgres | Engine::DuckDb => String::new(),
            _ if key.is_empty() => String::new(),
            Engine::MySql | Engine::Sqlite => format!(", primary key ({key})"),
        };
        let suffix = match engine {
            Engine::Postgres | Engine::DuckDb => "",
            Engine::MySql => " engine = InnoDB",
            Engine::Sqlite if table.is_narrow => " without rowid",
            Engine::Sqlite => "",
        };
        session
            .batch(&format!("drop table if exists {name}"))
            .await?;
        let create = format!("create table {name} ({columns}{key}){suffix}");
        session.batch(&create).await?;
    }
    Ok(())
}

/// Loads the parts with the numbers 0, 1, … until there is none, over several sessions at a time where the
/// engine has more than one writer. Returns the number of rows.
///
/// Errors: the first one of the server, once no session has anything under way.
pub(crate) async fn fill<P>(
    target: &Target,
    part: impl Fn(usize) -> Option<P>,
    load: impl AsyncFn(&mut Session, P) -> Result<u64, SqlError>,
) -> Result<u64, SqlError> {
    let loaders = match target.engine() {
        Engine::Sqlite | Engine::DuckDb => 1,
        Engine::Postgres | Engine::MySql => LOADERS,
    };
    let (next, has_failed) = (Cell::new(0), Cell::new(false));
    let loader = async || {
        let mut session = Session::connect(target, CONNECT).await?;
        if session.engine() == Engine::Postgres {
            session.batch(NO_WAIT).await?;
        }
        let mut rows = 0;
        while !has_failed.get()
            && let Some(part) = part(next.replace(next.get() + 1))
        {
            rows += load(&mut session, part).await?;
        }
        Ok::<u64, SqlError>(rows)
    };
    let mut each: FuturesUnordered<_> = (0..loaders).map(|_| loader()).collect();
    let mut rows = Ok(0);
    // After an error the others end what they do: a server goes on with the statement of a session that is gone.
    while let Some(loaded) = each.next().await {
        has_failed.set(has_failed.get() || loaded.is_err());
        rows = rows.and_then(|rows| Ok(rows + loaded?));
    }
    rows
}

/// Adds keys and indexes to tables with rows, and has the server count them, so that plans know the sizes: table by
/// table, over several sessions at a time where the engine has more than one writer.
///
/// Errors: those of the server.
pub(crate) async fn finish(target: &Target, tables: &[Table]) -> Result<(), SqlError> {
    // The largest tables stand last in the schemas, and take longest.
    let works: Vec<Vec<String>> = { tables.iter().rev() }
        .map(|table| finishing(target.engine(), table))
        .collect();
    let work = async |session: &mut Session, statements: &Vec<String>| {
        for statement in statements {
            session.batch(statement).await?;
        }
        Ok(0)
    };
    fill(target, |number| works.get(number), work).await?;
    Ok(())
}

/// The statements that finish a table with rows.
fn finishing(engine: Engine, table: &Table) -> Vec<String> {
    let name = table.name;
    let has_late_key = engine == Engine::Postgres && !table.key.is_empty();
    let key = has_late_key.then(|| format!("alter table {name} add primary key ({})", table.key));
    let indexes = table.indexes.iter().filter(|_| engine != Engine::DuckDb);
    let indexes =
        indexes.map(|(index, columns)| format!("create index {index} on {name} ({columns})"));
    let count = match engine {
        Engine::Postgres => Some(format!("vacuum (analyze) {name}")),
        Engine::MySql => Some(format!("analyze table {name}")),
        Engine::Sqlite => Some(format!("analyze {name}")),
        // It counts all tables at once.
        Engine::DuckDb => None,
    };
    key.into_iter().chain(indexes).chain(count).collect()
}

/// Has the server count the table that was filled last, once all others were finished: its rows say that the database
/// is whole.
///
/// Errors: those of the server.
pub(crate) async fn close(session: &mut Session, last: &str) -> Result<(), SqlError> {
    if session.engine() == Engine::Postgres {
        upkeep(session, Upkeep::Vacuum, &[last]).await?;
    }
    upkeep(session, Upkeep::Analyze, &[last]).await
}

/// Executes a statement that finds at least one row of this table: those that the tables had when they were filled.
///
/// Errors: it finds none, and those of the server.
pub(crate) async fn found(
    session: &mut Session,
    statement: &Statement,
    values: &[Value<'_>],
    table: &str,
) -> Result<(), SqlError> {
    match session.execute(statement, values).await? {
        0 => Err(gone(table)),
        _ => Ok(()),
    }
}

/// A row is missing that the tables had when they were filled.
#[cold]
pub(crate) fn gone(table: &str) -> SqlError {
    SqlError {
        class: Class::Other,
        code: None,
        message: format!("a row of {table} is missing"),
        is_lost: false,
    }
}

/// Maintenance of tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Upkeep {
    /// Indexes are made anew.
    Reindex,
    /// The room of rows that are gone is given back.
    Vacuum,
    /// Rows are counted, so that plans know the sizes.
    Analyze,
}

/// Does this to tables.
///
/// Errors: those of the server.
pub(crate) async fn upkeep(
    session: &mut Session,
    what: Upkeep,
    tables: &[&str],
) -> Result<(), SqlError> {
    let all = tables.join(", ");
    let each = |statement: &str| {
        tables
            .iter()
            .map(|table| format!("{statement} {table}"))
            .collect()
    };
    let statements: Vec<String> = match (session.engine(), what) {
        (Engine::Postgres, Upkeep::Reindex) => each("reindex table"),
        (Engine::Postgres, Upkeep::Vacuum) => vec![format!("vacuum {all}")],
        (Engine::Postgres, Upkeep::Analyze) => vec![format!("analyze {all}")],
        // InnoDB makes a table and its indexes anew at once.
        (Engine::MySql, Upkeep::Reindex) => tables
            .iter()
            .map(|table| format!("alter table {table} force"))
            .collect(),
        (Engine::MySql, Upkeep::Vacuum) => vec![format!("optimize table {all}")],
        (Engine::MySql, Upkeep::Analyze) => vec![format!("analyze table {all}")],
        (Engine::Sqlite, Upkeep::Reindex) => each("reindex"),
        // A file has one room for all tables.
        (Engine::Sqlite, Upkeep::Vacuum) => vec!["vacuum".into()],
        (Engine::Sqlite, Upkeep::Analyze) => each("analyze"),
        (Engine::DuckDb, Upkeep::Reindex) => Vec::new(),
        (Engine::DuckDb, Upkeep::Vacuum) => vec!["checkpoint".into()],
        (Engine::DuckDb, Upkeep::Analyze) => vec!["analyze".into()],
    };
    for statement in &statements {
        session.batch(statement).await?;
    }
    Ok(())
}
