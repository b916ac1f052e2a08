//! The event loop: one thread that serves all connections of its users.
//!
//! ```text
//! turn:  letters · users that are due · timers ──► step ──► send or connect
//!        wait for sockets, until the next timer
//!        each socket:  connect → TLS → send → wait → read ──► ended ──► step ──► send …
//! ```
//!
//! Sockets are registered once, edge-triggered; a request on a kept connection costs one `send` and
//! one `recv`. In the steady state nothing is allocated.

mod bounds;
mod call;
mod lanes;
mod seat;
mod sharing;
mod sockets;

use std::collections::{HashMap, VecDeque};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sokudo_net::clock::{now_ns, precise_timers, thread_cpu_ns, thread_wait_ns};
use sokudo_net::wait::{AsFd as _, Interest, Ready, Trigger, Wait, Waiter};

use bounds::phase_of;
use seat::{Doing, Seat};

use crate::connection::{Connection, Stage};
use crate::crew::{Call, Crew, Waker};
use crate::engine::{LATE_NS, Limits, LoopAudit, Stop};
use crate::failure::{Failure, FailureKind, Phase};
use crate::homes::Home;
use crate::observed::{Observer, Timed};
use crate::post::{Inbox, Letter, Sender};
use crate::resolver::Resolver;
use crate::target::{Target, TargetId, Targets};
use crate::timers::Timers;
use crate::tls::LazyTls;
use crate::user::{Outcome, UserStep};

/// Sockets whose readiness is fetched in one turn.
const EVENTS: usize = 1024;
/// Bytes taken from a socket at once.
const PORTION: usize = 64 * 1024;
/// Portions read from one socket in one turn, so that a server that sends faster than we read delays
/// neither other users nor their deadlines.
const PORTIONS: usize = 64;
/// Longest sleep: how soon a stop is noticed.
const LOOK: Duration = Duration::from_millis(20);
/// Sleep beyond the intended one from which the loop counts as absent, nanoseconds.
const ABSENT_NS: u64 = 5_000_000;
/// Rooms for connections that are looked at for one that is there.
const MOST_LOOKED_AT: usize = 16;
/// Name of the inbox among the sockets.
const BELL: u64 = u64::MAX;
/// Readiness is edge-triggered: reported once per arrival, and registered once for both directions.
const EDGE: bool = cfg!(target_os = "linux");
/// No connection.
const NONE: u32 = u32::MAX;

/// The parts of a loop.
pub(crate) struct Parts<N> {
    /// Counts the turns.
    pub(crate) turns: Arc<AtomicU64>,
    pub(crate) targets: Arc<Targets>,
    pub(crate) tls: Arc<LazyTls>,
    pub(crate) limits: Limits,
    pub(crate) stop: Stop,
    pub(crate) inbox: Inbox<N>,
    pub(crate) answers: Sender<N>,
    pub(crate) home: Home,
}

/// One event loop with its users.
pub(crate) struct Loop<C: Crew> {
    crew: C,
    parts: Parts<C::Newcomer>,
    waiter: Waiter,
    resolver: Resolver<C::Newcomer>,
    targets: Vec<Option<Arc<Target>>>,
    seats: Vec<Seat>,
    free_seats: Vec<u32>,
    connections: Vec<Connection>,
    free_connections: Vec<u32>,
    /// Target and lane → the shared connection that newcomers find.
    lanes: HashMap<(TargetId, u32), u32>,
    /// Shared connections with something to send.
    marked: Vec<u32>,
    /// Shared connections that ever were.
    serial: u64,
    timers: Timers,
    due: VecDeque<u32>,
    /// Sockets with more to read than fits a turn, and whether their peers send no more after it.
    unread: VecDeque<(u64, bool)>,
    users: usize,
    is_closed: bool,
    out: Vec<u8>,
    buffer: Vec<u8>,
    next_look_ns: i64,
    audit: LoopAudit,
    observer: Observer,
    /// The connection whose state was read last.
    read_last: usize,
}

impl<C: Crew> Loop<C>
where
    C::Newcomer: 'static,
{
    /// A loop without users.
    ///
    /// Errors: the system gives no way to wait for sockets.
    pub(crate) fn new(mut crew: C, parts: Parts<C::Newcomer>) -> io::Result<Self> {
        let wait = match EDGE {
            true => Wait::Epoll,
            false => Wait::Block,
        };
        let mut waiter = Waiter::new(wait, Trigger::Edge, EVENTS)?;
        waiter.add(parts.inbox.bell().as_fd(), BELL, Interest::Read)?;
        crew.begins(Waker::new(parts.answers.clone()));
        Ok(Self {
            crew,
            waiter,
            resolver: Resolver::new(parts.answers.clone(), parts.home),
            parts,
            targets: Vec::new(),
            seats: Vec::new(),
            free_seats: Vec::new(),
            connections: Vec::new(),
            free_connections: Vec::new(),
            lanes: HashMap::new(),
            marked: Vec::new(),
            serial: 0,
            timers: Timers::default(),
            due: VecDeque::new(),
            unread: VecDeque::new(),
            users: 0,
            is_closed: false,
            out: Vec::with_capacity(4096),
            buffer: vec![0; PORTION],
            next_look_ns: i64::MIN,
            audit: LoopAudit::default(),
            observer: Observer::new(),
            read_last: 0,
        })
    }

    /// Runs until all users have left and none will join, or the run is stopped.
    pub(crate) fn run(mut self) -> (C, LoopAudit) {
        precise_timers();
        self.audit.had_own_core = self.parts.home.keep();
        let (begun_ns, cpu_ns, wait_ns) = (now_ns(), thread_cpu_ns(), thread_wait_ns());
        self.read_letters();
        while !self.is_over() {
            self.turn();
        }
        self.abandon();
        let more = |now: Option<u64>, then: Option<u64>| Some(now?.saturating_sub(then?));
        self.audit.cpu_ns = more(thread_cpu_ns(), cpu_ns);
        self.audit.wait_ns = more(thread_wait_ns(), wait_ns);
        self.audit.elapsed_ns = u64::try_from(now_ns() - begun_ns).unwrap_or(0);
        self.audit.observed = self.observer.finish();
        (self.crew, self.audit)
    }

    fn is_over(&self) -> bool {
        let stop = &self.parts.stop;
        match stop.is_soon() {
            true => stop.is_now() || !self.is_anybody_at_work(),
            false => self.is_closed && self.users == 0,
        }
    }

    /// Someone's exchange is under way, or another one belongs to it.
    fn is_anybody_at_work(&self) -> bool {
        let mut seats = (0..).zip(&self.seats);
        seats.any(|(user, seat)| {
            let is_called = matches!(seat.doing, Doing::Due | Doing::Resting);
            is_busy(seat) || is_called && self.crew.is_amid(user)
        })
    }

    fn turn(&mut self) {
        self.parts.turns.fetch_add(1, Ordering::Relaxed);
        for _ in 0..self.due.len() {
            let Some(user) = self.due.pop_front() else {
                break;
            };
            if self.seats[user as usize].doing == Doing::Due {
                self.step(user, now_ns());
            }
        }
        self.read_on();
        self.fire_timers();
        self.send_marked();
        let now = now_ns();
        if now >= self.next_look_ns {
            self.next_look_ns = self.crew.look(now);
        }
        if self.observer.is_to_read(now) {
            self.read_a_connection();
        }
        let bound = self.how_long(now);
        let ready = match self.waiter.wait(bound) {
            Ok(ready) => ready,
            // Nothing can be waited for any more: exchanges end at their deadlines.
            Err(_) => {
                std::thread::sleep(LOOK);
                0
            }
        };
        let waited_ns = u64::try_from(now_ns() - now).unwrap_or(0);
        let over_ns = waited_ns.saturating_sub(bound.as_nanos() as u64);
        if over_ns > ABSENT_NS {
            self.observer.was_absent(over_ns);
        }
        for index in 0..ready {
            let event = self.waiter.ready(index);
            match event.token {
                BELL => self.read_letters(),
                token => self.event(token, event),
            }
        }
    }

    /// Reads the state of the next connection that is there.
    fn read_a_connection(&mut self) {
        let all = self.connections.len();
        for _ in 0..all.min(MOST_LOOKED_AT) {
            self.read_last = (self.read_last + 1) % all;
            let connection = &mut self.connections[self.read_last];
            if !matches!(connection.stage, Stage::Vacant | Stage::Connecting)
                && let (Some(socket), read) = connection.socket_and_reading()
            {
                return self.observer.read(socket, read);
            }
        }
    }

    fn how_long(&self, now: i64) -> Duration {
        if !self.due.is_empty() || !self.unread.is_empty() {
            return Duration::ZERO;
        }
        let timer = self.timers.first().map_or(i64::MAX, |(at_ns, _)| at_ns);
        let until = timer.min(self.next_look_ns);
        let left = u64::try_from(until.saturating_sub(now)).unwrap_or(0);
        Duration::from_nanos(left).min(LOOK)
    }

    /// Continues to read the sockets that were not drained in the turn before: their readiness is
    /// reported only once.
    fn read_on(&mut self) {
        for _ in 0..self.unread.len() {
            let Some((token, ended)) = self.unread.pop_front() else {
                break;
            };
            let connection = &self.connections[token as u32 as usize];
            if matches!(connection.stage, Stage::Receiving | Stage::Shared) {
                let more = Ready {
                    token,
                    readable: true,
                    writable: false,
                    ended,
                    closed: false,
                };
                self.event(token, more);
            }
        }
    }

    /// Lets a socket wait for the next turn.
    fn leave_unread(&mut self, index: u32, ended: bool) {
        let generation = self.connections[index as usize].generation;
        self.unread.push_back((token(index, generation), ended));
    }

    fn read_letters(&mut self) {
        for letter in self.parts.inbox.take() {
            match letter {
                Letter::Joins(at_ns, newcomer) => self.join(at_ns, newcomer),
                Letter::Resolved {
                    user,
                    exchange,
                    found,
                } => self.resolved(user, exchange, found),
                Letter::Wakes(user) => self.wake(user),
                Letter::Closed => self.is_closed = true,
            }
        }
    }

    fn join(&mut self, at_ns: i64, newcomer: C::Newcomer) {
        let user = self.free_seats.pop().unwrap_or_else(|| {
            self.seats.push(Seat::empty());
            self.timers.make_room(self.seats.len());
            (self.seats.len() - 1) as u32
        });
        self.users += 1;
        self.crew.joins(user, newcomer);
        let seat = &mut self.seats[user as usize];
        seat.doing = Doing::Pausing;
        seat.is_new = true;
        self.timers.set(user, at_ns);
    }

    fn leave(&mut self, user: u32) {
        self.timers.clear(user);
        while let Some(index) = self.seats[user as usize].kept.pop() {
            self.close(index);
        }
        self.leave_lane(user);
        let spent = std::mem::take(&mut self.seats[user as usize].spent);
        self.observer.user_leaves(spent);
        self.seats[user as usize].own = Vec::new();
        self.crew.leaves(user);
        self.seats[user as usize].doing = Doing::Nothing;
        self.free_seats.push(user);
        self.users -= 1;
    }

    fn fire_timers(&mut self) {
        while let Some((at_ns, user)) = self.timers.first() {
            let now = now_ns();
            if at_ns > now {
                return;
            }
            self.timers.clear(user);
            let seat = &mut self.seats[user as usize];
            match seat.doing {
                Doing::Pausing => {
                    let late_ns = now - at_ns;
                    if late_ns > LATE_NS && !seat.is_new {
                        self.audit.late_starts += 1;
                        let latest = &mut self.audit.latest_start_ns;
                        *latest = (*latest).max(late_ns.unsigned_abs());
                    }
                    seat.is_new = false;
                    self.step(user, now);
                }
                Doing::Resolving | Doing::Exchanging if seat.deadline_ns <= now => {
                    self.time_is_over(user);
                }
                // The deadline was put off since the timer was set.
                Doing::Resolving | Doing::Exchanging => {
                    let deadline_ns = seat.deadline_ns;
                    self.timers.set(user, deadline_ns);
                }
                Doing::Nothing | Doing::Due | Doing::Resting => {}
            }
        }
    }

    fn time_is_over(&mut self, user: u32) {
        let now = now_ns();
        if self.was_heard_of(user, now) {
            return;
        }
        let failure = Failure::new(self.phase_now(user), FailureKind::TimedOut);
        self.fail(user, failure, now);
    }

    /// At which stage a user's exchange is.
    fn phase_now(&self, user: u32) -> Phase {
        let seat = &self.seats[user as usize];
        match self.connections.get(seat.busy as usize) {
            None => Phase::Resolve,
            Some(connection) => match &connection.shared {
                Some(shared) if connection.stage == Stage::Shared => shared.phase_of(seat.stream),
                _ => phase_of(connection),
            },
        }
    }

    /// Asks a user what it does now, and does it.
    fn step(&mut self, user: u32, now: i64) {
        if self.parts.stop.is_soon() && !self.crew.is_amid(user) {
            // Parked: no user has anything left to do.
            self.seats[user as usize].doing = Doing::Due;
            return;
        }
        self.out.clear();
        match self.crew.step(user, now, &mut self.out) {
            UserStep::Send(exchange) => self.begin(user, exchange, now),
            UserStep::Pause { until_ns } if until_ns <= now => self.wait_for_turn(user),
            UserStep::Pause { until_ns } => {
                self.seats[user as usize].doing = Doing::Pausing;
                self.timers.set(user, until_ns);
            }
            UserStep::Rest => {
                self.seats[user as usize].doing = Doing::Resting;
                self.timers.clear(user);
            }
            UserStep::End => self.leave(user),
        }
        self.heed_crew();
    }

    /// Does what the crew asks for.
    #[inline]
    fn heed_crew(&mut self) {
        while let Some(call) = self.crew.calls() {
            match call {
                Call::Joins(newcomer) => self.join(now_ns(), newcomer),
                Call::Wakes(user) => self.wake(user),
            }
        }
    }

    /// Calls a resting user.
    fn wake(&mut self, user: u32) {
        let seat = self.seats.get(user as usize);
        if seat.is_some_and(|seat| seat.doing == Doing::Resting) {
            self.wait_for_turn(user);
        }
    }

    fn wait_for_turn(&mut self, user: u32) {
        self.seats[user as usize].doing = Doing::Due;
        self.due.push_back(user);
    }

    /// Changes the readiness to wait for, on systems that must be informed of it.
    fn watch(&mut self, index: u32, interest: Interest) {
        if EDGE {
            return;
        }
        let connection = &self.connections[index as usize];
        if let Some(socket) = connection.socket() {
            let token = token(index, connection.generation);
            let _ = self.waiter.change(socket.as_fd(), token, interest);
        }
    }

    fn close(&mut self, index: u32) {
        let connection = &mut self.connections[index as usize];
        if let Some(socket) = connection.socket()
            && !EDGE
        {
            let _ = self.waiter.remove(socket.as_fd());
        }
        // Closing the only descriptor of a socket takes it off the list of epoll.
        connection.close();
        self.free_connections.push(index);
    }

    fn forget(&mut self, user: u32, index: u32) {
        self.seats[user as usize].kept.retain(|kept| *kept != index);
        self.close(index);
    }

    /// The response is complete. `is_clean`: the connection can take another request.
    #[inline]
    fn complete(&mut self, user: u32, index: u32, is_clean: bool, now: i64) {
        self.tell(user, index, None, now);
        let connection = &mut self.connections[index as usize];
        let seat = &mut self.seats[user as usize];
        let wants_close = seat.exchange.is_none_or(|exchange| exchange.close);
        match is_clean && !wants_close && connection.response.persists() {
            true => {
                connection.stage = Stage::Idle;
                connection.used = true;
                if !seat.reused {
                    seat.kept.push(index);
                }
            }
            false => {
                seat.kept.retain(|kept| *kept != index);
                self.close(index);
            }
        }
        self.step(user, now);
    }

    /// The exchange has failed; its connection is of no further use.
    fn fail(&mut self, user: u32, failure: Failure, now: i64) {
        let index = self.seats[user as usize].busy;
        if self.connections[index as usize].stage == Stage::Shared {
            return self.fail_shared(user, index, failure, now);
        }
        self.tell(user, index, Some(failure), now);
        self.forget(user, index);
        // Not at once: a server that refuses must not keep the others from their turn.
        self.wait_for_turn(user);
        self.heed_crew();
    }

    /// Tells a user how its exchange ended.
    #[inline]
    fn tell(&mut self, user: u32, index: u32, failure: Option<Failure>, now: i64) {
        let seat = &mut self.seats[user as usize];
        let Some(exchange) = &seat.exchange else {
            return;
        };
        seat.busy = NONE;
        let connection = &self.connections[index as usize];
        let response = &connection.response;
        let stamps = seat.stamps;
        let reached = |stamp: i64| if stamp == 0 { now } else { stamp };
        let outcome = Outcome {
            target: exchange.target,
            intended_ns: exchange.intended_ns,
            start_ns: stamps.start,
            resolved_ns: reached(stamps.resolved),
            connected_ns: reached(stamps.connected),
            secured_ns: reached(stamps.secured),
            sent_ns: reached(stamps.sent),
            first_byte_ns: reached(stamps.first_byte),
            end_ns: now,
            reused: seat.reused,
            peer: connection.peer,
            sent_bytes: seat
                .request_bytes
                .saturating_sub(connection.unsent() as u64),
            head_bytes: response.head_bytes(),
            body_bytes: response.body_bytes(),
            framing_bytes: response.framing_bytes(),
            status: response.status(),
            reason: response.reason(),
            headers: response.headers(),
            body: response.body_kept(),
            failure,
        };
        if outcome.reused && failure.is_none() {
            let took_ns = u64::try_from(now - stamps.start).unwrap_or(0);
            let Timed { count, sum_ns } = &mut seat.spent;
            (*count, *sum_ns) = (*count + 1, sum_ns.saturating_add(took_ns));
        }
        self.observer.ends(&outcome);
        self.crew.ended(user, &outcome);
    }

    /// Ends all exchanges under way and removes all users.
    fn abandon(&mut self) {
        let now = now_ns();
        for user in 0..self.seats.len() as u32 {
            let seat = &self.seats[user as usize];
            if is_busy(seat) {
                let failure = Failure::new(self.phase_now(user), FailureKind::Stopped);
                self.fail(user, failure, now);
            }
            if self.seats[user as usize].doing != Doing::Nothing {
                self.leave(user);
            }
        }
        self.crew.look(now);
    }
}

fn is_busy(seat: &Seat) -> bool {
    matches!(seat.doing, Doing::Resolving | Doing::Exchanging)
}

fn token(index: u32, generation: u32) -> u64 {
    u64::from(generation) << 32 | u64::from(index)
}
