//! The tables of `tpcb`: made, filled, counted.

use std::time::Duration;

use futures_util::stream::{FuturesUnordered, StreamExt as _};
use sokudo_sql::{Engine, Session, SqlError, Target};

use crate::drive::Loaded;

/// Accounts of each branch.
pub const ACCOUNTS: i64 = 100_000;
/// Tellers of each branch.
pub const TELLERS: i64 = 10;

/// Sessions that fill tables at a time.
const LOADERS: i64 = 4;
/// Longest wait for a session.
const CONNECT: Duration = Duration::from_secs(10);

/// Makes the tables anew, in place of those that are there, and fills them for so many branches.
///
/// Errors: those of the server. Tables that were not filled completely have no branches: a run refuses them.
pub(super) async fn init(target: &Target, scale: u32) -> Result<Loaded, SqlError> {
    let scale = i64::from(scale);
    let mut session = Session::connect(target, CONNECT).await?;
    create(&mut session).await?;
    let mut rows = session
        .load("tpcb_tellers", &["tid", "bid", "tbalance", "filler"], {
            let mut tid = 0;
            move |row| {
                tid += 1;
                row.int(tid)
                    .int((tid - 1) / TELLERS + 1)
                    .int(0)
                    .text("")
                    .end();
                tid < TELLERS * scale
            }
        })
        .await?;
    let loaders = match session.engine() {
        Engine::Sqlite | Engine::DuckDb => 1,
        Engine::Postgres | Engine::MySql => LOADERS.min(scale),
    };
    let mut each: FuturesUnordered<_> = (0..loaders)
        .map(|loader| async move {
            let mut session = Session::connect(target, CONNECT).await?;
            let mut rows = 0;
            for branch in (0..scale).filter(|branch| branch % loaders == loader) {
                rows += accounts_of(&mut session, branch).await?;
            }
            Ok::<u64, SqlError>(rows)
        })
        .collect();
    while let Some(loaded) = each.next().await {
        rows += loaded?;
    }
    // Last: the number of branches says how large the database is.
    rows += session
        .load("tpcb_branches", &["bid", "bbalance", "filler"], {
            let mut bid = 0;
            move |row| {
                bid += 1;
                row.int(bid).int(0).text("").end();
                bid < scale
            }
        })
        .await?;
    session.batch(statistics(session.engine())).await?;
    Ok(Loaded { rows })
}

/// The accounts of one branch: what they hold follows from their numbers alone.
async fn accounts_of(session: &mut Session, branch: i64) -> Result<u64, SqlError> {
    let (mut aid, last) = (branch * ACCOUNTS, (branch + 1) * ACCOUNTS);
    let columns = ["aid", "bid", "abalance", "filler"];
    session
        .load("tpcb_accounts", &columns, move |row| {
            aid += 1;
            row.int(aid).int(branch + 1).int(0).text("").end();
            aid < last
        })
        .await
}

/// So that plans know the sizes.
fn statistics(engine: Engine) -> &'static str {
    match engine {
        Engine::Postgres => {
            "vacuum analyze tpcb_branches, tpcb_tellers, tpcb_accounts, tpcb_history"
        }
        Engine::MySql => "analyze table tpcb_branches, tpcb_tellers, tpcb_accounts, tpcb_history",
        Engine::Sqlite | Engine::DuckDb => "analyze",
    }
}

async fn create(session: &mut Session) -> Result<(), SqlError> {
    let (moment, suffix) = match session.engine() {
        Engine::Postgres => ("timestamp", ""),
        Engine::MySql => ("datetime(6)", " engine = InnoDB"),
        Engine::Sqlite => {
            // Readers do not wait for the writer, and a commit is one write.
            session.batch("pragma journal_mode = wal").await?;
            ("text", "")
        }
        Engine::DuckDb => ("timestamp", ""),
    };
    for (table, columns) in [
        (
            "branches",
            "bid int primary key, bbalance bigint not null, filler char(88)".to_owned(),
        ),
        (
            "tellers",
            "tid int primary key, bid int not null, tbalance bigint not null, filler char(84)"
                .to_owned(),
        ),
        (
            "accounts",
            "aid bigint primary key, bid int not null, abalance bigint not null, filler char(84)"
                .to_owned(),
        ),
        (
            "history",
            format!(
                "tid int, bid int, aid bigint, delta bigint, mtime {moment}, filler char(22), client bigint, sequence bigint"
            ),
        ),
    ] {
        session
            .batch(&format!("drop table if exists tpcb_{table}"))
            .await?;
        session
            .batch(&format!("create table tpcb_{table} ({columns}){suffix}"))
            .await?;
    }
    Ok(())
}
