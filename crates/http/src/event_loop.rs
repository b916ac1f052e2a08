//! What does one thread do for all its users?
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

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use sokudo_net::clock::{now_ns, precise_timers, thread_cpu_ns, thread_wait_ns};
use sokudo_net::wait::{AsFd as _, Interest, Ready, Trigger, Wait, Waiter};

use bounds::{answer_by, phase_of, whole_by};

use crate::connection::{Connection, Stage, is_later};
use crate::crew::Crew;
use crate::engine::{LATE_NS, Limits, LoopAudit, Stop};
use crate::failure::{Failure, Kind, Phase};
use crate::post::{Inbox, Letter, Sender};
use crate::resolver::Resolver;
use crate::target::{Scheme, Target, Targets};
use crate::timers::Timers;
use crate::tls::LazyTls;
use crate::user::{Exchange, Outcome, Step};

/// Sockets that are heard of in one turn.
const EVENTS: usize = 1024;
/// Bytes taken from a socket at once.
const PORTION: usize = 64 * 1024;
/// Longest sleep: how soon a stop is noticed.
const LOOK: Duration = Duration::from_millis(20);
/// Name of the inbox among the sockets.
const BELL: u64 = u64::MAX;
/// Sockets are spoken of once per arrival, and need not be told again what is looked for.
const EDGE: bool = cfg!(target_os = "linux");
/// No connection.
const NONE: u32 = u32::MAX;

/// What a loop is made from.
pub(crate) struct Parts<N> {
    pub(crate) targets: Arc<Targets>,
    pub(crate) tls: Arc<LazyTls>,
    pub(crate) limits: Limits,
    pub(crate) stop: Stop,
    pub(crate) inbox: Inbox<N>,
    pub(crate) answers: Sender<N>,
}

/// What a user is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Doing {
    /// There is no user of this number.
    Nothing,
    /// Waiting for a time.
    Pausing,
    /// Waiting for its turn.
    Due,
    /// Waiting for its target's addresses.
    Resolving,
    /// Its connection is busy.
    Exchanging,
}

/// Stamps of the present exchange; 0 = not reached.
#[derive(Debug, Clone, Copy, Default)]
struct Stamps {
    start: i64,
    resolved: i64,
    connected: i64,
    secured: i64,
    sent: i64,
    first_byte: i64,
}

struct Seat {
    doing: Doing,
    /// The user has just joined: it was not this loop that kept it waiting.
    is_new: bool,
    exchange: Option<Exchange>,
    /// Number of the exchange: tells a late answer of the resolver.
    number: u64,
    stamps: Stamps,
    request_bytes: u64,
    reused: bool,
    /// The exchange fails then.
    deadline_ns: i64,
    /// Connection of the present exchange.
    busy: u32,
    /// Connections kept, one per target.
    kept: Vec<u32>,
}

impl Seat {
    fn empty() -> Self {
        Self {
            doing: Doing::Nothing,
            is_new: false,
            exchange: None,
            number: 0,
            stamps: Stamps::default(),
            request_bytes: 0,
            reused: false,
            deadline_ns: i64::MAX,
            busy: NONE,
            kept: Vec::new(),
        }
    }
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
    timers: Timers,
    due: VecDeque<u32>,
    users: usize,
    is_closed: bool,
    out: Vec<u8>,
    buffer: Vec<u8>,
    next_look_ns: i64,
    audit: LoopAudit,
}

impl<C: Crew> Loop<C>
where
    C::Newcomer: 'static,
{
    /// A loop without users.
    ///
    /// Errors: the system gives no way to wait for sockets.
    pub(crate) fn new(crew: C, parts: Parts<C::Newcomer>) -> io::Result<Self> {
        let wait = match EDGE {
            true => Wait::Epoll,
            false => Wait::Block,
        };
        let mut waiter = Waiter::new(wait, Trigger::Edge, EVENTS)?;
        waiter.add(parts.inbox.bell().as_fd(), BELL, Interest::Read)?;
        Ok(Self {
            crew,
            waiter,
            resolver: Resolver::new(parts.answers.clone()),
            parts,
            targets: Vec::new(),
            seats: Vec::new(),
            free_seats: Vec::new(),
            connections: Vec::new(),
            free_connections: Vec::new(),
            timers: Timers::default(),
            due: VecDeque::new(),
            users: 0,
            is_closed: false,
            out: Vec::with_capacity(4096),
            buffer: vec![0; PORTION],
            next_look_ns: i64::MIN,
            audit: LoopAudit::default(),
        })
    }

    /// Runs until nobody will join and all users have left, or the run is stopped.
    pub(crate) fn run(mut self) -> (C, LoopAudit) {
        precise_timers();
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
        (self.crew, self.audit)
    }

    fn is_over(&self) -> bool {
        let stop = &self.parts.stop;
        match stop.is_soon() {
            true => stop.is_now() || !self.seats.iter().any(is_busy),
            false => self.is_closed && self.users == 0,
        }
    }

    fn turn(&mut self) {
        for _ in 0..self.due.len() {
            let Some(user) = self.due.pop_front() else {
                break;
            };
            if self.seats[user as usize].doing == Doing::Due {
                self.step(user, now_ns());
            }
        }
        self.fire_timers();
        let now = now_ns();
        if now >= self.next_look_ns {
            self.next_look_ns = self.crew.look(now);
        }
        let ready = match self.waiter.wait(self.how_long(now)) {
            Ok(ready) => ready,
            // Nothing can be waited for any more: exchanges end at their deadlines.
            Err(_) => {
                std::thread::sleep(LOOK);
                0
            }
        };
        for index in 0..ready {
            let event = self.waiter.ready(index);
            match event.token {
                BELL => self.read_letters(),
                token => self.event(token, event),
            }
        }
    }

    fn how_long(&self, now: i64) -> Duration {
        if !self.due.is_empty() {
            return Duration::ZERO;
        }
        let timer = self.timers.first().map_or(i64::MAX, |(at_ns, _)| at_ns);
        let until = timer.min(self.next_look_ns);
        let left = u64::try_from(until.saturating_sub(now)).unwrap_or(0);
        Duration::from_nanos(left).min(LOOK)
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
                Doing::Nothing | Doing::Due => {}
            }
        }
    }

    fn time_is_over(&mut self, user: u32) {
        let seat = &self.seats[user as usize];
        let phase = match self.connections.get(seat.busy as usize) {
            None => Phase::Resolve,
            Some(connection) => phase_of(connection),
        };
        self.fail(user, Failure::new(phase, Kind::TimedOut), now_ns());
    }

    /// Asks a user what it does now, and does it.
    fn step(&mut self, user: u32, now: i64) {
        if self.parts.stop.is_soon() {
            // Parked: nobody's turn comes any more.
            self.seats[user as usize].doing = Doing::Due;
            return;
        }
        self.out.clear();
        match self.crew.step(user, now, &mut self.out) {
            Step::Send(exchange) => self.begin(user, exchange, now),
            Step::Pause { until_ns } if until_ns <= now => self.wait_for_turn(user),
            Step::Pause { until_ns } => {
                self.seats[user as usize].doing = Doing::Pausing;
                self.timers.set(user, until_ns);
            }
            Step::End => self.leave(user),
        }
    }

    fn wait_for_turn(&mut self, user: u32) {
        self.seats[user as usize].doing = Doing::Due;
        self.due.push_back(user);
    }

    /// Begins an exchange whose request is in `out`.
    #[inline]
    fn begin(&mut self, user: u32, exchange: Exchange, now: i64) {
        self.audit.started += 1;
        let request_bytes = self.out.len() as u64;
        let seat = &mut self.seats[user as usize];
        seat.exchange = Some(exchange);
        seat.number += 1;
        seat.request_bytes = request_bytes;
        seat.stamps = Stamps {
            start: now,
            ..Stamps::default()
        };
        seat.busy = NONE;
        seat.doing = Doing::Exchanging;
        match self.kept_connection(user, &exchange) {
            Some(index) => self.send_on_kept(user, index, &exchange, now),
            None => self.begin_fresh(user, &exchange, now),
        }
    }

    /// The user's kept connection to the target, if it is to be used.
    #[inline]
    fn kept_connection(&mut self, user: u32, exchange: &Exchange) -> Option<u32> {
        let kept = &self.seats[user as usize].kept;
        let goes_there = |index: &u32| self.connections[*index as usize].target == exchange.target;
        let place = kept.iter().position(goes_there)?;
        let index = kept[place];
        if exchange.fresh {
            self.seats[user as usize].kept.swap_remove(place);
            self.close(index);
            return None;
        }
        Some(index)
    }

    #[inline]
    fn send_on_kept(&mut self, user: u32, index: u32, exchange: &Exchange, now: i64) {
        let seat = &mut self.seats[user as usize];
        (seat.busy, seat.reused) = (index, true);
        let stamps = &mut seat.stamps;
        (stamps.resolved, stamps.connected, stamps.secured) = (now, now, now);
        seat.deadline_ns = answer_by(exchange, now, now);
        let deadline_ns = seat.deadline_ns;
        self.wake_by(user, deadline_ns);
        let connection = &mut self.connections[index as usize];
        connection
            .response
            .begin(exchange.method_is_head, exchange.keep);
        connection.stage = Stage::Sending;
        match connection.send(&self.out) {
            Ok(true) => self.sent(user, index),
            Ok(false) => self.watch(index, Interest::Both),
            Err(failure) => self.fail(user, failure, now_ns()),
        }
    }

    fn begin_fresh(&mut self, user: u32, exchange: &Exchange, now: i64) {
        let connect_by = match exchange.connect_timeout_ns {
            0 => i64::MAX,
            bound => now.saturating_add_unsigned(bound),
        };
        let deadline_ns = connect_by.min(whole_by(exchange, now));
        let seat = &mut self.seats[user as usize];
        seat.reused = false;
        seat.deadline_ns = deadline_ns;
        self.wake_by(user, deadline_ns);
        let index = self.free_connections.pop().unwrap_or_else(|| {
            self.connections.push(Connection::vacant(self.parts.limits));
            (self.connections.len() - 1) as u32
        });
        let connection = &mut self.connections[index as usize];
        (connection.target, connection.user, connection.attempt) = (exchange.target, user, 0);
        connection.peer = None;
        connection.hold(&self.out);
        connection
            .response
            .begin(exchange.method_is_head, exchange.keep);
        self.seats[user as usize].busy = index;
        let Some(target) = self.target(exchange) else {
            return self.fail(user, Failure::new(Phase::Resolve, Kind::UnknownHost), now);
        };
        if target.known_addresses().is_some() {
            return self.call(user, index, &target, now);
        }
        let seat = &mut self.seats[user as usize];
        seat.doing = Doing::Resolving;
        let number = seat.number;
        if !self.resolver.ask(user, number, target) {
            self.fail(user, Failure::new(Phase::Resolve, Kind::Other), now);
        }
    }

    fn target(&mut self, exchange: &Exchange) -> Option<Arc<Target>> {
        let place = exchange.target.0 as usize;
        if let Some(Some(known)) = self.targets.get(place) {
            return Some(Arc::clone(known));
        }
        let target = self.parts.targets.get(exchange.target)?;
        if place >= self.targets.len() {
            self.targets.resize(place + 1, None);
        }
        self.targets[place] = Some(Arc::clone(&target));
        Some(target)
    }

    fn resolved(&mut self, user: u32, number: u64, found: bool) {
        let Some(seat) = self.seats.get_mut(user as usize) else {
            return;
        };
        if seat.number != number || seat.doing != Doing::Resolving {
            return;
        }
        seat.doing = Doing::Exchanging;
        let (index, exchange) = (seat.busy, seat.exchange);
        let now = now_ns();
        let target = exchange.and_then(|exchange| self.target(&exchange));
        match target {
            Some(target) if found => self.call(user, index, &target, now),
            _ => self.fail(user, Failure::new(Phase::Resolve, Kind::UnknownHost), now),
        }
    }

    /// Calls the next address of a target that has not been tried.
    fn call(&mut self, user: u32, index: u32, target: &Target, now: i64) {
        let addresses = target.known_addresses().unwrap_or(&[]);
        let stamps = &mut self.seats[user as usize].stamps;
        if stamps.resolved == 0 {
            stamps.resolved = now;
        }
        let mut failure = Failure::new(Phase::Resolve, Kind::UnknownHost);
        loop {
            let connection = &mut self.connections[index as usize];
            if connection.attempt >= addresses.len() {
                return self.fail(user, failure, now_ns());
            }
            let address = addresses[(target.preferred() + connection.attempt) % addresses.len()];
            let called = connection
                .call(address)
                .map_err(|error| Failure::of(Phase::Connect, &error))
                .and_then(|()| self.set_up(index, target));
            match called {
                Ok(()) => {
                    self.audit.connections += 1;
                    return;
                }
                Err(why) => {
                    self.audit.ports_exhausted += u64::from(why.kind == Kind::PortsExhausted);
                    failure = why;
                    self.connections[index as usize].attempt += 1;
                }
            }
        }
    }

    /// Prepares TLS and watches the socket of a connection that has been called.
    fn set_up(&mut self, index: u32, target: &Target) -> Result<(), Failure> {
        let connection = &mut self.connections[index as usize];
        if target.scheme == Scheme::Https {
            let Ok(config) = self.parts.tls.config() else {
                return Err(Failure::new(Phase::Tls, Kind::Tls));
            };
            let secured = connection.secure(config, &target.host);
            secured.map_err(|kind| Failure::new(Phase::Tls, kind))?;
            if let Some(request) = target.tunnel_request() {
                connection.tunnel(request);
            }
        }
        let token = token(index, connection.generation);
        let Some(socket) = connection.socket() else {
            return Err(Failure::new(Phase::Connect, Kind::Other));
        };
        let watched = self.waiter.add(socket.as_fd(), token, Interest::Both);
        watched.map_err(|error| Failure::of(Phase::Connect, &error))
    }

    /// Looks for something else from now on, where the system has to be told.
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

    /// Wakes the loop for a user's deadline. The timer of an earlier exchange may still stand: it
    /// is put off when it fires, not with each request.
    #[inline]
    fn wake_by(&mut self, user: u32, deadline_ns: i64) {
        if deadline_ns == i64::MAX {
            return;
        }
        match self.timers.at(user) {
            Some(at_ns) if at_ns <= deadline_ns => {}
            _ => self.timers.set(user, deadline_ns),
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

    #[inline]
    fn event(&mut self, token: u64, event: Ready) {
        let (index, generation) = (token as u32, (token >> 32) as u32);
        let connection = &self.connections[index as usize];
        if connection.generation != generation || connection.stage == Stage::Vacant {
            return;
        }
        let user = connection.user;
        match connection.stage {
            Stage::Receiving if event.readable => self.receive(user, index, event.ended),
            Stage::Receiving | Stage::Vacant => {}
            // Whatever comes on a kept connection, it is of no further use.
            Stage::Idle if event.readable => self.forget(user, index),
            Stage::Idle => {}
            Stage::Connecting if event.writable || event.closed => self.connects(user, index),
            Stage::Connecting => {}
            Stage::Tunnelling => self.tunnels(user, index),
            Stage::Securing => self.secures(user, index),
            Stage::Sending => self.sends(user, index, event),
        }
    }

    fn forget(&mut self, user: u32, index: u32) {
        self.seats[user as usize].kept.retain(|kept| *kept != index);
        self.close(index);
    }

    fn connects(&mut self, user: u32, index: u32) {
        let now = now_ns();
        let connection = &mut self.connections[index as usize];
        if connection.is_tunnelled() {
            connection.stage = Stage::Tunnelling;
            return self.tunnels(user, index);
        }
        if connection.is_tls() {
            connection.stage = Stage::Securing;
            self.seats[user as usize].stamps.connected = now;
            return self.secures(user, index);
        }
        match connection.send_on() {
            // The far end has not answered; on one that has, the request leaves at least in part.
            Ok(false) if connection.unsent() as u64 == self.seats[user as usize].request_bytes => {}
            Ok(done) => {
                connection.stage = Stage::Sending;
                self.is_connected(user, index, now);
                if done {
                    self.sent(user, index);
                }
            }
            // It was there, and was reset before the request could leave.
            Err(failure) if failure.kind == Kind::Reset => {
                self.seats[user as usize].stamps.connected = now;
                self.fail(user, failure, now);
            }
            Err(failure) => {
                let phase = Phase::Connect;
                self.try_next_address(user, index, Failure { phase, ..failure });
            }
        }
    }

    /// The connection is there and needs nothing else; from now on the server is waited for.
    fn is_connected(&mut self, user: u32, index: u32, now: i64) {
        let seat = &mut self.seats[user as usize];
        if seat.stamps.connected == 0 {
            seat.stamps.connected = now;
        }
        seat.stamps.secured = now;
        let Some(exchange) = seat.exchange else {
            return;
        };
        seat.deadline_ns = answer_by(&exchange, seat.stamps.start, now);
        let deadline_ns = seat.deadline_ns;
        self.timers.clear(user);
        self.wake_by(user, deadline_ns);
        let connection = &self.connections[index as usize];
        if connection.attempt > 0
            && let Some(target) = self.target(&exchange)
        {
            let addresses = target.known_addresses().map_or(1, <[_]>::len);
            let attempt = self.connections[index as usize].attempt;
            target.prefer((target.preferred() + attempt) % addresses.max(1));
        }
    }

    fn try_next_address(&mut self, user: u32, index: u32, failure: Failure) {
        let exchange = self.seats[user as usize].exchange;
        let target = exchange.and_then(|exchange| self.target(&exchange));
        let connection = &mut self.connections[index as usize];
        connection.attempt += 1;
        match target {
            Some(target) if connection.attempt < target.known_addresses().map_or(0, <[_]>::len) => {
                // The old socket closes as the new one takes its place.
                if !EDGE && let Some(socket) = connection.socket() {
                    let _ = self.waiter.remove(socket.as_fd());
                }
                connection.close();
                self.call(user, index, &target, now_ns());
            }
            _ => self.fail(user, failure, now_ns()),
        }
    }

    fn tunnels(&mut self, user: u32, index: u32) {
        let connection = &mut self.connections[index as usize];
        match connection.dig() {
            Ok(false) => {}
            Ok(true) => {
                connection.stage = Stage::Securing;
                self.seats[user as usize].stamps.connected = now_ns();
                self.secures(user, index);
            }
            Err(failure) if failure.kind == Kind::Refused => {
                self.try_next_address(user, index, failure);
            }
            Err(failure) => self.fail(user, failure, now_ns()),
        }
    }

    fn secures(&mut self, user: u32, index: u32) {
        let connection = &mut self.connections[index as usize];
        match connection.shake_hands() {
            Ok(false) => {}
            Ok(true) => {
                connection.stage = Stage::Sending;
                let now = now_ns();
                self.is_connected(user, index, now);
                let connection = &mut self.connections[index as usize];
                match connection.send_on() {
                    Ok(true) => self.sent(user, index),
                    Ok(false) => {}
                    Err(failure) => self.fail(user, failure, now_ns()),
                }
            }
            Err(failure) => {
                // A refused call is seen only now: the handshake never began.
                let is_refused = failure.kind == Kind::Refused;
                match is_refused {
                    true => {
                        let phase = Phase::Connect;
                        self.try_next_address(user, index, Failure { phase, ..failure });
                    }
                    false => self.fail(user, failure, now_ns()),
                }
            }
        }
    }

    fn sends(&mut self, user: u32, index: u32, event: Ready) {
        // A server may answer, or refuse, before it has read everything.
        if event.readable {
            let number = self.seats[user as usize].number;
            self.receive(user, index, event.ended);
            let seat = &self.seats[user as usize];
            let connection = &self.connections[index as usize];
            if seat.number != number || seat.busy != index || connection.stage != Stage::Sending {
                return;
            }
        }
        match self.connections[index as usize].send_on() {
            Ok(true) => self.sent(user, index),
            Ok(false) => {}
            Err(failure) => self.fail(user, failure, now_ns()),
        }
    }

    /// The whole request has left.
    #[inline]
    fn sent(&mut self, user: u32, index: u32) {
        self.seats[user as usize].stamps.sent = now_ns();
        self.connections[index as usize].stage = Stage::Receiving;
        self.watch(index, Interest::Read);
    }

    /// Takes what has come. `ended`: the far end sends no more after it.
    fn receive(&mut self, user: u32, index: u32, ended: bool) {
        loop {
            let connection = &mut self.connections[index as usize];
            let came = connection.receive(&mut self.buffer);
            let now = now_ns();
            let count = match came {
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) if is_later(&error) => return,
                Err(error) => {
                    let kind = match error.kind() {
                        io::ErrorKind::InvalidData => Kind::Tls,
                        _ => Kind::of(&error),
                    };
                    let failure = Failure {
                        kind,
                        ..Failure::of(phase_of(connection), &error)
                    };
                    return self.fail(user, failure, now);
                }
            };
            if count == 0 {
                return self.ends(user, index, now);
            }
            let seat = &mut self.seats[user as usize];
            if seat.stamps.first_byte == 0 {
                seat.stamps.first_byte = now;
            }
            match connection.response.feed(&self.buffer[..count]) {
                Ok(fed) if fed.done => {
                    let is_clean = fed.used == count
                        && connection.stage == Stage::Receiving
                        && !(ended && connection.short_read_is_all());
                    return self.complete(user, index, is_clean, now);
                }
                Ok(_) => {}
                Err(what) => {
                    let failure = Failure::new(phase_of(connection), Kind::Malformed(what));
                    return self.fail(user, failure, now);
                }
            }
            if let Some(exchange) = &seat.exchange {
                seat.deadline_ns = answer_by(exchange, seat.stamps.start, now);
            }
        }
    }

    /// The far end sends no more.
    fn ends(&mut self, user: u32, index: u32, now: i64) {
        let connection = &mut self.connections[index as usize];
        match connection.response.closed() {
            true => self.complete(user, index, false, now),
            false => {
                let failure = Failure::new(phase_of(connection), Kind::ClosedEarly);
                self.fail(user, failure, now);
            }
        }
    }

    /// The response is whole. `is_clean`: nothing speaks against another request on the connection.
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
        self.tell(user, index, Some(failure), now);
        self.forget(user, index);
        // Not at once: a server that refuses must not keep the others from their turn.
        self.wait_for_turn(user);
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
        self.crew.ended(user, &outcome);
    }

    /// Ends what is still under way, and lets everybody leave.
    fn abandon(&mut self) {
        let now = now_ns();
        for user in 0..self.seats.len() as u32 {
            let seat = &self.seats[user as usize];
            if is_busy(seat) {
                let phase = match self.connections.get(seat.busy as usize) {
                    Some(connection) => phase_of(connection),
                    None => Phase::Resolve,
                };
                self.fail(user, Failure::new(phase, Kind::Stopped), now);
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
