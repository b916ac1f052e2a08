//! `mariadb`: what a MariaDB or MySQL server does, from its own status.
//!
//! Ten times a second the process list tells what each session does, and InnoDB how many transactions wait
//! for a row; when some do, its locks tell every other time for rows of which table, and behind how many others. MariaDB counts no
//! executions of prepared statements: the process list has the statement of each session, too. Once a second `SHOW GLOBAL STATUS`, and `performance_schema` where the server has it on.
//!
//! The sessions of other users, and for which rows is waited, are seen only with the PROCESS privilege.

mod parse;

use std::time::Duration;

use sokudo_model::On;
use sokudo_model::metrics::mariadb as numbers;
use sokudo_model::statements::form;
use sokudo_sql::{Class, Engine, Session, SqlError, Statement};

use self::parse::{take, wait_for_rows};
use crate::contract::{Monitor, Reach, Sampler};
use crate::database::{
    self, DatabaseOptions, Derived, LOOK, Names, Questions, Readings, Seen, Way,
};
use crate::emit::names_of;
use crate::{Context, Unavailable};

const METRICS: &[&str] = &names_of::<{ numbers::METRICS.len() }>(numbers::METRICS);

const SESSIONS: &str = "
    select command, coalesce(state, ''), count(*), coalesce(left(info, 2000), '')
    from information_schema.processlist
    where id <> connection_id() and db = database() and command <> 'Daemon'
      and not (command = 'Sleep' and time > 5)
    group by 1, 2, 4";

/// How many transactions wait for a row, as of now. The tables of `information_schema` that tell it, too, are a copy, which
/// is renewed only when nobody has read it for a while: who reads it ten times a second reads what was there before
/// the load, again and again.
const WAITING: &str = "show global status like 'Innodb_row_lock_current_waits'";

/// A look at the tables of locks for so many looks at the sessions: MariaDB renews its copy of them when nobody has read it for
/// 100 ms (`CACHE_MIN_IDLE_TIME_NS` in its source).
const LOOKS_PER_QUEUES: u32 = 2;

/// Tables whose rows are waited for: how many transactions wait, and how many have the locks. One that waits for the
/// same row stands in the way of those behind it, but has no lock yet.
///
/// MariaDB tells it in `information_schema`, MySQL in `performance_schema`; see [`QUEUES_OF_MYSQL`].
const QUEUES_OF_MARIADB: &str = "
    select replace(substring_index(l.lock_table, '.', -1), '`', ''), count(distinct w.requesting_trx_id),
           greatest(count(distinct case when w.blocking_lock_id <> coalesce(b.trx_requested_lock_id, '')
                                        then w.blocking_trx_id end), 1)
    from information_schema.innodb_lock_waits w
    join information_schema.innodb_locks l on l.lock_id = w.requested_lock_id
    left join information_schema.innodb_trx b on b.trx_id = w.blocking_trx_id
    group by 1";

const QUEUES_OF_MYSQL: &str = "
    select l.object_name, count(distinct w.requesting_engine_transaction_id),
           greatest(count(distinct case when b.lock_status = 'GRANTED' then w.blocking_engine_transaction_id end), 1)
    from performance_schema.data_lock_waits w
    join performance_schema.data_locks l on l.engine_lock_id = w.requesting_engine_lock_id
    join performance_schema.data_locks b on b.engine_lock_id = w.blocking_engine_lock_id
    group by 1";

const STATUS: &str = "show global status";

const FILES: &str = "
    select event_name, sum_timer_wait / 1e12 from performance_schema.events_waits_summary_global_by_event_name
    where event_name in ('wait/io/file/innodb/innodb_log_file', 'wait/io/file/innodb/innodb_data_file')
      and @@performance_schema = 1";

/// Status variables that are read, and the counters that they become.
const VARIABLES: &[(&str, &str)] = &[
    ("com_commit", "commits"),
    ("com_rollback", "rollbacks"),
    ("created_tmp_disk_tables", "disk_tables"),
    ("innodb_buffer_pool_read_requests", "pool_requests"),
    ("innodb_buffer_pool_reads", "pool_reads"),
    ("innodb_checkpoint_age", "checkpoint_age"),
    ("innodb_deadlocks", "deadlocks"),
    ("innodb_log_waits", "log_waits"),
    ("innodb_os_log_fsyncs", "log_syncs"),
    ("innodb_os_log_written", "log_bytes"),
    ("innodb_row_lock_current_waits", "row_locks_waiting"),
    ("innodb_row_lock_time", "row_lock_ms"),
    ("innodb_row_lock_waits", "row_lock_waits"),
    ("questions", "statements"),
    ("threads_running", "threads_running"),
];

const DERIVED: &[Derived] = &[
    Derived::new(numbers::STATEMENTS_PER_SECOND.name, Way::Rate("statements")),
    Derived::new(numbers::COMMITS_PER_SECOND.name, Way::Rate("commits")),
    Derived::new(numbers::ROLLBACKS_PER_SECOND.name, Way::Rate("rollbacks")),
    Derived::new(numbers::THREADS_RUNNING.name, Way::Now("threads_running")),
    Derived::new(
        numbers::POOL_REQUESTS_PER_SECOND.name,
        Way::Rate("pool_requests"),
    ),
    Derived::new(numbers::POOL_READS_PER_SECOND.name, Way::Rate("pool_reads")),
    Derived::new(
        numbers::HIT_RATIO.name,
        Way::Over("pool_hits", "pool_requests"),
    ),
    Derived::new(
        numbers::ROW_LOCKS_WAITING.name,
        Way::Now("row_locks_waiting"),
    ),
    Derived::new(
        numbers::ROW_LOCK_WAITS_PER_SECOND.name,
        Way::Rate("row_lock_waits"),
    ),
    Derived::new(
        numbers::ROW_LOCK_WAIT_SECONDS_MEAN.name,
        Way::Over("row_lock_ms", "row_lock_waits"),
    )
    .times(1e-3),
    Derived::new(numbers::DEADLOCKS.name, Way::Grown("deadlocks")),
    Derived::new(numbers::LOG_BYTES_PER_SECOND.name, Way::Rate("log_bytes")),
    Derived::new(numbers::LOG_SYNCS_PER_SECOND.name, Way::Rate("log_syncs")),
    Derived::new(numbers::LOG_WAITS.name, Way::Grown("log_waits")),
    Derived::new(
        numbers::CHECKPOINT_AGE_BYTES.name,
        Way::Now("checkpoint_age"),
    ),
    Derived::new(
        numbers::DISK_TABLES_PER_SECOND.name,
        Way::Rate("disk_tables"),
    ),
    Derived::new(numbers::LOG_IO_RATIO.name, Way::Rate("log_io_seconds")),
    Derived::new(numbers::DATA_IO_RATIO.name, Way::Rate("data_io_seconds")),
];

static NAMES: Names = Names {
    source: "mariadb",
    engine: Engine::MySql,
    metrics: METRICS,
    up: numbers::UP.name,
    sessions: numbers::SESSIONS.name,
    classes: numbers::CLASSES,
    events: (numbers::STATE_SESSIONS.name, "state"),
    client_ratio: numbers::CLIENT_WAIT_RATIO.name,
    checkpointing: None,
    queue: Some([
        numbers::ROW_QUEUE_SESSIONS.name,
        numbers::ROW_QUEUE_HOLDERS.name,
    ]),
    statements: Some(numbers::STATEMENT_SESSIONS.name),
    derived: DERIVED,
};

/// Monitor of a MariaDB or MySQL server.
pub(crate) struct MariaDb;

impl Monitor for MariaDb {
    type Options = DatabaseOptions;

    fn name(&self) -> &'static str {
        NAMES.source
    }

    fn help(&self) -> &'static str {
        "a MariaDB or MySQL server: what its sessions do, commits, buffer pool, row locks, redo log"
    }

    fn metrics(&self) -> &'static [&'static str] {
        METRICS
    }

    fn is_standing(&self) -> bool {
        false
    }

    fn may_block(&self) -> bool {
        true
    }

    fn cadence(&self, _interval: Duration) -> Duration {
        LOOK
    }

    fn observers(&self) -> On {
        On::First
    }

    fn check(&self, options: &DatabaseOptions) -> Result<(), sokudo_model::Text> {
        options.check(NAMES.engine)
    }

    fn reaches(&self, options: &DatabaseOptions) -> Vec<Reach> {
        options.reaches(NAMES.engine)
    }

    fn open(
        &self,
        options: DatabaseOptions,
        ctx: &Context,
    ) -> Result<Box<dyn Sampler>, Unavailable> {
        database::open::<Asked>(&NAMES, &options, ctx)
    }
}

/// The statements of one session.
struct Asked {
    sessions: Statement,
    status: Statement,
    waiting: Statement,
    /// `None` where the user may not see it.
    queues: Option<Statement>,
    files: Option<Statement>,
    /// Looks at the sessions.
    looks: u32,
}

impl Questions for Asked {
    async fn prepare(session: &mut Session) -> Result<Self, SqlError> {
        Ok(Self {
            sessions: session.prepare(SESSIONS).await?,
            status: session.prepare(STATUS).await?,
            waiting: session.prepare(WAITING).await?,
            looks: 0,
            queues: match allowed(session, QUEUES_OF_MARIADB).await? {
                Some(statement) => Some(statement),
                None => allowed(session, QUEUES_OF_MYSQL).await?,
            },
            files: allowed(session, FILES).await?,
        })
    }

    async fn sessions(&mut self, session: &mut Session) -> Result<Seen, SqlError> {
        let mut seen = Seen::default();
        session
            .query(&self.sessions, &[], |row| {
                let sessions = row.float(2)?;
                take(&mut seen, &row.text(0)?, &row.text(1)?, sessions);
                let statement = form(&row.text(3)?);
                if !statement.is_empty() {
                    seen.statements.push((statement, sessions));
                }
                Ok(())
            })
            .await?;
        let waiting = session.query_first(&self.waiting, &[], |row| Ok(row.text(1)?.parse().ok()));
        let waiting: f64 = waiting.await?.flatten().unwrap_or(0.0);
        wait_for_rows(&mut seen, waiting);
        self.looks = self.looks.wrapping_add(1);
        let is_due = self.looks.is_multiple_of(LOOKS_PER_QUEUES);
        if let Some(statement) = self.queues.as_ref().filter(|_| is_due) {
            let mut queues = Vec::new();
            if waiting > 0.0 {
                session
                    .query(statement, &[], |row| {
                        let sums = [row.float(1)?, row.float(2)?];
                        queues.push((row.text(0)?.into_owned(), sums));
                        Ok(())
                    })
                    .await?;
            }
            seen.queues = Some(queues);
        }
        Ok(seen)
    }

    async fn counters(&mut self, session: &mut Session) -> Result<Readings, SqlError> {
        let mut readings = Readings::new();
        session
            .query(&self.status, &[], |row| {
                let name = row.text(0)?.to_ascii_lowercase();
                let known = VARIABLES.iter().find(|(variable, _)| *variable == name);
                if let Some((_, counter)) = known
                    && let Ok(value) = row.text(1)?.parse()
                {
                    readings.insert(counter, value);
                }
                Ok(())
            })
            .await?;
        if let (Some(requests), Some(reads)) =
            (readings.get("pool_requests"), readings.get("pool_reads"))
        {
            let hits = requests - reads;
            readings.insert("pool_hits", hits);
        }
        if let Some(files) = &self.files {
            session
                .query(files, &[], |row| {
                    let counter = match row.text(0)?.ends_with("log_file") {
                        true => "log_io_seconds",
                        false => "data_io_seconds",
                    };
                    readings.insert(counter, row.float(1)?);
                    Ok(())
                })
                .await?;
        }
        Ok(readings)
    }
}

/// Prepares a statement that not every user may run, or not every server knows, and tries it once.
async fn allowed(session: &mut Session, sql: &str) -> Result<Option<Statement>, SqlError> {
    let tried = async {
        let statement = session.prepare(sql).await?;
        session.query(&statement, &[], |_| Ok(())).await?;
        Ok::<_, SqlError>(statement)
    };
    match tried.await {
        Ok(statement) => Ok(Some(statement)),
        Err(error) if !error.is_lost && error.class != Class::Connection => Ok(None),
        Err(error) => Err(error),
    }
}
