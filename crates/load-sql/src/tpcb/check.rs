//! What must hold in the tables of `tpcb`, and whether every acknowledged commit is there.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use sokudo_sql::{Begin, Session, SqlError, Value};

use crate::drive::Ledger;

/// Marks of one statement, so that it stays below what servers take.
const MARKS: usize = 2000;

/// Result of a check.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checked {
    /// Conditions that hold.
    pub kept: u32,
    /// Conditions that do not: the two numbers that should be the same.
    pub broken: Vec<Broken>,
}

/// A condition that does not hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Broken {
    /// The condition: `sum(abalance) = sum(delta)`.
    pub condition: String,
    /// Its left side.
    pub left: i64,
    /// Its right side.
    pub right: i64,
}

/// What became of the marks of a host's clients.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Marks {
    pub(crate) acknowledged: i64,
    pub(crate) lost: i64,
    pub(crate) duplicated: i64,
}

/// The conditions, each with the statements of its two sides. A transaction without branch leaves tellers and
/// branches as they are.
const CONDITIONS: [(&str, &str, &str); 3] = [
    (
        "sum(abalance) = sum(delta)",
        "select coalesce(sum(abalance), 0) from tpcb_accounts",
        "select coalesce(sum(delta), 0) from tpcb_history",
    ),
    (
        "sum(tbalance) = sum(delta)",
        "select coalesce(sum(tbalance), 0) from tpcb_tellers",
        "select coalesce(sum(delta), 0) from tpcb_history where filler is null",
    ),
    (
        "sum(bbalance) = sum(delta)",
        "select coalesce(sum(bbalance), 0) from tpcb_branches",
        "select coalesce(sum(delta), 0) from tpcb_history where filler is null",
    ),
];

/// Checks the conditions on the tables, as of one moment.
///
/// Errors: those of the server.
pub async fn conditions(session: &mut Session) -> Result<Checked, SqlError> {
    session.begin(Begin::Read).await?;
    let mut checked = Checked::default();
    for (condition, left, right) in CONDITIONS {
        let (left, right) = (one(session, left).await?, one(session, right).await?);
        match left == right {
            true => checked.kept += 1,
            false => checked.broken.push(Broken {
                condition: condition.into(),
                left,
                right,
            }),
        }
    }
    session.rollback().await?;
    Ok(checked)
}

/// One number.
async fn one(session: &mut Session, sql: &str) -> Result<i64, SqlError> {
    let statement = session.prepare(sql).await?;
    let found = session
        .query_first(&statement, &[], |row| row.int(0))
        .await?;
    Ok(found.unwrap_or(0))
}

/// Looks for the marks of these clients.
///
/// Errors: those of the server.
pub(crate) async fn marks(session: &mut Session, ledgers: &[Ledger]) -> Result<Marks, SqlError> {
    let mut marks = Marks {
        acknowledged: ledgers.iter().map(Ledger::acknowledged).sum(),
        ..Marks::default()
    };
    let clients = ledgers.iter().map(|ledger| ledger.client);
    let (Some(first), Some(last)) = (clients.clone().min(), clients.max()) else {
        return Ok(marks);
    };
    let counted = session
        .prepare(
            "select client, count(*), count(distinct sequence) from tpcb_history \
             where client between $1 and $2 group by client",
        )
        .await?;
    let mut found: BTreeMap<i64, i64> = BTreeMap::new();
    session
        .query(&counted, &[first.into(), last.into()], |row| {
            let (rows, different) = (row.int(1)?, row.int(2)?);
            marks.duplicated += rows - different;
            found.insert(row.int(0)?, different);
            Ok(())
        })
        .await?;
    let found_open = open_ones(session, ledgers).await?;
    for ledger in ledgers {
        let of = |all: &BTreeMap<i64, i64>| all.get(&ledger.client).copied().unwrap_or(0);
        marks.lost += ledger.lost(of(&found), of(&found_open));
    }
    Ok(marks)
}

/// How many marks without an acknowledgement are there, by client.
async fn open_ones(
    session: &mut Session,
    ledgers: &[Ledger],
) -> Result<BTreeMap<i64, i64>, SqlError> {
    let open: Vec<(i64, i64)> = ledgers
        .iter()
        .flat_map(|ledger| {
            ledger
                .open
                .iter()
                .map(|sequence| (ledger.client, *sequence))
        })
        .collect();
    let mut found = BTreeMap::new();
    for some in open.chunks(MARKS) {
        let mut sql = String::from(
            "select client, count(distinct sequence) from tpcb_history where (client, sequence) in (values ",
        );
        for (index, (client, sequence)) in some.iter().enumerate() {
            let comma = if index > 0 { ", " } else { "" };
            // Writing to a string cannot fail.
            let _ = write!(sql, "{comma}({client}, {sequence})");
        }
        sql.push_str(") group by client");
        if session.engine() == sokudo_sql::Engine::MySql {
            sql = sql.replace("(values ", "(");
        }
        for row in session.rows(&sql, &[]).await? {
            if let [Value::Int(client), Value::Int(count)] = row[..] {
                *found.entry(client).or_default() += count;
            }
        }
    }
    Ok(found)
}
