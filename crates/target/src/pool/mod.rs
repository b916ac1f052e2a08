//! The pool of database connections, with the queue of those who wait for one.
//!
//! ```text
//! acquire ─► a free one, or a new one below pool.max ─► used ─► release ─► next who waits, or free
//!        └─► waits in order, pool.timeout_s at most
//! ```

mod database;
mod server;
mod sim;
mod sqlite;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::Serialize;

pub(crate) use database::{Database, NoDatabase, Session, Statement, open, shown};

use crate::settings::{Order, Pool as PoolSettings, seconds};
use crate::waits::{WaitStats, Waits};

/// Reason why there is no connection.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoSession {
    /// None was given back in time.
    #[error("no connection was free within pool.timeout_s")]
    Timeout,
    /// The database gives none, in its own words.
    #[error("the database gives no connection: {0}")]
    Database(String),
    /// The target ends.
    #[error("the target ends")]
    Closed,
}

/// Connections to one database.
pub(crate) struct Pool {
    database: Box<dyn Database>,
    inner: Mutex<Inner>,
}

/// The pool as the admin port tells it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PoolStats {
    /// Connections at most.
    pub max: u32,
    /// Connections that are open.
    pub size: u32,
    /// Connections in somebody's hands.
    pub used: u32,
    /// Requests that wait for one.
    pub waiting: u64,
    /// Acquisitions that had to wait.
    pub waited_total: u64,
    /// Waits that were given up.
    pub timeouts_total: u64,
    /// Connections that the database did not give, and those that broke.
    pub errors_total: u64,
    /// From asking for a connection to having it, those without a wait included.
    pub wait: WaitStats,
    /// From having a connection to giving it back.
    pub hold: WaitStats,
}

struct Inner {
    settings: PoolSettings,
    free: Vec<Box<dyn Session>>,
    /// Open, or being opened.
    size: u32,
    waiting: VecDeque<Arc<Waiter>>,
    waited: u64,
    timeouts: u64,
    errors: u64,
    wait: Waits,
    hold: Waits,
    is_closed: bool,
}

/// Grant to someone who waits.
enum Grant {
    Session(Box<dyn Session>),
    /// Room for a connection that is not open yet.
    Room,
    Closed,
}

#[derive(Default)]
struct Waiter {
    grant: Mutex<Option<Grant>>,
    given: Condvar,
}

impl Waiter {
    fn give(&self, grant: Grant) {
        *self.grant.lock().unwrap_or_else(PoisonError::into_inner) = Some(grant);
        self.given.notify_one();
    }

    fn wait_until(&self, until: Instant) -> Option<Grant> {
        let mut grant = self.grant.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(grant) = grant.take() {
                return Some(grant);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            let woken = self.given.wait_timeout(grant, left);
            grant = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// A connection in somebody's hands; it goes back when this is dropped.
pub(crate) struct Held<'a> {
    pool: &'a Pool,
    session: Box<dyn Session>,
    since: Instant,
    is_broken: bool,
}

impl Pool {
    /// A pool on a database, with its first connections.
    ///
    /// Errors: the database gives none.
    pub(crate) fn new(
        database: Box<dyn Database>,
        settings: &PoolSettings,
    ) -> Result<Self, NoDatabase> {
        let free = (0..settings.min).map(|_| database.session());
        let free: Vec<_> = free
            .collect::<Result<_, _>>()
            .map_err(NoDatabase::Refused)?;
        Ok(Self {
            inner: Mutex::new(Inner {
                settings: settings.clone(),
                size: free.len() as u32,
                free,
                waiting: VecDeque::new(),
                waited: 0,
                timeouts: 0,
                errors: 0,
                wait: Waits::default(),
                hold: Waits::default(),
                is_closed: false,
            }),
            database,
        })
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn database(&self) -> &dyn Database {
        self.database.as_ref()
    }

    /// Waits for a connection.
    pub(crate) fn acquire(&self) -> Result<Held<'_>, NoSession> {
        let asked = Instant::now();
        let grant = self.grant(asked)?;
        let session = match grant {
            Grant::Closed => return Err(NoSession::Closed),
            Grant::Session(session) => session,
            Grant::Room => match self.database.session() {
                Ok(session) => session,
                Err(why) => {
                    self.inner().lose_one();
                    return Err(NoSession::Database(why));
                }
            },
        };
        let since = Instant::now();
        self.inner().wait.add(since - asked);
        Ok(Held {
            pool: self,
            session,
            since,
            is_broken: false,
        })
    }

    fn grant(&self, asked: Instant) -> Result<Grant, NoSession> {
        let mut inner = self.inner();
        if inner.is_closed {
            return Err(NoSession::Closed);
        }
        if let Some(session) = inner.free.pop() {
            return Ok(Grant::Session(session));
        }
        if inner.size < inner.settings.max {
            inner.size += 1;
            return Ok(Grant::Room);
        }
        let waiter = Arc::new(Waiter::default());
        inner.waiting.push_back(Arc::clone(&waiter));
        inner.waited += 1;
        let until = asked + seconds(inner.settings.timeout_s);
        drop(inner);
        if let Some(grant) = waiter.wait_until(until) {
            return Ok(grant);
        }
        let mut inner = self.inner();
        let place = inner
            .waiting
            .iter()
            .position(|other| Arc::ptr_eq(other, &waiter));
        let Some(place) = place else {
            // It was given while the time ran out.
            drop(inner);
            return waiter.wait_until(Instant::now()).ok_or(NoSession::Timeout);
        };
        inner.waiting.remove(place);
        inner.timeouts += 1;
        Err(NoSession::Timeout)
    }

    /// Other sizes from now on. Connections beyond them are closed when they come back.
    pub(crate) fn resize(&self, settings: &PoolSettings) {
        let mut inner = self.inner();
        inner.settings = settings.clone();
        while inner.size > inner.settings.max && inner.free.pop().is_some() {
            inner.size -= 1;
        }
        inner.use_room();
    }

    /// Refuses every waiter, and every later request.
    pub(crate) fn close(&self) {
        let mut inner = self.inner();
        inner.is_closed = true;
        for waiter in inner.waiting.drain(..) {
            waiter.give(Grant::Closed);
        }
        inner.free.clear();
    }

    pub(crate) fn stats(&self) -> (PoolStats, Waits, Waits) {
        let inner = self.inner();
        let stats = PoolStats {
            max: inner.settings.max,
            size: inner.size,
            used: inner.size - inner.free.len() as u32,
            waiting: inner.waiting.len() as u64,
            waited_total: inner.waited,
            timeouts_total: inner.timeouts,
            errors_total: inner.errors,
            wait: inner.wait.stats(),
            hold: inner.hold.stats(),
        };
        (stats, inner.wait.clone(), inner.hold.clone())
    }

    fn give_back(&self, session: Option<Box<dyn Session>>, held: Duration) {
        let mut inner = self.inner();
        inner.hold.add(held);
        let Some(session) = session else {
            // Those that lay idle were made by the same server, which may be gone: each would fail a request.
            let idle = std::mem::take(&mut inner.free);
            inner.size -= idle.len() as u32;
            inner.lose_one();
            drop(inner);
            drop(idle);
            return;
        };
        if inner.size > inner.settings.max || inner.is_closed {
            inner.size -= 1;
            drop(inner);
            drop(session);
            return;
        }
        match inner.next() {
            Some(waiter) => waiter.give(Grant::Session(session)),
            None => inner.free.push(session),
        }
    }
}

impl Inner {
    fn next(&mut self) -> Option<Arc<Waiter>> {
        match self.settings.order {
            Order::Fifo => self.waiting.pop_front(),
            Order::Lifo => self.waiting.pop_back(),
        }
    }

    /// A connection could not be opened, or broke: a waiting request may try.
    fn lose_one(&mut self) {
        self.errors += 1;
        self.size -= 1;
        self.use_room();
    }

    fn use_room(&mut self) {
        while self.size < self.settings.max {
            let Some(waiter) = self.next() else { return };
            self.size += 1;
            waiter.give(Grant::Room);
        }
    }
}

impl Held<'_> {
    /// The connection does not go back into the pool.
    pub(crate) fn is_broken(&mut self) {
        self.is_broken = true;
    }
}

impl Deref for Held<'_> {
    type Target = dyn Session;

    fn deref(&self) -> &Self::Target {
        self.session.as_ref()
    }
}

impl DerefMut for Held<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        self.session.as_mut()
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        let session = std::mem::replace(&mut self.session, Box::new(sim::SimSession));
        let whole = (!self.is_broken).then_some(session);
        self.pool.give_back(whole, self.since.elapsed());
    }
}
