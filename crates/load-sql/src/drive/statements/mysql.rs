//! MariaDB and MySQL: `performance_schema`, and plans with a value in place of each parameter.
//!
//! MySQL counts what a session executes of its prepared statements beside each of them, and forgets it with the
//! session: the load's sessions stand until this was read. MariaDB has the same table, and counts nothing in it: there
//! the time of these statements is that in which the monitor saw sessions execute them. Statements that are sent as
//! text are counted by their digest.
//!
//! The optimizer of these servers plans for values only, and looks rows up by their key while it does. Each
//! parameter stands for `'1'`: the keys of a load's tables begin with 1. Where a plan rests on that value not being
//! there, nothing is said of the statement.

use sokudo_model::statements::{Counted, form, one_line};
use sokudo_sql::{Session, SqlError, Value, parameters_of};

use super::plan_steps::plan_of;
use super::{Counters, PLANS_MAX, Plans, Read};
use crate::drive::Transactions;

/// Why nothing is counted, and what to do. It stands in `reasons.ftl`, too.
const OFF: &str = "performance_schema is off on the server: it needs performance_schema = ON in its option file, and a restart";

const IS_ON: &str = "select @@performance_schema + 0e0";

/// Prepared statements that the server had no room to count, since it started.
const UNCOUNTED: &str = "show global status like 'Performance_schema_prepared_statements_lost'";

/// Prepared statements of the sessions that stand. A sum becomes a float by the 0 that is added to it.
const PREPARED: &str = "
    select i.sql_text, sum(i.count_execute) + 0e0, sum(i.sum_timer_execute) / 1e12,
           sum(i.sum_rows_sent + i.sum_rows_affected) + 0e0, sum(i.sum_rows_examined) + 0e0
    from performance_schema.prepared_statements_instances i
    join performance_schema.threads t on t.thread_id = i.owner_thread_id
    where t.processlist_db = database() and t.processlist_id <> connection_id()
    group by 1";

/// Statements that were sent as text, and how often others were prepared.
const DIGESTS: &str = "
    select digest_text, sum(count_star) + 0e0, sum(sum_timer_wait) / 1e12,
           sum(sum_rows_sent + sum_rows_affected) + 0e0, sum(sum_rows_examined) + 0e0
    from performance_schema.events_statements_summary_by_digest
    where schema_name = database() and digest_text is not null
    group by 1";

/// Values that stand for every parameter: the first one that a statement takes. Where a column is a text, a number
/// would hide its index; LIMIT takes nothing but numbers.
const STAND_INS: [Value<'static>; 2] =
    [Value::Text(std::borrow::Cow::Borrowed("1")), Value::Int(1)];

/// Commands that have a plan.
const PLANNED: [&str; 6] = ["select", "insert", "update", "delete", "replace", "with"];

/// The counters of the database's statements.
pub(super) async fn counted(session: &mut Session) -> Read<Counters> {
    let told = |error: SqlError| error.to_string();
    let on = session.rows(IS_ON, &[]).await.map_err(told)?;
    if !matches!(on.first().map(Vec::as_slice), Some([Value::Float(on)]) if *on > 0.0) {
        return Err(OFF.into());
    }
    let mut all = Counters::default();
    let lost = session.rows(UNCOUNTED, &[]).await.map_err(told)?;
    if let Some([_, Value::Text(count)]) = lost.first().map(Vec::as_slice) {
        all.lost = count.parse().unwrap_or_default();
    }
    let mut forms = Vec::new();
    for one in read(session, PREPARED).await.map_err(told)? {
        forms.push(form(&one.statement));
        all.add(one);
    }
    for one in read(session, DIGESTS).await.map_err(told)? {
        // The digest of a prepared statement counts its preparations.
        if !forms.contains(&form(&one.statement)) {
            all.add(one);
        }
    }
    Ok(all)
}

async fn read(session: &mut Session, sql: &str) -> Result<Vec<Counted>, SqlError> {
    let rows = session.rows(sql, &[]).await?;
    let rows = rows.iter().filter_map(|row| {
        let [Value::Text(text), numbers @ ..] = &row[..] else {
            return None;
        };
        let number = |at: usize| match numbers.get(at) {
            Some(Value::Float(number)) => *number,
            _ => 0.0,
        };
        Some(Counted {
            // Long texts that begin alike are one statement here.
            statement: one_line(text),
            calls: Some(number(0)),
            seconds: number(1),
            rows: Some(number(2)),
            rows_examined: Some(number(3)),
            ..Counted::default()
        })
    });
    Ok(rows.collect())
}

/// The plans of the load's statements.
pub(super) async fn planned<T: Transactions>(
    session: &mut Session,
    transactions: &T,
) -> Result<Plans, SqlError> {
    // A statement that would lock its rows waits for nobody.
    session.batch("set innodb_lock_wait_timeout = 1").await?;
    session.keep_texts();
    transactions.prepare(session).await?;
    let texts = session.take_texts().into_iter();
    let mut out = Plans::new();
    for statement in texts.filter(|text| has_plan(text)).take(PLANS_MAX) {
        if let Some(plan) = explained(session, &statement).await? {
            out.push((statement, plan));
        }
    }
    Ok(out)
}

fn has_plan(statement: &str) -> bool {
    let word = statement
        .trim_start()
        .split(|c: char| !c.is_ascii_alphabetic())
        .next();
    word.is_some_and(|word| PLANNED.iter().any(|known| known.eq_ignore_ascii_case(word)))
}

/// The plan of a statement; `None` where it takes none of the values, or has no plan with them.
///
/// Errors: the session is lost.
async fn explained(session: &mut Session, statement: &str) -> Result<Option<String>, SqlError> {
    let explain = format!("explain format=json {statement}");
    for value in STAND_INS {
        let values = vec![value; parameters_of(statement)];
        match session.rows(&explain, &values).await {
            Ok(rows) => {
                return Ok(match rows.first().map(Vec::as_slice) {
                    Some([Value::Text(json), ..]) => plan_of(json),
                    _ => None,
                });
            }
            Err(error) if error.is_lost => return Err(error),
            Err(_) => {}
        }
    }
    Ok(None)
}
