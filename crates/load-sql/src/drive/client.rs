//! One load thread: its clients, each with a session.

use std::cell::{Cell, RefCell, RefMut};
use std::future::Future;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::{Either, select};
use serde::{Deserialize, Serialize};
use sokudo_model::{Labels, Summary};
use sokudo_net::clock::now_ns;
use sokudo_sql::{Session, SqlError, Target, take_embedded_ns};
use sokudo_workload::exchange::{AskPlan, Course, Details, Next, Report, measured};
use tokio::runtime::Runtime;

use super::deadlines::{Deadline, Deadlines};
use super::gate::Gate;
use super::ledger::Ledger;
use super::pool::{Borrowed, Pool};
use super::record::{Parts, TransactionDetails};
use super::tasks::Tasks;
use super::timer::Timer;
use crate::db::{block_on, connect};
use crate::options::Commit;

/// Time between two looks at the clock and the end of the load.
const TICK: Duration = Duration::from_millis(20);
/// Time between two looks of a pausing client at the end of the load.
const PAUSE_LOOK: Duration = Duration::from_millis(200);
/// Time after a failed try to connect.
const RECONNECT: Duration = Duration::from_millis(100);
/// Shortest time before a transaction is tried again; it grows with each try.
const RETRY: Duration = Duration::from_micros(500);

/// The transactions of a workload.
pub(crate) trait Transactions: Send + Sync + 'static {
    /// Their kinds, and what is counted beside them.
    type Parts: Parts;

    /// Prepared statements of one client on one session.
    type Prepared: Send;

    /// State that a client keeps from one transaction to the next.
    type Seat: Send;

    /// The input of one transaction, kept for its further tries.
    type Input;

    /// The seat of the client with this number, counted over all hosts.
    fn seat(&self, number: u64) -> Self::Seat;

    /// Prepares a fresh session.
    fn prepare(
        &self,
        session: &mut Session,
    ) -> impl Future<Output = Result<Self::Prepared, SqlError>>;

    /// Whether the client has a transaction to carry out, now or later.
    fn turn(&self, _client: &mut Client<Self::Seat>) -> Turn {
        Turn::Now
    }

    /// Wait before the client's next transaction.
    fn pause(&self, _client: &mut Client<Self::Seat>) -> Duration {
        Duration::ZERO
    }

    /// Draws the input of a client's next transaction.
    fn draw(&self, client: &mut Client<Self::Seat>) -> Self::Input;

    /// Carries it out once, up to the answer to its commit.
    fn attempt(
        &self,
        session: &mut Session,
        prepared: &Self::Prepared,
        input: &Self::Input,
    ) -> impl Future<Output = Attempt>;

    /// Whether this transaction writes a mark of its client's ledger.
    fn is_marked(&self, input: &Self::Input) -> bool;

    /// Its kind, as an index of [`Parts::LATENCIES`] or of the names of transactions.
    fn kind(&self, _input: &Self::Input) -> Option<usize> {
        None
    }

    /// The transaction has ended, well or not: what its input took from the client goes back.
    fn give_back(&self, _client: &mut Client<Self::Seat>, _input: Self::Input) {}

    /// Numbers and labels of all of them together, once the load has ended.
    fn told(&self) -> Told {
        Told::default()
    }
}

/// Next step of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Its next transaction.
    Now,
    /// It waits so long, then asks again.
    After(Duration),
    /// Nothing any more.
    Over,
}

/// Numbers and labels of a workload's own about all of its transactions.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Told {
    pub(crate) numbers: Summary,
    pub(crate) labels: Labels,
}

/// Outcome of one try.
pub(crate) type Attempt = Result<Noted, SqlError>;

/// Counter that a transaction raises once it was carried out: its index in [`Parts::COUNTS`] and the increment;
/// `None` for no counter.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Noted(pub(crate) Option<(usize, u64)>);

/// State of a client beside its session.
pub(crate) struct Client<S> {
    pub(crate) random: sokudo_pace::Random,
    pub(crate) ledger: Ledger,
    pub(crate) seat: S,
}

/// A session with the statements that it has prepared.
pub(crate) struct Connection<T: Transactions> {
    pub(crate) session: Session,
    pub(crate) prepared: T::Prepared,
    /// It broke, and must be made again.
    pub(crate) is_lost: bool,
}

/// Sessions whose load has ended, until somebody has read what the server tells of them.
pub(crate) struct Kept<T: Transactions> {
    connections: Vec<Connection<T>>,
    /// The runtime that they belong to.
    runtime: Runtime,
}

impl<T: Transactions> Drop for Kept<T> {
    fn drop(&mut self) {
        // Sessions end within their runtime.
        let _within = self.runtime.enter();
        self.connections.clear();
    }
}

/// The sessions of all threads that are kept.
pub(crate) type AllKept<T> = Arc<Mutex<Vec<Kept<T>>>>;

/// Task of one load thread.
pub(crate) struct Task<T: Transactions> {
    pub(crate) plan: AskPlan,
    pub(crate) target: Target,
    pub(crate) commit: Commit,
    pub(crate) transactions: Arc<T>,
    /// Further tries of a transaction that the server ended because of others.
    pub(crate) retries: u32,
    pub(crate) clients: Vec<Client<T::Seat>>,
    /// As many as clients, or those that the clients share.
    pub(crate) connections: Vec<Connection<T>>,
    pub(crate) is_shared: bool,
    /// The runtime that the sessions belong to; dropped after them.
    pub(crate) runtime: Runtime,
    /// Transactions that were carried out, warm-up included.
    pub(crate) done: Arc<AtomicU64>,
    /// The ledgers of its clients, at the end.
    pub(crate) ledgers: Arc<Mutex<Vec<Ledger>>>,
    /// Takes its sessions in the end; `None` where nobody reads of them then.
    pub(crate) kept: Option<AllKept<T>>,
}

type DetailsOf<T> = TransactionDetails<<T as Transactions>::Parts>;
type SharedOf<'a, T> = Shared<'a, DetailsOf<T>>;

/// Shared state of the clients of a thread.
pub(super) struct Shared<'a, D: Details> {
    course: RefCell<&'a mut Course<D>>,
    under_way: Cell<u64>,
    /// Clients in a pause of their own.
    pausing: Cell<u32>,
    done: Cell<u64>,
}

impl<'a, D: Details> Shared<'a, D> {
    pub(super) fn course(&self) -> RefMut<'_, &'a mut Course<D>> {
        self.course.borrow_mut()
    }

    /// The next transaction; one that is due is the caller's.
    pub(super) fn next(&self, now: i64) -> Next {
        let mut course = self.course();
        let next = course.next(now, self.under_way.get());
        if matches!(next, Next::Now(_)) {
            course.schedule.started();
            self.under_way.set(self.under_way.get() + 1);
        }
        next
    }
}

/// Carries transactions out from `at_ns` on, until time, count or stop; reports to `reports`.
pub(crate) fn run<T: Transactions>(
    task: Task<T>,
    at_ns: i64,
    reports: &SyncSender<Report<DetailsOf<T>>>,
) {
    let Task {
        plan,
        target,
        commit,
        transactions,
        retries,
        clients,
        connections,
        is_shared,
        runtime,
        done,
        ledgers,
        kept,
    } = task;
    let patience = Patience {
        target,
        commit,
        retries,
        is_shared,
        is_alone: clients.len() == 1,
        bound: Duration::from_nanos(plan.timeout_ns.max(1).unsigned_abs()),
        stop: Arc::clone(&plan.stop),
    };
    let deadlines = Deadlines::new(patience.bound, clients.len());
    let (mut written, mut idle) = (Vec::new(), Vec::new());
    // Sessions end within their runtime.
    let within = runtime.enter();
    let ready = || Ok((Room::new(connections, deadlines), clients));
    let load = |(room, clients): &mut (Room<T>, Vec<Client<T::Seat>>),
                course: &mut Course<DetailsOf<T>>| {
        let shared = Shared {
            course: RefCell::new(course),
            under_way: Cell::new(0),
            pausing: Cell::new(0),
            done: Cell::new(0),
        };
        let transactions = &*transactions;
        let ended = block_on(
            &runtime,
            serve(transactions, &patience, room, &shared, clients),
        );
        if let Err(error) = ended {
            shared.course().lose(now_ns(), &error);
        }
        done.fetch_add(shared.done.get(), Ordering::Relaxed);
        written.extend(clients.drain(..).map(|client| client.ledger));
        if kept.is_some() {
            idle = room.pool.take();
        }
    };
    measured(&plan, at_ns, reports, ready, load);
    if let Ok(mut ledgers) = ledgers.lock() {
        ledgers.append(&mut written);
    }
    drop(within);
    let own = Kept {
        connections: idle,
        runtime,
    };
    if let Some(Ok(mut kept)) = kept.as_ref().map(|kept| kept.lock()) {
        kept.push(own);
    }
}

/// Target, commits, retries and timeout of a client.
struct Patience {
    target: Target,
    commit: Commit,
    retries: u32,
    bound: Duration,
    stop: Arc<AtomicBool>,
    /// Whether clients wait for sessions that they share.
    is_shared: bool,
    /// Whether the thread has one client.
    is_alone: bool,
}

/// When a transaction, or a wait for its session, was to begin, and when it did.
#[derive(Clone, Copy)]
struct Start {
    intended_ns: i64,
    began_ns: i64,
}

/// What the clients of a thread queue for, and until when.
struct Room<T: Transactions> {
    gate: Gate,
    pool: Pool<Connection<T>>,
    deadlines: Deadlines,
}

impl<T: Transactions> Room<T> {
    fn new(connections: Vec<Connection<T>>, deadlines: Deadlines) -> Self {
        Self {
            gate: Gate::new(),
            pool: Pool::new(connections),
            deadlines,
        }
    }
}

/// Runs all clients of the thread, and the ticker beside them.
async fn serve<T: Transactions>(
    transactions: &T,
    patience: &Patience,
    room: &Room<T>,
    shared: &SharedOf<'_, T>,
    clients: &mut [Client<T::Seat>],
) -> io::Result<()> {
    let count = clients.len();
    let all: Tasks<_> = clients
        .iter_mut()
        .zip(room.deadlines.clients())
        .map(|(one, deadline)| client(transactions, patience, (room, deadline), shared, one))
        .collect();
    let watched = patience.is_shared.then_some(&room.pool);
    let ticker = std::pin::pin!(ticker(shared, &room.deadlines, watched, count));
    let cancelled = match select(all, ticker).await {
        Either::Left(_) => 0,
        Either::Right(_) => shared.under_way.get(),
    };
    if let Some(details) = shared.course().recorder.details(now_ns()) {
        details.cancelled += cancelled;
        details.embedded_ns += take_embedded_ns();
    }
    Ok(())
}

/// Reports the intervals, looks at the pool and at who pauses, and wakes who waits too long; ends when the load was stopped and
/// its last transactions had their time.
async fn ticker<P: Parts, C>(
    shared: &Shared<'_, TransactionDetails<P>>,
    deadlines: &Deadlines,
    pool: Option<&Pool<C>>,
    clients: usize,
) {
    let timer = Timer::new();
    loop {
        tick(&timer, deadlines).await;
        if pool.is_some() {
            // On a busy machine many clients are due together with the tick: those that let others go first have not asked for
            // their next session yet.
            tokio::task::yield_now().await;
        }
        let now = now_ns();
        // What came before the load counts is taken, too, and forgotten.
        let embedded_ns = take_embedded_ns();
        let mut course = shared.course();
        if now < course.end_ns
            && let Some(details) = course.recorder.details(now)
        {
            details.embedded_ns += embedded_ns;
            details.pauses.look(shared.pausing.get(), clients);
            if let Some(pool) = pool {
                details.pool.look(pool.used(), pool.waiting());
            }
        }
        if now >= course.recorder.report_at_ns() {
            course.recorder.report(now);
        }
        // A transaction has its own bound: only a stop makes one overdue that began just now.
        if course.is_overdue(now, now) {
            return;
        }
    }
}

/// Waits for one tick, and wakes meanwhile whose deadline passes.
async fn tick(timer: &Timer, deadlines: &Deadlines) {
    let mut now = now_ns();
    let end_ns = now.saturating_add_unsigned(TICK.as_nanos() as u64);
    while now < end_ns {
        timer.until(deadlines.look(now).min(end_ns)).await;
        now = now_ns();
    }
}

/// One client: transaction after transaction.
async fn client<T: Transactions>(
    transactions: &T,
    patience: &Patience,
    (room, deadline): (&Room<T>, &Deadline),
    shared: &SharedOf<'_, T>,
    client: &mut Client<T::Seat>,
) {
    let mut own = match patience.is_shared {
        true => None,
        false => room.pool.borrow().await,
    };
    let mut is_new = true;
    loop {
        if let Some(own) = &mut own
            && !is_ready(transactions, patience, shared, own).await
        {
            return;
        }
        match transactions.turn(client) {
            Turn::Now => {}
            Turn::After(wait) if paused(shared, wait).await => continue,
            Turn::After(_) | Turn::Over => return,
        }
        let pause = transactions.pause(client);
        if !pause.is_zero() {
            shared.pausing.set(shared.pausing.get() + 1);
            let goes_on = paused(shared, pause).await;
            shared.pausing.set(shared.pausing.get() - 1);
            if !goes_on {
                return;
            }
        }
        let Some((intended_ns, had_room)) =
            room.gate.next(shared, std::mem::take(&mut is_new)).await
        else {
            return;
        };
        let sent_ns = now_ns();
        shared.course().sent(intended_ns, sent_ns, had_room);
        let start = |began_ns| Start {
            intended_ns,
            began_ns,
        };
        match &mut own {
            Some(own) => {
                one(
                    transactions,
                    (patience, deadline),
                    shared,
                    own,
                    client,
                    start(sent_ns),
                )
                .await;
            }
            None => {
                let Some(mut lent) = lent(deadline, room, shared, start(sent_ns)).await else {
                    continue;
                };
                if !is_ready(transactions, patience, shared, &mut lent).await {
                    // It is still under way when the load ends.
                    return;
                }
                one(
                    transactions,
                    (patience, deadline),
                    shared,
                    &mut lent,
                    client,
                    start(now_ns()),
                )
                .await;
            }
        }
        // An engine in this thread answers without ever waiting: nothing but this lets the other clients and the ticker run.
        let is_due = || now_ns() >= shared.course().recorder.report_at_ns();
        if patience.target.engine().is_embedded() && (!patience.is_alone || is_due()) {
            tokio::task::yield_now().await;
        }
    }
}

/// Makes a connection again that was lost; false when the load ends before that.
async fn is_ready<T: Transactions>(
    transactions: &T,
    patience: &Patience,
    shared: &SharedOf<'_, T>,
    connection: &mut Connection<T>,
) -> bool {
    !connection.is_lost || connect_again(transactions, patience, shared, connection).await
}

/// Waits for a session of the pool; `None` when none was free in time, with which the transaction has failed.
async fn lent<'a, T: Transactions>(
    deadline: &Deadline,
    room: &'a Room<T>,
    shared: &SharedOf<'_, T>,
    Start {
        intended_ns,
        began_ns,
    }: Start,
) -> Option<Borrowed<'a, Connection<T>>> {
    let borrowed = deadline.within(began_ns, room.pool.borrow()).await;
    let borrowed = borrowed.flatten();
    let waited_ns = (now_ns() - began_ns).max(0).unsigned_abs();
    let recorder = &mut shared.course().recorder;
    if let Some(details) = recorder.details(intended_ns) {
        details.pool.waited(waited_ns, borrowed.is_some());
    }
    if borrowed.is_none() {
        shared.under_way.set(shared.under_way.get() - 1);
        recorder.failed(intended_ns, || {
            "no session of the pool was free in time".into()
        });
    }
    borrowed
}

/// Carries one transaction out, on a session that stands.
async fn one<T: Transactions>(
    transactions: &T,
    bounds: (&Patience, &Deadline),
    shared: &SharedOf<'_, T>,
    connection: &mut Connection<T>,
    client: &mut Client<T::Seat>,
    start: Start,
) {
    let input = transactions.draw(client);
    let ended = tried(transactions, bounds, shared, connection, &input, start).await;
    let now = now_ns();
    let Start {
        intended_ns,
        began_ns,
    } = start;
    shared.under_way.set(shared.under_way.get() - 1);
    let recorder = &mut shared.course().recorder;
    let kind = transactions.kind(&input);
    match ended {
        Ok(Noted(noted)) => {
            shared.done.set(shared.done.get() + 1);
            recorder.answered(intended_ns, began_ns, now);
            if let Some(details) = recorder.details(intended_ns) {
                let latency_ns = (now - intended_ns).max(0).unsigned_abs();
                if let Some(kind) = kind {
                    details.record(kind, latency_ns);
                }
                if let Some((what, more)) = noted {
                    details.count(what, more);
                }
            }
        }
        Err(error) => {
            if transactions.is_marked(&input) {
                client.ledger.leave_open();
            }
            connection.is_lost = error.is_lost;
            if let Some(details) = recorder.details(intended_ns) {
                details.lost_sessions += u64::from(error.is_lost);
                if let Some(kind) = kind {
                    details.failed_for_good(kind);
                }
            }
            recorder.failed(intended_ns, || error.to_string());
        }
    }
    transactions.give_back(client, input);
}

/// Waits so long; false when the load ends before that.
async fn paused<D: Details>(shared: &Shared<'_, D>, pause: Duration) -> bool {
    let until_ns = now_ns().saturating_add_unsigned(pause.as_nanos() as u64);
    loop {
        let now = now_ns();
        if matches!(
            shared.course().next(now, shared.under_way.get()),
            Next::Over
        ) {
            return false;
        }
        if now >= until_ns {
            return true;
        }
        let left = Duration::from_nanos((until_ns - now).unsigned_abs());
        tokio::time::sleep(left.min(PAUSE_LOOK)).await;
    }
}

/// Tries a transaction until it succeeds, fails for good, or was tried often enough.
async fn tried<T: Transactions>(
    transactions: &T,
    (patience, deadline): (&Patience, &Deadline),
    shared: &SharedOf<'_, T>,
    connection: &mut Connection<T>,
    input: &T::Input,
    start: Start,
) -> Attempt {
    let Connection {
        session, prepared, ..
    } = connection;
    let (mut tries, mut began_ns) = (0, start.began_ns);
    loop {
        let attempt = transactions.attempt(session, prepared, input);
        let ended = deadline.within(began_ns, attempt).await;
        let ended = ended.unwrap_or_else(|| Err(SqlError::timeout()));
        if let Some(details) = shared.course().recorder.details(start.intended_ns) {
            details.attempts += 1;
            if let Err(error) = &ended {
                details.failed(error.class);
            }
        }
        let error = match ended {
            Ok(noted) => return Ok(noted),
            Err(error) => error,
        };
        if error.is_lost {
            return Err(error);
        }
        match deadline.starting_now(session.rollback()).await {
            None => return Err(SqlError::timeout()),
            Some(Err(lost)) if lost.is_lost => return Err(lost),
            // A session without a transaction has nothing to roll back.
            Some(_) => {}
        }
        if !error.class.is_transient() || tries >= patience.retries {
            return Err(error);
        }
        tries += 1;
        tokio::time::sleep(RETRY * tries.min(20)).await;
        began_ns = now_ns();
    }
}

/// Makes a lost session again; false when the load ends before that.
async fn connect_again<T: Transactions>(
    transactions: &T,
    patience: &Patience,
    shared: &SharedOf<'_, T>,
    connection: &mut Connection<T>,
) -> bool {
    loop {
        let begun_ns = now_ns();
        let is_over = matches!(
            shared.course().next(begun_ns, shared.under_way.get()),
            Next::Over
        );
        if is_over {
            return false;
        }
        let made = async {
            let (target, bound) = (&patience.target, patience.bound);
            let mut session = connect(target, bound, patience.commit).await?;
            session.limit(bound, &patience.stop)?;
            let prepared = transactions.prepare(&mut session).await?;
            Ok::<_, SqlError>((session, prepared))
        };
        let made = tokio::time::timeout(patience.bound, made).await;
        let now = now_ns();
        match made {
            Ok(Ok((session, prepared))) => {
                *connection = Connection {
                    session,
                    prepared,
                    is_lost: false,
                };
                if let Some(details) = shared.course().recorder.details(now) {
                    details.made_connections += 1;
                    let took_ns = (now - begun_ns).unsigned_abs();
                    details.connecting.record(Some(took_ns), None);
                }
                return true;
            }
            Ok(Err(_)) | Err(_) => tokio::time::sleep(RECONNECT).await,
        }
    }
}
