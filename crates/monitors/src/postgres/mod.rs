//! `postgres`: what a PostgreSQL server does, from its own statistics.
//!
//! Ten times a second `pg_stat_activity` tells what each session waits for; when some wait for a lock,
//! `pg_locks` tells behind how many transactions, and their statements for rows of which table. Once a second the counters: `pg_stat_database`, the
//! checkpointer, the log, and `pg_stat_io` where the version has it. Counters of busy sessions come in steps
//! of about a second: the server collects them no sooner.
//!
//! A session that is not the user's own, and the checkpointer, are seen only by members of `pg_monitor`.

mod cpu;
mod parse;
mod sources;

use std::path::Path;
use std::time::Duration;

use sokudo_model::On;
use sokudo_model::metrics::postgres as numbers;
use sokudo_sql::{Engine, Row, Session, SqlError, Statement};

use self::parse::take;
use self::sources::{Source, sources_of};
use crate::contract::{Monitor, Reach, Sampler};
use crate::database::{
    self, DatabaseOptions, Derived, LOOK, Names, Questions, Readings, Seen, Way,
};
use crate::emit::names_of;
use crate::{Context, Unavailable};

const METRICS: &[&str] = &names_of::<{ numbers::METRICS.len() }>(numbers::METRICS);

/// Stands in place of a class for the checkpointer.
const CHECKPOINTER: &str = "checkpointer";

const SESSIONS: &str = "
    select case backend_type when 'checkpointer' then backend_type else coalesce(wait_event_type, 'CPU') end,
           coalesce(wait_event, ''), count(*)
    from pg_stat_activity
    where backend_type = 'checkpointer' and wait_event is not null
       or backend_type = 'client backend' and datname = current_database() and pid <> pg_backend_pid()
          and state is not null
          and not (state = 'idle' and state_change < clock_timestamp() - interval '5 seconds')
    group by 1, 2";

/// Tables by the statement of who waits: a lock on a transaction does not say for which row it is.
const QUEUES: &str = r#"
    select coalesce(substring(a.query from '(?i)\m(?:update|into|from)\s+(?:only\s+)?([[:alnum:]_."]+)'), ''),
           count(*), greatest(count(distinct l.transactionid::text), 1)
    from pg_locks l join pg_stat_activity a on a.pid = l.pid
    where not l.granted and l.locktype in ('transactionid', 'tuple') and a.datname = current_database()
    group by 1"#;

/// Processes of the sessions on the database, without this one.
const PROCESSES: &str = "
    select pid from pg_stat_activity
    where backend_type = 'client backend' and datname = current_database() and pid <> pg_backend_pid()";

const DERIVED: &[Derived] = &[
    Derived::new(numbers::CPU_CORES.name, Way::Rate("cpu_s")),
    Derived::new(numbers::LOCKS_WAITING.name, Way::Now("locks_waiting")),
    Derived::new(numbers::COMMITS_PER_SECOND.name, Way::Rate("commits")),
    Derived::new(numbers::ROLLBACKS_PER_SECOND.name, Way::Rate("rollbacks")),
    Derived::new(numbers::BLOCKS_HIT_PER_SECOND.name, Way::Rate("blocks_hit")),
    Derived::new(
        numbers::BLOCKS_READ_PER_SECOND.name,
        Way::Rate("blocks_read"),
    ),
    Derived::new(numbers::HIT_RATIO.name, Way::Over("blocks_hit", "blocks")),
    Derived::new(numbers::TEMP_BYTES_PER_SECOND.name, Way::Rate("temp_bytes")),
    Derived::new(numbers::DEADLOCKS.name, Way::Grown("deadlocks")),
    Derived::new(numbers::CHECKPOINTS.name, Way::Grown("checkpoints")),
    Derived::new(
        numbers::CHECKPOINTS_REQUESTED.name,
        Way::Grown("checkpoints_requested"),
    ),
    Derived::new(
        numbers::CHECKPOINT_BUFFERS_PER_SECOND.name,
        Way::Rate("checkpoint_buffers"),
    ),
    Derived::new(
        numbers::BACKEND_BUFFERS_PER_SECOND.name,
        Way::Rate("backend_buffers"),
    ),
    Derived::new(numbers::WAL_BYTES_PER_SECOND.name, Way::Rate("wal_bytes")),
    Derived::new(
        numbers::WAL_FULL_PAGES_PER_SECOND.name,
        Way::Rate("wal_full_pages"),
    ),
    Derived::new(numbers::WAL_SYNCS_PER_SECOND.name, Way::Rate("wal_syncs")),
    Derived::new(
        numbers::WAL_SYNC_SECONDS_MEAN.name,
        Way::Over("wal_sync_ms", "wal_syncs"),
    )
    .times(1e-3),
    Derived::new(numbers::IO_READS_PER_SECOND.name, Way::Rate("io_reads")),
    Derived::new(numbers::IO_WRITES_PER_SECOND.name, Way::Rate("io_writes")),
    Derived::new(numbers::IO_FSYNCS_PER_SECOND.name, Way::Rate("io_fsyncs")),
];

static NAMES: Names = Names {
    source: "postgres",
    engine: Engine::Postgres,
    metrics: METRICS,
    up: numbers::UP.name,
    sessions: numbers::SESSIONS.name,
    classes: numbers::CLASSES,
    events: (numbers::WAIT_SESSIONS.name, "event"),
    client_ratio: numbers::CLIENT_READ_RATIO.name,
    checkpointing: Some(numbers::CHECKPOINTING_RATIO.name),
    queue: Some([
        numbers::ROW_QUEUE_SESSIONS.name,
        numbers::ROW_QUEUE_HOLDERS.name,
    ]),
    statements: None,
    derived: DERIVED,
};

/// Monitor of a PostgreSQL server.
pub(crate) struct Postgres;

impl Monitor for Postgres {
    type Options = DatabaseOptions;

    fn name(&self) -> &'static str {
        NAMES.source
    }

    fn help(&self) -> &'static str {
        "a PostgreSQL server: what its sessions wait for, commits, cache, checkpoints, log, locks"
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
    queues: Statement,
    processes: Statement,
    sources: Vec<(&'static Source, Statement)>,
    /// Transactions of this session, which the server counts with those of the load.
    own: f64,
}

impl Questions for Asked {
    async fn prepare(session: &mut Session) -> Result<Self, SqlError> {
        let version = session
            .prepare("select current_setting('server_version_num')::int")
            .await?;
        let version = session.query_first(&version, &[], |row| row.int(0)).await?;
        let mut sources = Vec::new();
        for source in sources_of(version.unwrap_or(0)) {
            sources.push((source, session.prepare(&source.sql()).await?));
        }
        Ok(Self {
            sessions: session.prepare(SESSIONS).await?,
            queues: session.prepare(QUEUES).await?,
            processes: session.prepare(PROCESSES).await?,
            sources,
            own: 0.0,
        })
    }

    async fn sessions(&mut self, session: &mut Session) -> Result<Seen, SqlError> {
        let mut seen = Seen::default();
        self.own += 1.0;
        session
            .query(&self.sessions, &[], |row| {
                take(&mut seen, &row.text(0)?, &row.text(1)?, row.float(2)?);
                Ok(())
            })
            .await?;
        let mut queues = Vec::new();
        if seen.groups.iter().any(|(class, _, _)| *class == "Lock") {
            self.own += 1.0;
            let queue = |row: &Row<'_>| {
                let sums = [row.float(1)?, row.float(2)?];
                Ok((row.text(0)?.into_owned(), sums))
            };
            session
                .query(&self.queues, &[], |row| {
                    queues.push(queue(row)?);
                    Ok(())
                })
                .await?;
        }
        seen.queues = Some(queues);
        Ok(seen)
    }

    async fn counters(&mut self, session: &mut Session) -> Result<Readings, SqlError> {
        let mut readings = Readings::new();
        for (source, statement) in &self.sources {
            self.own += 1.0;
            session
                .query(statement, &[], |row| {
                    for (at, (name, _)) in source.columns.iter().enumerate() {
                        if !row.is_null(at)? {
                            readings.insert(name, row.float(at)?);
                        }
                    }
                    Ok(())
                })
                .await?;
        }
        self.own += 1.0;
        let mut pids = Vec::new();
        session
            .query(&self.processes, &[], |row| {
                pids.push(row.int(0)?);
                Ok(())
            })
            .await?;
        if let Some(used_s) = cpu::used_s(Path::new("/proc"), &pids) {
            readings.insert("cpu_s", used_s);
        }
        if let Some(commits) = readings.get_mut("commits") {
            *commits -= self.own;
        }
        Ok(readings)
    }
}
