//! Facts that the database states about itself.

use sokudo_sql::{Engine, Session, SqlError, Value};

use super::check::one;

/// Rows of the table that says how large the database is; 0 where it is empty.
///
/// Errors: there are no tables, or no session.
pub(crate) async fn scale_of(session: &mut Session, table: &str) -> Result<i64, SqlError> {
    one(session, &format!("select count(*) from {table}")).await
}

/// Settings that decide whether an acknowledged commit outlives a crash, as the session has them now.
pub(crate) async fn durability(session: &mut Session) -> Result<String, SqlError> {
    let sql = match session.engine() {
        Engine::Postgres => {
            "select string_agg(name || '=' || setting, ' ' order by name) from pg_settings \
             where name in ('fsync', 'synchronous_commit', 'full_page_writes')"
        }
        Engine::MySql => {
            "select concat('innodb_flush_log_at_trx_commit=', @@innodb_flush_log_at_trx_commit, ' sync_binlog=', @@sync_binlog)"
        }
        Engine::Sqlite => "pragma synchronous",
    };
    let rows = session.rows(sql, &[]).await?;
    Ok(match rows.into_iter().flatten().next() {
        Some(Value::Text(text)) => text.into_owned(),
        Some(Value::Int(1)) => "synchronous=normal".into(),
        Some(Value::Int(_)) => "synchronous=full".into(),
        _ => String::new(),
    })
}
