//! The worker threads and the dispatch queue in front of them.
//!
//! Idle threads wait on a stack, so that the one that worked last works next. For every few requests
//! that wait one thread is on its way to the queue; when it takes one and more wait, it calls others. A
//! queue that drains quickly is therefore drained by few threads, and no request waits for long while a
//! thread is idle.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::connection::Connection;
use crate::settings::{Workers as Sizes, seconds};
use crate::waits::{WaitStats, Waits};

/// Time after which an idle thread beyond `workers.core` ends.
const IDLE: Duration = Duration::from_secs(5);
/// Requests in the queue for which one thread is called.
const JOBS_PER_CALL: usize = 4;
/// Threads at most, also when they may grow.
const THREADS_MAX: u32 = 10_000;
/// Stack of a thread, bytes.
const STACK: usize = 256 << 10;

/// A request in the queue.
pub(crate) struct Job {
    pub(crate) connection: Arc<Connection>,
    pub(crate) queued: Instant,
}

/// A request that a thread has taken.
pub(crate) struct Taken {
    pub(crate) connection: Arc<Connection>,
    /// Time in the queue.
    pub(crate) waited: Duration,
    begun: Instant,
}

/// A request that a thread has answered.
pub(crate) struct Done {
    begun: Instant,
    status: u16,
}

impl Taken {
    pub(crate) fn done(&self, status: u16) -> Done {
        Done {
            begun: self.begun,
            status,
        }
    }
}

/// The threads as the admin port tells them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WorkerStats {
    /// Threads that carry a request out.
    pub active: u32,
    /// Threads.
    pub size: u32,
    /// Threads at most; more when they may grow.
    pub max: u32,
    /// Requests that wait for a thread.
    pub queued: u64,
    /// Requests that may wait.
    pub queue_max: u32,
    /// Requests that found the queue full, answered 503.
    pub rejected_total: u64,
    /// Requests that waited too long, answered 503.
    pub timeouts_total: u64,
    /// Answers by status.
    pub answers: BTreeMap<u16, u64>,
    /// From the whole request to a thread.
    pub wait: WaitStats,
    /// From a thread to the whole answer.
    pub service: WaitStats,
}

/// Place at which an idle thread waits.
struct Seat {
    is_called: AtomicBool,
    thread: Thread,
}

/// The threads and their queue.
pub(crate) struct Workers {
    inner: Mutex<Inner>,
    ended: Condvar,
}

struct Inner {
    sizes: Sizes,
    jobs: VecDeque<Job>,
    idle: Vec<Arc<Seat>>,
    size: u32,
    active: u32,
    /// Threads that were called and have not looked into the queue yet.
    coming: u32,
    rejected: u64,
    timeouts: u64,
    answers: BTreeMap<u16, u64>,
    wait: Waits,
    service: Waits,
    is_closed: bool,
}

/// Work of a thread for each request: the closure lives as long as its thread.
pub(crate) type Work = Box<dyn FnMut(&Taken) -> u16>;

impl Workers {
    pub(crate) fn new(sizes: Sizes) -> Self {
        Self {
            inner: Mutex::new(Inner {
                sizes,
                jobs: VecDeque::new(),
                idle: Vec::new(),
                size: 0,
                active: 0,
                coming: 0,
                rejected: 0,
                timeouts: 0,
                answers: BTreeMap::new(),
                wait: Waits::default(),
                service: Waits::default(),
                is_closed: false,
            }),
            ended: Condvar::new(),
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts requests into the queue; returns those that found it full.
    pub(crate) fn submit(
        &self,
        connections: &mut Vec<Arc<Connection>>,
        make: &dyn Fn() -> io::Result<()>,
    ) -> Vec<Arc<Connection>> {
        let queued = Instant::now();
        let mut inner = self.inner();
        let mut rejected = Vec::new();
        for connection in connections.drain(..) {
            // A request that finds an idle thread does not wait.
            let idle = inner.idle.len() as u64 + u64::from(inner.may_grow());
            let room = u64::from(inner.sizes.queue_max) + idle;
            match (inner.jobs.len() as u64) < room {
                true => inner.jobs.push_back(Job { connection, queued }),
                false => rejected.push(connection),
            }
        }
        inner.rejected += rejected.len() as u64;
        inner.call(make);
        rejected
    }

    /// Requests that have waited too long, taken out of the queue.
    pub(crate) fn expired(&self) -> Vec<Arc<Connection>> {
        let mut inner = self.inner();
        let bound = seconds(inner.sizes.queue_timeout_s);
        let late = inner
            .jobs
            .iter()
            .take_while(|job| job.queued.elapsed() > bound);
        let late = late.count();
        inner.timeouts += late as u64;
        inner.jobs.drain(..late).map(|job| job.connection).collect()
    }

    /// Other sizes from now on. Threads beyond them end when they are idle.
    pub(crate) fn resize(&self, sizes: Sizes, make: &dyn Fn() -> io::Result<()>) {
        let mut inner = self.inner();
        inner.sizes = sizes;
        while inner.size < inner.sizes.core && inner.start(make) {}
        inner.call(make);
        // Idle threads look at the sizes again.
        for seat in inner.idle.drain(..).collect::<Vec<_>>() {
            inner.coming += 1;
            seat.call();
        }
    }

    /// Sends all threads home; what is queued is not carried out. Returns when they have ended, or
    /// after the bound.
    pub(crate) fn close(&self, bound: Duration) {
        let mut inner = self.inner();
        inner.is_closed = true;
        inner.jobs.clear();
        for seat in inner.idle.drain(..) {
            seat.call();
        }
        let waited = self
            .ended
            .wait_timeout_while(inner, bound, |inner| inner.size > 0);
        drop(waited);
    }

    pub(crate) fn stats(&self) -> (WorkerStats, Waits, Waits) {
        let inner = self.inner();
        let stats = WorkerStats {
            active: inner.active,
            size: inner.size,
            max: inner.sizes.max,
            queued: inner.jobs.len() as u64,
            queue_max: inner.sizes.queue_max,
            rejected_total: inner.rejected,
            timeouts_total: inner.timeouts,
            answers: inner.answers.clone(),
            wait: inner.wait.stats(),
            service: inner.service.stats(),
        };
        (stats, inner.wait.clone(), inner.service.clone())
    }

    /// Runs a thread until it is sent home. `make` starts another one like it.
    pub(crate) fn run(&self, mut work: Work, make: &dyn Fn() -> io::Result<()>) {
        let seat = Arc::new(Seat {
            is_called: AtomicBool::new(true),
            thread: thread::current(),
        });
        let mut done = None;
        while let Some(taken) = self.next(&seat, done.take(), make) {
            let status = work(&taken);
            done = Some(taken.done(status));
        }
    }

    /// Counts what is done, and waits for the next request. `None`: the thread ends.
    fn next(
        &self,
        seat: &Arc<Seat>,
        done: Option<Done>,
        make: &dyn Fn() -> io::Result<()>,
    ) -> Option<Taken> {
        let now = Instant::now();
        let mut inner = self.inner();
        if let Some(done) = done {
            inner.count(&done, now);
        }
        loop {
            if seat.is_called.swap(false, Ordering::Relaxed) {
                inner.coming = inner.coming.saturating_sub(1);
            }
            if inner.is_closed || inner.is_too_many() {
                inner.size -= 1;
                self.ended.notify_all();
                return None;
            }
            if let Some(job) = inner.jobs.pop_front() {
                return Some(inner.take(job, make));
            }
            inner.idle.push(Arc::clone(seat));
            drop(inner);
            thread::park_timeout(IDLE);
            inner = self.inner();
            if !seat.is_called.load(Ordering::Relaxed) {
                inner.idle.retain(|other| !Arc::ptr_eq(other, seat));
                if inner.size > inner.sizes.core && inner.jobs.is_empty() {
                    inner.size -= 1;
                    self.ended.notify_all();
                    return None;
                }
            }
        }
    }
}

impl Seat {
    fn call(&self) {
        self.is_called.store(true, Ordering::Relaxed);
        self.thread.unpark();
    }
}

impl Inner {
    fn count(&mut self, done: &Done, now: Instant) {
        self.active -= 1;
        self.service.add(now - done.begun);
        *self.answers.entry(done.status).or_default() += 1;
    }

    fn take(&mut self, job: Job, make: &dyn Fn() -> io::Result<()>) -> Taken {
        let begun = Instant::now();
        let waited = begun - job.queued;
        self.wait.add(waited);
        self.active += 1;
        self.call(make);
        Taken {
            connection: job.connection,
            waited,
            begun,
        }
    }

    /// Calls idle threads, or starts some, until enough are coming for the requests that wait.
    fn call(&mut self, make: &dyn Fn() -> io::Result<()>) {
        // A thread that has come calls again: many that wait are met at once, few by one after another.
        while (self.coming as usize) < self.jobs.len().div_ceil(JOBS_PER_CALL) && !self.is_closed {
            if let Some(seat) = self.idle.pop() {
                self.coming += 1;
                seat.call();
            } else if !self.may_grow() || !self.start(make) {
                return;
            }
        }
    }

    fn may_grow(&self) -> bool {
        self.size < self.sizes.max || self.sizes.growable && self.size < THREADS_MAX
    }

    fn is_too_many(&self) -> bool {
        self.size > self.sizes.max && !self.sizes.growable
    }

    /// A thread more; false when the system gives none.
    fn start(&mut self, make: &dyn Fn() -> io::Result<()>) -> bool {
        let is_made = make().is_ok();
        if is_made {
            self.size += 1;
            self.coming += 1;
        }
        is_made
    }
}

/// Starts a thread of the workers.
pub(crate) fn spawn(body: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let builder = thread::Builder::new()
        .name("sokudo-worker".into())
        .stack_size(STACK);
    builder.spawn(body).map(drop)
}
