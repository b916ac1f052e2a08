//! Pools of connections on one thread, as the pool of the tool keeps them: the last that was given back is the
//! first that is used again.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::future::Future;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use sokudo_jmeter::plan::{Database, IdleCheck};
use sokudo_jmeter::run::{
    CallAnswer, DatabaseAction, DatabaseAnswer, DatabaseCall, Execution, Expects, Given, Thrown,
};
use sokudo_net::clock::now_ns;
use sokudo_sql::jdbc::{Connection, Exception, Isolation, JdbcAddress, JdbcOutcome, JdbcStatement};
use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore};

use super::{DatabaseJob, arguments, isolation};

/// Longest that a connection may take to be made.
const CONNECT: Duration = Duration::from_secs(120);
/// Connections that one look after unused ones tests.
const TESTED: usize = 3;

/// Common state of the connections of a pool.
#[derive(Clone)]
pub(super) struct PoolSettings {
    place: JdbcAddress,
    /// 0: one for each user.
    connections: u32,
    max_wait_ms: i64,
    auto_commit: bool,
    isolation: Option<Isolation>,
    set_up: Vec<String>,
    is_made_ahead: bool,
    idle: Option<IdleCheck>,
    /// Ends statements that hold the thread, once it is set.
    stop: Arc<AtomicBool>,
    may_open: MayOpen,
}

/// Whether statements of a plan may name a file of this host.
pub(super) type MayOpen = Arc<dyn Fn(&str) -> bool + Send + Sync>;

impl PoolSettings {
    pub fn new(
        (database, place): (&Database, JdbcAddress),
        stop: &Arc<AtomicBool>,
        may_open: MayOpen,
    ) -> Self {
        Self {
            place,
            connections: database.connections,
            max_wait_ms: database.max_wait_ms,
            auto_commit: database.auto_commit,
            isolation: database.isolation.map(isolation),
            set_up: database.set_up.clone(),
            is_made_ahead: database.is_made_ahead,
            idle: database.idle.clone(),
            stop: Arc::clone(stop),
            may_open,
        }
    }
}

/// The pools of one thread: one, or one for each of its users.
pub(super) struct Pools {
    settings: Rc<PoolSettings>,
    shared: Option<Rc<Pool>>,
    own: RefCell<HashMap<u64, Rc<Pool>>>,
}

impl Pools {
    /// Without any connection yet.
    pub fn new(settings: PoolSettings) -> Self {
        let settings = Rc::new(settings);
        let shared = (settings.connections > 0)
            .then(|| Pool::new(Rc::clone(&settings), settings.connections as usize));
        Self {
            settings,
            shared,
            own: RefCell::default(),
        }
    }

    /// Makes the connections that are wanted before the test. As in the tool, a failure is told by the first
    /// statement.
    pub async fn make_ahead(&self) {
        if let Some(pool) = self.shared.as_ref().filter(|_| self.settings.is_made_ahead) {
            let _ = pool.make_all().await;
        }
    }

    /// Begins a call; it is answered by a task of its own.
    pub fn begin(&self, job: DatabaseJob) {
        let pool = match &self.shared {
            Some(pool) => Rc::clone(pool),
            None => {
                let mut own = self.own.borrow_mut();
                let new = || Pool::new(Rc::clone(&self.settings), 1);
                Rc::clone(own.entry(job.call.user).or_insert_with(new))
            }
        };
        tokio::task::spawn_local(async move {
            let answer = pool.answer(job.call, job.at_ns).await;
            job.way.answer(CallAnswer::Database(Box::new(answer)));
        });
    }
}

/// An idle connection.
struct Idle {
    connection: Connection,
    since: Instant,
}

/// A pool.
struct Pool {
    settings: Rc<PoolSettings>,
    most: usize,
    rights: Arc<Semaphore>,
    idle: RefCell<Vec<Idle>>,
    is_made: Mutex<bool>,
    is_looked_after: Cell<bool>,
}

impl Pool {
    fn new(settings: Rc<PoolSettings>, most: usize) -> Rc<Self> {
        Rc::new(Self {
            settings,
            most,
            rights: Arc::new(Semaphore::new(most)),
            idle: RefCell::default(),
            is_made: Mutex::new(false),
            is_looked_after: Cell::new(false),
        })
    }

    /// Waits for a connection, and does on it what is asked for.
    async fn answer(self: &Rc<Self>, call: DatabaseCall, at_ns: i64) -> DatabaseAnswer {
        self.look_after();
        let taken = self.take().await;
        let connected_ns = now_ns().max(at_ns);
        let (mut connection, right) = match taken {
            Ok(taken) => taken,
            Err(thrown) => {
                return DatabaseAnswer {
                    connected_ns,
                    was_connected: false,
                    answered_ns: connected_ns,
                    end_ns: connected_ns,
                    outcome: Err(thrown),
                };
            }
        };
        let outcome = act(&mut connection, call.action).await;
        let end_ns = now_ns();
        let is_lost = matches!(&outcome, Err(CallFailure { is_lost: true, .. }));
        if !is_lost {
            self.idle.borrow_mut().push(Idle {
                connection,
                since: Instant::now(),
            });
        }
        drop(right);
        DatabaseAnswer {
            connected_ns,
            was_connected: true,
            answered_ns: end_ns,
            end_ns,
            outcome: outcome.map_err(|failure| failure.thrown),
        }
    }

    /// A connection, and the right to use it until it is given back.
    async fn take(&self) -> Result<(Connection, OwnedSemaphorePermit), Thrown> {
        self.make_all().await?;
        let right = self.right().await?;
        loop {
            let idle = self.idle.borrow_mut().pop();
            let Some(Idle { mut connection, .. }) = idle else {
                return Ok((self.connect().await.map_err(thrown)?, right));
            };
            let auto_commit = self.settings.auto_commit;
            if connection.set_auto_commit(auto_commit).await.is_ok() {
                return Ok((connection, right));
            }
        }
    }

    async fn right(&self) -> Result<OwnedSemaphorePermit, Thrown> {
        let rights = Arc::clone(&self.rights);
        if let Ok(right) = Arc::clone(&rights).try_acquire_owned() {
            return Ok(right);
        }
        let wait_ms = self.settings.max_wait_ms;
        let waiting = rights.acquire_owned();
        let waited = match u64::try_from(wait_ms) {
            Ok(ms) => within(Duration::from_millis(ms), waiting).await,
            Err(_) => Some(waiting.await),
        };
        match waited {
            Some(Ok(right)) => Ok(right),
            _ => Err(thrown(Exception::plain(format!(
                "Cannot get a connection, pool error Timeout waiting for idle object, borrowMaxWaitDuration={}",
                iso_duration(wait_ms)
            )))),
        }
    }

    /// Makes all connections, as the pool does when it is asked for the first one.
    async fn make_all(&self) -> Result<(), Thrown> {
        let mut is_made = self.is_made.lock().await;
        if *is_made {
            return Ok(());
        }
        let mut made = Vec::with_capacity(self.most);
        for _ in 0..self.most {
            let connection = self.connect().await.map_err(|exception| {
                thrown(Exception::plain(format!(
                    "Cannot create PoolableConnectionFactory ({})",
                    exception.message
                )))
            })?;
            made.push(Idle {
                connection,
                since: Instant::now(),
            });
        }
        *self.idle.borrow_mut() = made;
        *is_made = true;
        Ok(())
    }

    async fn connect(&self) -> Result<Connection, Exception> {
        let settings = &self.settings;
        let mut connection = Connection::connect(&settings.place, CONNECT).await?;
        connection.end_with(&settings.stop)?;
        let may_open = Arc::clone(&settings.may_open);
        connection.confine(move |path| may_open(path))?;
        for sql in &settings.set_up {
            connection.set_up(sql).await?;
        }
        if let Some(isolation) = settings.isolation {
            connection.set_isolation(isolation).await?;
        }
        connection.set_auto_commit(settings.auto_commit).await?;
        Ok(connection)
    }

    /// Begins to check idle connections.
    fn look_after(self: &Rc<Self>) {
        let Some(check) = self
            .settings
            .idle
            .clone()
            .filter(|check| check.every_ms > 0)
        else {
            return;
        };
        if self.is_looked_after.replace(true) {
            return;
        }
        let pool = Rc::downgrade(self);
        tokio::task::spawn_local(async move {
            loop {
                tokio::time::sleep(Duration::from_millis(check.every_ms)).await;
                let Some(pool) = pool.upgrade() else {
                    return;
                };
                pool.look(&check).await;
            }
        });
    }

    /// Closes those that were unused for too long and tests some of the others.
    async fn look(&self, check: &IdleCheck) {
        let age = Duration::from_millis(check.age_ms);
        self.idle
            .borrow_mut()
            .retain(|idle| idle.since.elapsed() < age);
        for _ in 0..TESTED {
            // One that is tested is used: nobody else may have it.
            let Ok(_right) = Arc::clone(&self.rights).try_acquire_owned() else {
                return;
            };
            let first = {
                let mut idle = self.idle.borrow_mut();
                (!idle.is_empty()).then(|| idle.remove(0))
            };
            let Some(mut idle) = first.filter(|_| !check.query.is_empty()) else {
                return;
            };
            if idle.connection.set_up(&check.query).await.is_ok() {
                self.idle.borrow_mut().push(idle);
            }
        }
    }
}

/// The result of a future, unless it takes longer.
async fn within<T>(bound: Duration, work: impl Future<Output = T>) -> Option<T> {
    tokio::time::timeout(bound, work).await.ok()
}

/// `Duration.toString` of Java.
fn iso_duration(ms: i64) -> String {
    let (seconds, part) = (ms / 1000, ms % 1000);
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let mut out = "PT".to_owned();
    if hours > 0 {
        out.push_str(&format!("{hours}H"));
    }
    if minutes > 0 {
        out.push_str(&format!("{minutes}M"));
    }
    match part {
        0 if seconds == 0 && out.len() > 2 => {}
        0 => out.push_str(&format!("{seconds}S")),
        part => {
            let part = format!("{part:03}");
            out.push_str(&format!("{seconds}.{}S", part.trim_end_matches('0')));
        }
    }
    out
}

/// Failure of an action.
struct CallFailure {
    thrown: Thrown,
    is_lost: bool,
}

impl From<Exception> for CallFailure {
    fn from(exception: Exception) -> Self {
        Self {
            is_lost: exception.is_lost,
            thrown: thrown(exception),
        }
    }
}

impl From<Thrown> for CallFailure {
    fn from(thrown: Thrown) -> Self {
        Self {
            thrown,
            is_lost: false,
        }
    }
}

fn thrown(exception: Exception) -> Thrown {
    let is_sql = !exception.class.starts_with("java.lang.");
    Thrown {
        class: exception.class.into(),
        sql: is_sql.then_some((exception.state, exception.number)),
        message: exception.message,
    }
}

async fn act(
    connection: &mut Connection,
    action: DatabaseAction,
) -> Result<Vec<Given>, CallFailure> {
    match action {
        DatabaseAction::Execute(execution) => return execute(connection, &execution).await,
        DatabaseAction::Commit => connection.commit().await?,
        DatabaseAction::Rollback => connection.rollback().await?,
        DatabaseAction::AutoCommit(on) => connection.set_auto_commit(on).await?,
        DatabaseAction::Throw(thrown) => return Err(thrown.into()),
    }
    Ok(Vec::new())
}

async fn execute(
    connection: &mut Connection,
    execution: &Execution,
) -> Result<Vec<Given>, CallFailure> {
    let parameters = execution.parameters.as_deref();
    let arguments = parameters.map(arguments::arguments).transpose()?;
    let statement = JdbcStatement {
        sql: &execution.sql,
        arguments: arguments.as_deref(),
        expects: match execution.expects {
            Expects::Rows => sokudo_sql::jdbc::Gives::Rows,
            Expects::Count => sokudo_sql::jdbc::Gives::Count,
            Expects::Anything => sokudo_sql::jdbc::Gives::Anything,
        },
        most_rows: execution.most_rows,
        timeout: (execution.timeout_s > 0).then(|| Duration::from_secs(execution.timeout_s.into())),
    };
    let given = connection.run(&statement).await?;
    let given = given.into_iter().map(|outcome| match outcome {
        JdbcOutcome::Rows(rows) => Given::Rows(rows.columns, rows.rows),
        JdbcOutcome::Count(count) => Given::Count(count),
    });
    Ok(given.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_print_as_in_java() {
        for (ms, text) in [
            (0, "PT0S"),
            (100, "PT0.1S"),
            (10_000, "PT10S"),
            (60_000, "PT1M"),
            (3_661_250, "PT1H1M1.25S"),
        ] {
            assert_eq!(iso_duration(ms), text);
        }
    }
}
