//! PostgreSQL: `pg_stat_statements`, and plans without values.
//!
//! The plans are those of the statements that a session of the load prepares: what the server takes for any values.
//! Nothing is executed for it.

use sokudo_model::statements::{Counted, one_line};
use sokudo_sql::{Session, SqlError, Value};

use super::{Counters, PLANS_MAX, Plans, Read};
use crate::drive::Transactions;

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

/// The counters of the database's statements.
pub(super) async fn counted(session: &mut Session) -> Read<Counters> {
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
    let mut all = Counters::default();
    for row in rows.map_err(told)? {
        let [Value::Text(text), numbers @ ..] = &row[..] else {
            continue;
        };
        let number = |at: usize| match numbers.get(at) {
            Some(Value::Float(number)) => *number,
            _ => 0.0,
        };
        all.add(Counted {
            // Long texts that begin alike are one statement here.
            statement: one_line(text),
            calls: Some(number(0)),
            seconds: number(1),
            rows: Some(number(2)),
            blocks_hit: Some(number(3)),
            blocks_read: Some(number(4)),
            ..Counted::default()
        });
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

/// The plans of the load's statements.
pub(super) async fn planned<T: Transactions>(
    session: &mut Session,
    transactions: &T,
) -> Result<Plans, SqlError> {
    // They stay prepared as long as this lives.
    let _prepared = transactions.prepare(session).await?;
    session
        .batch("set plan_cache_mode = force_generic_plan")
        .await?;
    let most = Value::Int(PLANS_MAX as i64);
    let mut out = Plans::new();
    for row in session.rows(EXPLAINS, &[most]).await? {
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
