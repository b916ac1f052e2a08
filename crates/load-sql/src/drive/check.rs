//! The state of the tables after a load, and whether every acknowledged commit is there.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use sokudo_sql::{Engine, Session, SqlError, Value};

use super::Ledger;

/// Marks of one statement, so that it stays below what servers take.
const MARKS: usize = 2000;

/// Result of a check.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checked {
    /// Conditions that hold.
    pub kept: u32,
    /// Conditions that do not.
    pub broken: Vec<Broken>,
}

impl Checked {
    /// Notes a condition that holds, or how it is broken.
    pub(crate) fn note(&mut self, condition: &str, broken: Option<How>) {
        match broken {
            None => self.kept += 1,
            Some(how) => self.broken.push(Broken {
                condition: condition.into(),
                how,
            }),
        }
    }
}

/// A condition that does not hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Broken {
    /// The condition: `sum(abalance) = sum(delta)`.
    pub condition: String,
    /// Violation, with its numbers.
    pub how: How,
}

/// Violation of a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum How {
    /// Its two sides differ.
    Sides(i64, i64),
    /// So many rows of its table break it.
    Rows(i64),
}

/// Fate of the marks of a host's clients.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Marks {
    pub(crate) acknowledged: i64,
    pub(crate) lost: i64,
    pub(crate) duplicated: i64,
}

/// The first number of a result, which has one row.
///
/// Errors: those of the server.
pub(crate) async fn one(session: &mut Session, sql: &str) -> Result<i64, SqlError> {
    let statement = session.prepare(sql).await?;
    let found = session
        .query_first(&statement, &[], |row| row.int(0))
        .await?;
    Ok(found.unwrap_or(0))
}

/// Looks for the marks of these clients.
///
/// Errors: those of the server.
pub(crate) async fn marks(
    session: &mut Session,
    tables: &[&str],
    ledgers: &[Ledger],
) -> Result<Marks, SqlError> {
    let mut marks = Marks {
        acknowledged: ledgers.iter().map(Ledger::acknowledged).sum(),
        ..Marks::default()
    };
    let clients = ledgers.iter().map(|ledger| ledger.client);
    let (Some(first), Some(last)) = (clients.clone().min(), clients.max()) else {
        return Ok(marks);
    };
    let mut found: BTreeMap<i64, i64> = BTreeMap::new();
    for table in tables {
        let counted = format!(
            "select client, count(*), count(distinct sequence) from {table} \
             where client between $1 and $2 group by client"
        );
        let counted = session.prepare(&counted).await?;
        session
            .query(&counted, &[first.into(), last.into()], |row| {
                let (rows, different) = (row.int(1)?, row.int(2)?);
                marks.duplicated += rows - different;
                *found.entry(row.int(0)?).or_default() += different;
                Ok(())
            })
            .await?;
    }
    let mut found_open = BTreeMap::new();
    for table in tables {
        open_ones(session, table, ledgers, &mut found_open).await?;
    }
    for ledger in ledgers {
        let of = |all: &BTreeMap<i64, i64>| all.get(&ledger.client).copied().unwrap_or(0);
        marks.lost += ledger.lost(of(&found), of(&found_open));
    }
    Ok(marks)
}

/// Adds how many marks without an acknowledgement are in a table, by client.
async fn open_ones(
    session: &mut Session,
    table: &str,
    ledgers: &[Ledger],
    found: &mut BTreeMap<i64, i64>,
) -> Result<(), SqlError> {
    let open: Vec<(i64, i64)> = ledgers
        .iter()
        .flat_map(|ledger| {
            ledger
                .open
                .iter()
                .map(|sequence| (ledger.client, *sequence))
        })
        .collect();
    for some in open.chunks(MARKS) {
        let mut sql = format!(
            "select client, count(distinct sequence) from {table} where (client, sequence) in (values ",
        );
        for (index, (client, sequence)) in some.iter().enumerate() {
            let comma = if index > 0 { ", " } else { "" };
            // Writing to a string cannot fail.
            let _ = write!(sql, "{comma}({client}, {sequence})");
        }
        sql.push_str(") group by client");
        if session.engine() == Engine::MySql {
            sql = sql.replace("(values ", "(");
        }
        for row in session.rows(&sql, &[]).await? {
            if let [Value::Int(client), Value::Int(count)] = row[..] {
                *found.entry(client).or_default() += count;
            }
        }
    }
    Ok(())
}
