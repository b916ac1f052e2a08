//! A database beside the source that exists for one restore.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use sokudo_sql::{Engine, Session, SqlError, Target, Value};
use tokio::runtime::Runtime;

use super::watch::{Limit, Watch, Wrong};
use crate::db::CONNECT;

/// Longest time to drop it, also after a wish to stop.
const DROP: Duration = Duration::from_secs(60);

/// Prefix of its name.
const PREFIX: &str = "sokudo_restore_";

/// A scratch database.
pub(super) struct Scratch<'a> {
    target: &'a Target,
    name: String,
}

impl<'a> Scratch<'a> {
    /// One with a name of its own, which is not there yet.
    pub(super) fn of(target: &'a Target) -> Self {
        // Hosts that share a server differ in the nanosecond, and processes of one host in their number.
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.unwrap_or_default().as_nanos();
        let name = format!("{PREFIX}{now:x}_{}", std::process::id());
        Self { target, name }
    }

    /// Makes it, with the encoding and the order of the source.
    ///
    /// Errors: the server refuses, or the watch is over.
    pub(super) fn create(&self, runtime: &Runtime, watch: &Watch<'_>) -> Result<(), Wrong> {
        let created = watch.until(runtime, async {
            let mut session = Session::connect(self.target, CONNECT).await?;
            let like = match session.engine() {
                Engine::Postgres => like_source(&mut session).await?,
                Engine::MySql | Engine::Sqlite | Engine::DuckDb => String::new(),
            };
            let create = format!("create database {}{like}", self.name);
            session.batch(&create).await
        });
        created.map_err(|wrong| match wrong {
            Wrong::Sql(error) => Wrong::Scratch(error),
            over => over,
        })
    }

    /// Its name.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Drops it, with the sessions that it has still.
    ///
    /// Errors: the server refuses, or does not answer.
    pub(super) fn drop_it(self, runtime: &Runtime) -> Result<(), Wrong> {
        let never = AtomicBool::new(false);
        let limit = Limit {
            stop: &never,
            bound: DROP,
        };
        let dropped = limit.watch().until(runtime, async {
            let mut session = Session::connect(self.target, CONNECT).await?;
            let statement = match session.engine() {
                Engine::Postgres => format!("drop database if exists {} with (force)", self.name),
                Engine::MySql | Engine::Sqlite | Engine::DuckDb => {
                    end_sessions(&mut session, &self.name).await?;
                    format!("drop database if exists {}", self.name)
                }
            };
            session.batch(&statement).await
        });
        dropped.map_err(|wrong| match wrong {
            Wrong::Sql(error) => Wrong::Left(self.name, error),
            _ => Wrong::Left(self.name, SqlError::timeout()),
        })
    }
}

/// Encoding and order of the session's database, for `create database`.
async fn like_source(session: &mut Session) -> Result<String, SqlError> {
    let sql = "select quote_literal(pg_encoding_to_char(encoding)), quote_literal(datcollate), \
        quote_literal(datctype) from pg_database where datname = current_database()";
    let rows = session.rows(sql, &[]).await?;
    Ok(match rows.first().map(Vec::as_slice) {
        Some(
            [
                Value::Text(encoding),
                Value::Text(order),
                Value::Text(kinds),
            ],
        ) => format!(" template template0 encoding {encoding} lc_collate {order} lc_ctype {kinds}"),
        _ => String::new(),
    })
}

/// Ends what a killed program has left running: it holds locks that a drop would wait for.
async fn end_sessions(session: &mut Session, database: &str) -> Result<(), SqlError> {
    let sql = "select id from information_schema.processlist where db = $1";
    for row in session.rows(sql, &[database.into()]).await? {
        if let Some(Value::Int(id)) = row.first() {
            // It may have ended by itself.
            let _ = session.batch(&format!("kill {id}")).await;
        }
    }
    Ok(())
}
