//! The tables of `tpcb`: made, filled, counted.

use sokudo_sql::{Session, SqlError, Target};

use crate::db::CONNECT;
use crate::drive::Loaded;
use crate::tables::{Table, close, create, fill, finish};

/// Accounts of each branch.
pub const ACCOUNTS: i64 = 100_000;
/// Tellers of each branch.
pub const TELLERS: i64 = 10;

pub(super) const TABLES: [Table; 4] = [
    Table {
        name: "tpcb_branches",
        columns: "bid int not null, bbalance bigint not null, filler char(88)",
        key: "bid",
        indexes: &[],
        is_narrow: false,
    },
    Table {
        name: "tpcb_tellers",
        columns: "tid int not null, bid int not null, tbalance bigint not null, filler char(84)",
        key: "tid",
        indexes: &[],
        is_narrow: false,
    },
    Table {
        name: "tpcb_history",
        columns: "tid int, bid int, aid bigint, delta bigint, mtime {time}, filler char(22), \
                  client bigint, sequence bigint",
        key: "",
        indexes: &[],
        is_narrow: false,
    },
    Table {
        name: "tpcb_accounts",
        columns: "aid bigint not null, bid int not null, abalance bigint not null, filler char(84)",
        key: "aid",
        indexes: &[],
        is_narrow: false,
    },
];

/// Makes the tables anew, in place of those that are there, and fills them for so many branches.
///
/// Errors: those of the server. Tables that were not filled completely have no branches: a run refuses them.
pub(super) async fn init(target: &Target, scale: u32) -> Result<Loaded, SqlError> {
    let scale = i64::from(scale);
    let mut session = Session::connect(target, CONNECT).await?;
    create(&mut session, &TABLES).await?;
    let branch = |number: usize| i64::try_from(number).ok().filter(|branch| *branch < scale);
    let mut rows = fill(target, branch, accounts).await?;
    let tellers = ["tid", "bid", "tbalance", "filler"];
    let of_branch = |tid| (tid - 1) / TELLERS + 1;
    let last = TELLERS * scale;
    rows += numbered(&mut session, "tpcb_tellers", &tellers, (1, last), of_branch).await?;
    finish(target, &TABLES).await?;
    // Last: the number of branches says how large the database is.
    let mut bid = 0;
    let branches = ["bid", "bbalance", "filler"];
    let next = session.load("tpcb_branches", &branches, move |row| {
        bid += 1;
        row.int(bid).int(0).text("").end();
        bid < scale
    });
    rows += next.await?;
    close(&mut session, "tpcb_branches").await?;
    Ok(Loaded { rows })
}

/// The accounts of one branch: what they hold follows from their numbers alone.
async fn accounts(session: &mut Session, branch: i64) -> Result<u64, SqlError> {
    let columns = ["aid", "bid", "abalance", "filler"];
    let numbers = (branch * ACCOUNTS + 1, (branch + 1) * ACCOUNTS);
    numbered(session, "tpcb_accounts", &columns, numbers, |_| branch + 1).await
}

/// Rows with the numbers from the first one to the last one, each with its branch and nothing on it.
async fn numbered(
    session: &mut Session,
    table: &str,
    columns: &[&str],
    (first, last): (i64, i64),
    branch: impl Fn(i64) -> i64,
) -> Result<u64, SqlError> {
    let mut number = first - 1;
    let next = session.load(table, columns, |row| {
        number += 1;
        row.int(number).int(branch(number)).int(0).text("").end();
        number < last
    });
    next.await
}
