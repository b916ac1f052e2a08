//! The statements of a load as PostgreSQL counts them (`pg_stat_statements`) and plans them, before and after the load.
//!
//! The plans are those of the statements that a session of the load prepares, without values: what the server takes
//! for any of them. Nothing is executed for it.

use std::collections::BTreeMap;
use std::time::Duration;

use sokudo_model::statements::{Counted, one_line};
use sokudo_sql::{Engine, Session, SqlError, Target, Value};

use super::Transactions;

/// Longest look, which the begin of a load waits for.
const BOUND: Duration = Duration::from_secs(5);
/// Statements of a load whose plans are kept.
const PLANS_MAX: i64 = 100;
/// Statements of the server that are kept, those with the most time first.
const COUNTED_MAX: usize = 30;

const SCHEMA: &str = "
    select quote_ident(n.nspname) from pg_extension e join pg_namespace n on n.oid = e.extnamespace
    where e.extname = 'pg_stat_statements'";

/// The commands that show the plans of the statements that this session has prepared.
const EXPLAINS: &str = "
    select statement, format('explain (costs off) execute %I', name) || case cardinality(parameter_types)
        when 0 then '' else '(' || array_to_string(array_fill('null'::text, array[cardinality(parameter_types)]), ', ') || ')' end
    from pg_prepared_statements
    where not from_sql and statement ~* '^\\s*(select|insert|update|delete|merge|with|values)\\M'
      and statement !~ 'pg_prepared_statements'
    order by prepare_time, name limit $1";

/// Something that was read, or the reason why it was not.
type Read<T> = Result<T, String>;

/// One look at a server.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    /// Counters by the text of the statement, since the server counts.
    counted: Read<BTreeMap<String, Counted>>,
    /// Statement and plan.
    pub(crate) planned: Read<Vec<(String, String)>>,
}

/// Looks at a PostgreSQL server before or after the load; `None` for another one. The questions for the plans lie
/// outside of what is counted.
pub(crate) async fn look<T: Transactions>(
    target: &Target,
    transactions: &T,
    is_before: bool,
) -> Option<Seen> {
    (target.engine() == Engine::Postgres).then_some(())?;
    let looked = async {
        let mut session = Session::connect(target, BOUND).await?;
        let (counted, planned) = match is_before {
            true => {
                let planned = planned(&mut session, transactions).await;
                (counted(&mut session).await, planned)
            }
            false => (
                counted(&mut session).await,
                planned(&mut session, transactions).await,
            ),
        };
        Ok::<_, SqlError>(Seen {
            counted,
            planned: planned.map_err(|error| error.to_string()),
        })
    };
    let looked = tokio::time::timeout(BOUND, looked).await;
    let looked = looked.unwrap_or_else(|_| Err(SqlError::timeout()));
    Some(looked.unwrap_or_else(|error| Seen {
        counted: Err(error.to_string()),
        planned: Err(error.to_string()),
    }))
}

/// Executions between two looks, those with the most time first.
///
/// Errors: the reason why they are not known.
pub(crate) fn between(before: &Seen, after: &Seen) -> Read<Vec<Counted>> {
    let (before, after) = (before.counted.as_ref(), after.counted.as_ref());
    let (before, after) = (before.map_err(Clone::clone)?, after.map_err(Clone::clone)?);
    let grown = after.values().filter_map(|now| {
        let then = before.get(&now.statement).cloned().unwrap_or_default();
        // Counters that were reset meanwhile count from then on.
        let is_reset = now.calls < then.calls;
        let then = if is_reset { Counted::default() } else { then };
        let grown = Counted {
            statement: now.statement.clone(),
            calls: now.calls - then.calls,
            seconds: now.seconds - then.seconds,
            rows: now.rows - then.rows,
            blocks_hit: now.blocks_hit - then.blocks_hit,
            blocks_read: now.blocks_read - then.blocks_read,
        };
        (grown.calls > 0.0).then_some(grown)
    });
    let mut grown: Vec<Counted> = grown.collect();
    grown.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    grown.truncate(COUNTED_MAX);
    Ok(grown)
}

async fn counted(session: &mut Session) -> Read<BTreeMap<String, Counted>> {
    let told = |error: SqlError| error.to_string();
    let schema = session.rows(SCHEMA, &[]).await.map_err(told)?;
    let Some(Value::Text(schema)) = schema.first().and_then(|row| row.first()) else {
        return Err("the database has no extension pg_stat_statements".into());
    };
    // Before version 1.8 of the extension the time of planning was not told apart.
    let mut rows = session
        .rows(&counters(schema, "total_exec_time"), &[])
        .await;
    if rows
        .as_ref()
        .is_err_and(|error| error.code.as_deref() == Some("42703"))
    {
        rows = session.rows(&counters(schema, "total_time"), &[]).await;
    }
    let mut all: BTreeMap<String, Counted> = BTreeMap::new();
    for row in rows.map_err(told)? {
        let [Value::Text(text), numbers @ ..] = &row[..] else {
            continue;
        };
        let number = |at: usize| match numbers.get(at) {
            Some(Value::Float(number)) => *number,
            _ => 0.0,
        };
        // Long texts that begin alike are one statement here.
        let statement = one_line(text);
        let own = all.entry(statement.clone()).or_default();
        own.statement = statement;
        own.calls += number(0);
        own.seconds += number(1);
        own.rows += number(2);
        own.blocks_hit += number(3);
        own.blocks_read += number(4);
    }
    Ok(all)
}

fn counters(schema: &str, time: &str) -> String {
    format!(
        "select query, sum(calls)::float8, sum({time})::float8 / 1000, sum(rows)::float8,
                sum(shared_blks_hit)::float8, sum(shared_blks_read)::float8
         from {schema}.pg_stat_statements
         where dbid = (select oid from pg_database where datname = current_database()) and query is not null
         group by 1"
    )
}

async fn planned<T: Transactions>(
    session: &mut Session,
    transactions: &T,
) -> Result<Vec<(String, String)>, SqlError> {
    // They stay prepared as long as this lives.
    let _prepared = transactions.prepare(session).await?;
    session
        .batch("set plan_cache_mode = force_generic_plan")
        .await?;
    let mut out = Vec::new();
    for row in session.rows(EXPLAINS, &[Value::Int(PLANS_MAX)]).await? {
        let [Value::Text(statement), Value::Text(explain)] = &row[..] else {
            continue;
        };
        let lines = match session.rows(explain, &[]).await {
            Ok(lines) => lines,
            Err(error) if error.is_lost => return Err(error),
            // A statement that only its own values make valid has no plan without them.
            Err(_) => continue,
        };
        let lines = lines.iter().filter_map(|row| match row.first() {
            Some(Value::Text(line)) => Some(line.as_ref()),
            _ => None,
        });
        out.push((statement.to_string(), lines.collect::<Vec<_>>().join("\n")));
    }
    Ok(out)
}
