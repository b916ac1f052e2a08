//! Facts that the database states about itself.

use sokudo_model::cut;
use sokudo_model::settings::{Commits, Setting};
use sokudo_sql::{Engine, Session, SqlError, Value};

use super::check::one;
use crate::settings::keeps_commits;

/// Longest value of a setting, characters.
const VALUE_MAX: usize = 200;

/// Settings of PostgreSQL that decide about speed and durability, and all that its owner has set that are numbers,
/// switches or words of a list: a text may hold a secret.
const OF_POSTGRES: &str = "
    select name, current_setting(name) from pg_settings
    where name in ('autovacuum', 'bgwriter_delay', 'checkpoint_completion_target', 'checkpoint_timeout',
        'commit_delay', 'default_transaction_isolation', 'effective_cache_size', 'effective_io_concurrency',
        'fsync', 'full_page_writes', 'jit', 'maintenance_work_mem', 'max_connections',
        'max_parallel_workers_per_gather', 'max_wal_size', 'random_page_cost', 'shared_buffers',
        'synchronous_commit', 'wal_buffers', 'wal_compression', 'wal_level', 'wal_sync_method', 'work_mem')
       or vartype <> 'string' and source not in ('default', 'override', 'client', 'session')
    order by name";

/// The same of MariaDB and MySQL, where it is not told what its owner has set.
const OF_MYSQL: &str = "
    show variables where variable_name in ('innodb_buffer_pool_size', 'innodb_doublewrite',
        'innodb_flush_log_at_trx_commit', 'innodb_flush_method', 'innodb_io_capacity',
        'innodb_lock_wait_timeout', 'innodb_log_buffer_size', 'innodb_log_file_size',
        'innodb_redo_log_capacity', 'log_bin', 'max_connections', 'query_cache_type', 'sync_binlog',
        'table_open_cache', 'thread_handling', 'transaction_isolation', 'tx_isolation')";

/// The same of DuckDB.
const OF_DUCKDB: &str = "
    select name, value from duckdb_settings()
    where name in ('checkpoint_threshold', 'memory_limit', 'preserve_insertion_order', 'threads')
    order by name";

/// The same of SQLite.
const OF_SQLITE: &[&str] = &[
    "cache_size",
    "foreign_keys",
    "journal_mode",
    "mmap_size",
    "page_size",
    "synchronous",
];

/// Words of SQLite for the numbers that it tells of `synchronous`.
const SYNCHRONOUS: [&str; 4] = ["off", "normal", "full", "extra"];

/// Rows of the table that says how large the database is; 0 where it is empty.
///
/// Errors: there are no tables, or no session.
pub(crate) async fn scale_of(session: &mut Session, table: &str) -> Result<i64, SqlError> {
    one(session, &format!("select count(*) from {table}")).await
}

/// Settings that are in force in a session on this server.
///
/// Errors: those of the server.
pub(crate) async fn settings(
    session: &mut Session,
    server: &str,
) -> Result<Vec<Setting>, SqlError> {
    let mut pairs: Vec<[String; 2]> = Vec::new();
    match session.engine() {
        Engine::Sqlite => {
            for name in OF_SQLITE {
                let rows = session.rows(&format!("pragma {name}"), &[]).await?;
                let value = rows.first().and_then(|row| row.first()).map(text);
                pairs.extend(value.map(|value| [(*name).to_owned(), worded(name, value)]));
            }
        }
        engine => {
            let sql = match engine {
                Engine::Postgres => OF_POSTGRES,
                Engine::MySql | Engine::Sqlite => OF_MYSQL,
                Engine::DuckDb => OF_DUCKDB,
            };
            for row in session.rows(sql, &[]).await? {
                if let [name, value] = &row[..] {
                    pairs.push([text(name), text(value)]);
                }
            }
        }
    }
    let settings = pairs.into_iter().map(|[name, value]| Setting {
        server: server.into(),
        commits: keeps_commits(&name, &value).map(|are_kept| match are_kept {
            true => Commits::Kept,
            false => Commits::AtRisk,
        }),
        value: cut(&value, VALUE_MAX).into_owned(),
        name,
    });
    Ok(settings.collect())
}

fn text(value: &Value<'_>) -> String {
    match value {
        Value::Text(text) => text.to_string(),
        Value::Int(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Decimal(_) | Value::Time(_) | Value::Null => String::new(),
    }
}

/// The value of a setting of SQLite as its manual has it.
fn worded(name: &str, value: String) -> String {
    let number = value.parse::<usize>().ok();
    let word = number.and_then(|number| SYNCHRONOUS.get(number));
    match word.filter(|_| name == "synchronous") {
        Some(word) => (*word).to_owned(),
        None => value,
    }
}
