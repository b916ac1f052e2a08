//! The databases of a plan: who holds their connections, and how users reach them.
//!
//! ```text
//! event loop ─ call ─► thread of the pool: waits for a connection, executes, reads
//!      ▲                        │
//!      └── wakes the user ◄─ answer in its letter box
//! ```
//!
//! An event loop never waits for a database. The connections of a pool live on one thread; those of pools with
//! one connection for each user are divided among as many threads as there are event loops.

mod arguments;
mod pool;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use sokudo_jmeter::plan::{
    ConfigKind, Database, DatabaseAddress, DatabaseDriver, Encryption, Id, IsolationLevel,
};
use sokudo_jmeter::run::DatabaseCall;
use sokudo_model::Refusal;
use sokudo_sql::jdbc::{Driver, Isolation, JdbcAddress, JdbcEncryption};
use sokudo_workload::refusal::{failed, spawn};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::calls::Way;
use super::generator::locked;
use super::read::Prepared;
use pool::{PoolSettings, Pools};

/// A call on its way.
pub(super) struct DatabaseJob {
    pub call: DatabaseCall,
    /// Moment at which it was made, monotonic nanoseconds.
    pub at_ns: i64,
    pub way: Way,
}

/// The databases of a running test.
#[derive(Default)]
pub(super) struct Databases {
    /// The threads of each pool.
    lanes: HashMap<Id, Vec<UnboundedSender<DatabaseJob>>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    /// Set at the end: ends statements that hold a thread of this process.
    stop: Arc<AtomicBool>,
}

impl Databases {
    /// Starts what the plan needs; connections that it wants before the test are made. Errors: a file of SQLite,
    /// or of certificates, that the plan may not use; no thread could be started.
    pub fn start(prepared: &Prepared, loops: usize) -> Result<Self, Refusal> {
        let mut made = Self::default();
        for (id, config) in (0..).zip(&prepared.plan.configs) {
            let ConfigKind::Database(database) = &config.kind else {
                continue;
            };
            let Some(place) = place(database) else {
                continue;
            };
            if let Some(file) = &place.file {
                prepared.may_open(&file.to_string_lossy())?;
            }
            let named = database.address.as_ref();
            if let Some(file) = named.and_then(|it| it.authorities.as_ref()) {
                prepared.may_open(file)?;
            }
            let settings = PoolSettings::new((database, place), &made.stop, prepared.opener());
            let lanes = match database.connections {
                0 => loops,
                _ => 1,
            };
            for _ in 0..lanes {
                let lane = made.lane(settings.clone())?;
                made.lanes.entry(id).or_default().push(lane);
            }
        }
        Ok(made)
    }

    /// One thread with its part of a pool.
    fn lane(&self, settings: PoolSettings) -> Result<UnboundedSender<DatabaseJob>, Refusal> {
        let (sender, mut jobs) = unbounded_channel::<DatabaseJob>();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| failed(error.to_string(), None))?;
        let (ready, is_ready) = std::sync::mpsc::channel();
        let work = move || {
            let all = tokio::task::LocalSet::new();
            all.block_on(&runtime, async {
                let pools = Pools::new(settings);
                pools.make_ahead().await;
                // Nobody listens where the start was given up.
                let _ = ready.send(());
                while let Some(job) = jobs.recv().await {
                    pools.begin(job);
                }
            });
        };
        locked(&self.threads).push(spawn("database", work)?);
        // A thread that died is noticed by its calls.
        let _ = is_ready.recv();
        Ok(sender)
    }

    /// Makes a call; false: nobody will answer it.
    pub fn call(&self, job: DatabaseJob) -> bool {
        let lanes = self.lanes.get(&job.call.database);
        let lane = lanes.and_then(|lanes| lanes.get(job.call.user as usize % lanes.len().max(1)));
        lane.is_some_and(|lane| lane.send(job).is_ok())
    }
}

impl Drop for Databases {
    /// Connections are closed with their threads.
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.lanes.clear();
        for thread in std::mem::take(&mut *locked(&self.threads)) {
            // Its users have been told already.
            let _ = thread.join();
        }
    }
}

/// Address of a database, and the user to log in as; `None`: it is not supported.
fn place(database: &Database) -> Option<JdbcAddress> {
    let address = database.address.as_ref()?;
    let (user, password) = match database.user.as_str() {
        // Those of the URL count where the element has none.
        "" => (address.user.clone(), address.password.clone()),
        user => (Some(user.to_owned()), Some(database.password.clone())),
    };
    let user = user.unwrap_or_else(|| std::env::var("USER").unwrap_or_default());
    Some(JdbcAddress {
        driver: match address.driver {
            DatabaseDriver::Postgres => Driver::Postgres,
            DatabaseDriver::MariaDb => Driver::MariaDb,
            DatabaseDriver::MySql => Driver::MySql,
            DatabaseDriver::Sqlite => Driver::Sqlite,
        },
        host: address.host.clone(),
        port: address.port,
        database: address.database.clone(),
        file: address.file.as_ref().map(Into::into),
        user,
        password: password.unwrap_or_default(),
        settings: address.settings.clone(),
        encryption: encryption(address.encryption),
        authorities: authorities(address),
    })
}

/// File of the authorities to trust: PostgreSQL's driver has one of each user, and the others trust as the
/// system does.
fn authorities(address: &DatabaseAddress) -> Option<PathBuf> {
    let given = address.authorities.as_ref().map(PathBuf::from);
    let proves = matches!(address.encryption, Encryption::Authority | Encryption::Name);
    let is_own = proves && address.driver == DatabaseDriver::Postgres;
    given.or_else(|| {
        let home = std::env::home_dir().filter(|_| is_own)?;
        Some(home.join(".postgresql/root.crt"))
    })
}

fn encryption(of: Encryption) -> JdbcEncryption {
    match of {
        Encryption::Never => JdbcEncryption::Never,
        Encryption::WhereOffered => JdbcEncryption::WhereOffered,
        Encryption::Always => JdbcEncryption::Always,
        Encryption::Authority => JdbcEncryption::Authority,
        Encryption::Name => JdbcEncryption::Name,
    }
}

fn isolation(level: IsolationLevel) -> Isolation {
    match level {
        IsolationLevel::ReadUncommitted => Isolation::ReadUncommitted,
        IsolationLevel::ReadCommitted => Isolation::ReadCommitted,
        IsolationLevel::RepeatableRead => Isolation::RepeatableRead,
        IsolationLevel::Serializable => Isolation::Serializable,
    }
}
