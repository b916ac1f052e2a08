//! Tables of workloads: made empty, filled part by part over several sessions, then given their keys.

use std::cell::Cell;

use futures_util::stream::{FuturesUnordered, StreamExt as _};
use sokudo_sql::{Engine, Session, SqlError, Target};

use crate::db::CONNECT;

/// Sessions that fill tables at a time.
const LOADERS: usize = 4;

/// A table: its columns with `{time}` where a moment stands and `{date}` where a day does, and its primary key.
pub(crate) struct Table {
    pub(crate) name: &'static str,
    pub(crate) columns: &'static str,
    pub(crate) key: &'static str,
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
/// Errors: those of the server.
pub(crate) async fn fill<P>(
    target: &Target,
    part: impl Fn(usize) -> Option<P>,
    load: impl AsyncFn(&mut Session, P) -> Result<u64, SqlError>,
) -> Result<u64, SqlError> {
    let loaders = match target.engine() {
        Engine::Sqlite | Engine::DuckDb => 1,
        Engine::Postgres | Engine::MySql => LOADERS,
    };
    let next = Cell::new(0);
    let loader = async || {
        let mut session = Session::connect(target, CONNECT).await?;
        let mut rows = 0;
        while let Some(part) = part(next.replace(next.get() + 1)) {
            rows += load(&mut session, part).await?;
        }
        Ok::<u64, SqlError>(rows)
    };
    let mut each: FuturesUnordered<_> = (0..loaders).map(|_| loader()).collect();
    let mut rows = 0;
    while let Some(loaded) = each.next().await {
        rows += loaded?;
    }
    Ok(rows)
}

/// Adds keys and indexes to tables with rows, and has the server count them, so that plans know the sizes.
///
/// Errors: those of the server.
pub(crate) async fn finish(
    session: &mut Session,
    tables: &[Table],
    indexes: &[&str],
) -> Result<(), SqlError> {
    let engine = session.engine();
    if engine == Engine::Postgres {
        for table in tables.iter().filter(|table| !table.key.is_empty()) {
            let add = format!("alter table {} add primary key ({})", table.name, table.key);
            session.batch(&add).await?;
        }
    }
    for index in indexes.iter().filter(|_| engine != Engine::DuckDb) {
        session.batch(index).await?;
    }
    let names: Vec<&str> = tables.iter().map(|table| table.name).collect();
    if engine == Engine::Postgres {
        session
            .batch(&format!("vacuum {}", names.join(", ")))
            .await?;
    }
    upkeep(session, Upkeep::Analyze, &names).await
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
