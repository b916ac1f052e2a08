//! The statements of a load as its server counts and plans them, before and after the load.
//!
//! ```text
//! plans ─ counters ─ the load's sessions ─ load ─ counters ─ its sessions end ─ plans
//! ```
//!
//! The questions for the plans lie outside of what is counted.

mod mysql;
mod plan_steps;
mod postgres;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use sokudo_model::statements::Counted;
use sokudo_sql::{Engine, Session, SqlError, Target};

use super::Transactions;

/// Longest look, which the begin of a load waits for.
const BOUND: Duration = Duration::from_secs(5);
/// Statements of a load whose plans are kept.
const PLANS_MAX: usize = 100;
/// Statements of the server that are kept, those with the most time first.
const COUNTED_MAX: usize = 30;

/// Something that was read, or the reason why it was not.
pub(crate) type Read<T> = Result<T, String>;

/// Statements with their plans.
pub(crate) type Plans = Vec<(String, String)>;

/// Counters since the server counts.
#[derive(Debug, Clone, Default)]
pub(crate) struct Counters {
    /// By the text of the statement.
    statements: BTreeMap<String, Counted>,
    /// Statements for which the server had no room.
    lost: f64,
}

impl Counters {
    fn add(&mut self, one: Counted) {
        let own = self.statements.entry(one.statement.clone()).or_default();
        own.add(&one);
        own.statement = one.statement;
    }
}

/// Why counters do not hold everything, and what to do. It stands in `reasons.ftl`, too.
const LOST: &str = "the server had no room to count all prepared statements: raise performance_schema_max_prepared_statements_instances";

/// One look at a server.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) counted: Read<Counters>,
    /// Statement and plan.
    pub(crate) planned: Read<Plans>,
}

/// Whether the counters of prepared statements go with the sessions that have prepared them.
pub(crate) fn end_with_their_session(engine: Engine) -> bool {
    match engine {
        Engine::MySql => true,
        Engine::Postgres | Engine::Sqlite | Engine::DuckDb => false,
    }
}

/// The questions of one look.
#[derive(Debug)]
pub(crate) struct Look<'a> {
    target: &'a Target,
    due: Instant,
}

impl<'a> Look<'a> {
    /// At the server of this database; `None` for an embedded one.
    pub(crate) fn at(target: &'a Target) -> Option<Self> {
        (!target.engine().is_embedded()).then(|| Self {
            target,
            due: Instant::now() + BOUND,
        })
    }

    /// What the server counted so far.
    pub(crate) async fn counted(&self) -> Read<Counters> {
        self.ask(counted).await
    }

    /// The plans that the statements have now.
    pub(crate) async fn planned<T: Transactions>(&self, transactions: &T) -> Read<Plans> {
        self.ask(async |session: &mut Session| planned(session, transactions).await)
            .await
    }

    /// Asks on a session of its own: one whose question was given up cannot be used again.
    async fn ask<T>(&self, ask: impl AsyncFnOnce(&mut Session) -> Read<T>) -> Read<T> {
        let told = |error: SqlError| error.to_string();
        let asking = async {
            let mut session = Session::connect(self.target, BOUND).await.map_err(told)?;
            ask(&mut session).await
        };
        let asked = tokio::time::timeout_at(self.due.into(), asking).await;
        asked.unwrap_or_else(|_| Err(told(SqlError::timeout())))
    }
}

async fn counted(session: &mut Session) -> Read<Counters> {
    match session.engine() {
        Engine::Postgres => postgres::counted(session).await,
        Engine::MySql => mysql::counted(session).await,
        Engine::Sqlite | Engine::DuckDb => Ok(Counters::default()),
    }
}

async fn planned<T: Transactions>(session: &mut Session, transactions: &T) -> Read<Plans> {
    let planned = match session.engine() {
        Engine::Postgres => postgres::planned(session, transactions).await,
        Engine::MySql => mysql::planned(session, transactions).await,
        Engine::Sqlite | Engine::DuckDb => Ok(Plans::new()),
    };
    planned.map_err(|error| error.to_string())
}

/// Executions between two looks, those with the most time first.
///
/// Errors: the reason why they are not known.
pub(crate) fn between(before: &Seen, after: &Seen) -> Read<Vec<Counted>> {
    let (before, after) = (before.counted.as_ref(), after.counted.as_ref());
    let (before, after) = (before.map_err(Clone::clone)?, after.map_err(Clone::clone)?);
    if after.lost > before.lost {
        return Err(LOST.into());
    }
    let grown = after.statements.values();
    let grown = grown.map(|now| match before.statements.get(&now.statement) {
        Some(then) => now.since(then),
        None => now.clone(),
    });
    let mut grown: Vec<Counted> = grown.filter(|grown| grown.calls > Some(0.0)).collect();
    grown.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    grown.truncate(COUNTED_MAX);
    Ok(grown)
}
