//! The event loop: accepts connections, reads requests, and puts them into the dispatch queue.
//!
//! It sleeps in the kernel until a connection is readable. A connection whose request is being carried
//! out stays watched, because the next bytes usually come after the answer; when they come before it,
//! the connection is left out until its worker hands it back.

use std::io::{self, Read as _};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use socket2::{Domain, SockRef, Socket, Type};
use sokudo_net::wait::{AsFd as _, Interest, Trigger, Wait, Waiter};

use crate::connection::{Connection, State};
use crate::request::{Parsed, parse};
use crate::respond::{Answer, send_now};
use crate::server::{Core, TargetError};
use crate::settings::{Listen, OnFull, Settings};

/// Longest sleep: bounds are looked at so often.
const TICK: Duration = Duration::from_millis(100);
/// Sources that one call reports.
const EVENTS: usize = 256;
/// Connections that are accepted before others are read.
const ACCEPTS: usize = 64;
/// Requests that go into the queue together.
const BATCH: usize = 16;
/// Bytes that are read at once.
const ROOM: usize = 64 << 10;
/// Time for the peer to end a connection that was closed here.
const CLOSING_MS: u64 = 2000;

/// Connections beyond `listen.max_open` that are being answered 503.
const BEING_REFUSED: usize = 1024;

const LISTENER: u64 = u64::MAX;
const BELL: u64 = u64::MAX - 1;

/// Waker of the loop, with the connections that it finds then.
#[derive(Clone)]
pub(crate) struct Bell(Arc<Ringing>);

struct Ringing {
    socket: UdpSocket,
    returned: Mutex<Vec<Arc<Connection>>>,
}

impl Bell {
    fn new() -> io::Result<Self> {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        socket.connect(socket.local_addr()?)?;
        socket.set_nonblocking(true)?;
        Ok(Self(Arc::new(Ringing {
            socket,
            returned: Mutex::default(),
        })))
    }

    /// Wakes the loop.
    pub(crate) fn ring(&self) {
        // What cannot be sent finds others waiting to be read.
        let _ = self.0.socket.send(&[0]);
    }

    /// Gives a connection back to the loop.
    pub(crate) fn hand_back(&self, connection: Arc<Connection>) {
        let mut returned = self
            .0
            .returned
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        returned.push(connection);
        drop(returned);
        self.ring();
    }

    fn take(&self) -> Vec<Arc<Connection>> {
        let mut byte = [0];
        while self.0.socket.recv(&mut byte).is_ok() {}
        let mut returned = self
            .0
            .returned
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *returned)
    }
}

/// A connection's place.
struct Slot {
    connection: Arc<Connection>,
    /// Left out of the waiter until it is handed back.
    is_left_out: bool,
    /// A request has begun to arrive.
    has_begun: bool,
}

/// The loop's view of the listening socket.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Door {
    Open,
    /// Listens, and accepts nothing.
    Paused,
    /// Does not listen.
    Shut,
}

/// The loop.
pub(crate) struct EventLoop {
    at: SocketAddr,
    listener: Option<TcpListener>,
    door: Door,
    /// Nothing could be accepted: it is not tried again until the next tick.
    is_resting: bool,
    waiter: Waiter,
    bell: Bell,
    slots: Vec<Option<Slot>>,
    free: Vec<usize>,
    room: Vec<u8>,
    batch: Vec<Arc<Connection>>,
    now_ms: u64,
    last_tick_ms: u64,
}

impl EventLoop {
    /// Listens. Errors: the address cannot be had.
    pub(crate) fn new(settings: &Settings) -> Result<(Self, Bell), TargetError> {
        let at = settings.listen.address;
        let failed = |error| TargetError::Listen { at, error };
        let listener = listen(at, settings.listen.backlog).map_err(failed)?;
        let at = listener.local_addr().map_err(failed)?;
        let bell = Bell::new().map_err(TargetError::System)?;
        let waiter = Waiter::new(Wait::Epoll, Trigger::Level, EVENTS)
            .or_else(|_| Waiter::new(Wait::Block, Trigger::Level, EVENTS));
        let mut this = Self {
            at,
            listener: Some(listener),
            door: Door::Shut,
            is_resting: false,
            waiter: waiter.map_err(TargetError::System)?,
            bell: bell.clone(),
            slots: Vec::new(),
            free: Vec::new(),
            room: vec![0; ROOM],
            batch: Vec::with_capacity(BATCH),
            now_ms: 0,
            last_tick_ms: 0,
        };
        this.watch_door().map_err(TargetError::System)?;
        let bell_socket = bell.0.socket.as_fd();
        let added = this.waiter.add(bell_socket, BELL, Interest::Read);
        added.map_err(TargetError::System)?;
        Ok((this, bell))
    }

    pub(crate) fn at(&self) -> SocketAddr {
        self.at
    }

    /// The listening socket, for who looks at its queue.
    pub(crate) fn listener(&self) -> Option<TcpListener> {
        self.listener
            .as_ref()
            .and_then(|socket| socket.try_clone().ok())
    }

    /// Serves until the target ends.
    pub(crate) fn run(mut self, core: &Arc<Core>) {
        let mut seen = core.live.seen();
        let mut backlog = seen.look(&core.live).0.listen.backlog;
        while !core.stop.is_asked() {
            let Ok(count) = self.waiter.wait(TICK) else {
                return;
            };
            self.now_ms = core.now_ms();
            let (settings, _) = seen.look(&core.live);
            let listen = settings.listen.clone();
            if listen.backlog != backlog {
                backlog = listen.backlog;
                self.set_backlog(backlog);
            }
            for index in 0..count {
                let ready = self.waiter.ready(index);
                match ready.token {
                    LISTENER => self.accept(core, &listen),
                    BELL => self.take_back(core),
                    token => self.serve(core, token as usize),
                }
            }
            self.submit(core);
            if self.now_ms - self.last_tick_ms >= TICK.as_millis() as u64 {
                self.last_tick_ms = self.now_ms;
                self.tick(core, &listen);
            }
            self.mind_door(core, &listen);
        }
    }

    fn set_backlog(&self, backlog: u32) {
        if let Some(listener) = &self.listener {
            // A second call changes the length of the queue; where it does not, the first one holds.
            let _ = SockRef::from(listener).listen(backlog as i32);
        }
    }

    fn open(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    fn accept(&mut self, core: &Arc<Core>, listen: &Listen) {
        for _ in 0..ACCEPTS {
            let is_full = self.open() >= listen.max_open as usize;
            if is_full && matches!(listen.on_full, OnFull::PauseAccept | OnFull::Refuse) {
                return self.mind_door(core, listen);
            }
            let Some(listener) = &self.listener else {
                return;
            };
            match listener.accept() {
                Ok((stream, _)) if is_full => {
                    core.counts.turned_away.fetch_add(1, Ordering::Relaxed);
                    self.turn_away(core, stream, listen);
                }
                Ok((stream, _)) => {
                    // A connection that is over already is not let in.
                    let _ = self.admit(core, stream);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if is_passing(&error) => {}
                // Too many open files: the next tick tries again.
                Err(_) => {
                    core.counts.accept_errors.fetch_add(1, Ordering::Relaxed);
                    self.leave_door();
                    self.is_resting = true;
                    return;
                }
            }
        }
    }

    /// Sends a connection away for which there is no room.
    fn turn_away(&mut self, core: &Arc<Core>, stream: TcpStream, listen: &Listen) {
        let has_room = self.open() < listen.max_open as usize + BEING_REFUSED;
        if listen.on_full == OnFull::Unavailable && has_room {
            if let Ok(connection) = self.admit(core, stream) {
                self.refuse(&connection, 503);
            }
            return;
        }
        // Closing a socket that does not linger resets its connection.
        let _ = SockRef::from(&stream).set_linger(Some(Duration::ZERO));
    }

    fn admit(&mut self, core: &Arc<Core>, stream: TcpStream) -> io::Result<Arc<Connection>> {
        stream.set_nonblocking(true)?;
        stream.set_nodelay(true)?;
        let slot = self.free.last().copied().unwrap_or(self.slots.len());
        let connection = Arc::new(Connection::new(
            stream,
            slot,
            self.now_ms,
            &core.counts.input_bytes,
        ));
        self.waiter
            .add(connection.stream.as_fd(), slot as u64, Interest::Read)?;
        core.counts.accepted.fetch_add(1, Ordering::Relaxed);
        core.counts.open.fetch_add(1, Ordering::Relaxed);
        let taken = Some(Slot {
            connection: Arc::clone(&connection),
            is_left_out: false,
            has_begun: false,
        });
        match self.free.pop() {
            Some(slot) => self.slots[slot] = taken,
            None => self.slots.push(taken),
        }
        Ok(connection)
    }

    /// A connection is readable.
    fn serve(&mut self, core: &Arc<Core>, at: usize) {
        let Some(Some(slot)) = self.slots.get_mut(at) else {
            return;
        };
        let connection = Arc::clone(&slot.connection);
        match connection.state() {
            State::Reading => self.read(core, &connection),
            State::Busy if !connection.want() => self.serve(core, at),
            State::Busy | State::Wanted => {
                if !std::mem::replace(&mut slot.is_left_out, true) {
                    // A source that is not watched needs no leaving out.
                    let _ = self.waiter.remove(connection.stream.as_fd());
                }
            }
            State::Closing => self.drain(core, &connection),
        }
    }

    fn read(&mut self, core: &Arc<Core>, connection: &Arc<Connection>) {
        match (&connection.stream).read(&mut self.room) {
            Ok(0) => self.close(core, connection),
            Ok(length) => match connection.take(&self.room[..length]) {
                true => self.parse(core, connection),
                false => {
                    core.counts.turned_away.fetch_add(1, Ordering::Relaxed);
                    self.refuse(connection, 503);
                }
            },
            Err(error) if is_passing(&error) || error.kind() == io::ErrorKind::WouldBlock => {}
            Err(_) => self.close(core, connection),
        }
    }

    /// Looks whether a request is whole.
    fn parse(&mut self, core: &Arc<Core>, connection: &Arc<Connection>) {
        let mut input = connection.input();
        let parsed = parse(&input.bytes);
        let Some(Some(slot)) = self.slots.get_mut(connection.slot) else {
            return;
        };
        match parsed {
            Parsed::Unfinished => {
                if !std::mem::replace(&mut slot.has_begun, true) {
                    connection.touch(self.now_ms);
                }
            }
            Parsed::Whole(request) => {
                slot.has_begun = false;
                input.request = Some(request);
                drop(input);
                connection.set(State::Busy);
                self.batch.push(Arc::clone(connection));
                if self.batch.len() >= BATCH {
                    self.submit(core);
                }
            }
            Parsed::Bad(status) => {
                drop(input);
                core.counts.bad_requests.fetch_add(1, Ordering::Relaxed);
                self.refuse(connection, status);
            }
        }
    }

    fn submit(&mut self, core: &Arc<Core>) {
        if self.batch.is_empty() {
            return;
        }
        let rejected = core.submit(&mut self.batch);
        for connection in rejected {
            self.refuse(&connection, 503);
        }
    }

    /// Answers a connection that the loop owns, and closes it.
    fn refuse(&mut self, connection: &Arc<Connection>, status: u16) {
        send_now(&connection.stream, &Answer::bare(status));
        // The peer may be gone already.
        let _ = connection.stream.shutdown(Shutdown::Write);
        connection.touch(self.now_ms);
        connection.set(State::Closing);
        self.watch_again(connection);
    }

    fn watch_again(&mut self, connection: &Arc<Connection>) {
        let Some(Some(slot)) = self.slots.get_mut(connection.slot) else {
            return;
        };
        if std::mem::replace(&mut slot.is_left_out, false) {
            let token = connection.slot as u64;
            // What cannot be watched is closed when its time is over.
            let _ = self
                .waiter
                .add(connection.stream.as_fd(), token, Interest::Read);
        }
    }

    /// Connections whose workers are done although more had arrived.
    fn take_back(&mut self, core: &Arc<Core>) {
        for connection in self.bell.take() {
            let own = self.slots.get(connection.slot).and_then(Option::as_ref);
            if !own.is_some_and(|slot| Arc::ptr_eq(&slot.connection, &connection)) {
                continue;
            }
            self.watch_again(&connection);
            if connection.state() == State::Reading && !connection.input().bytes.is_empty() {
                self.parse(core, &connection);
            }
        }
    }

    /// Reads until the peer has closed, too: closing first would take the answer from it.
    fn drain(&mut self, core: &Arc<Core>, connection: &Arc<Connection>) {
        match (&connection.stream).read(&mut self.room) {
            Ok(length) if length > 0 => {}
            Err(error) if is_passing(&error) || error.kind() == io::ErrorKind::WouldBlock => {}
            _ => self.close(core, connection),
        }
    }

    fn close(&mut self, core: &Arc<Core>, connection: &Arc<Connection>) {
        let Some(place) = self.slots.get_mut(connection.slot) else {
            return;
        };
        if let Some(slot) = place.take() {
            if !slot.is_left_out {
                // What is not watched is forgotten with its descriptor.
                let _ = self.waiter.remove(connection.stream.as_fd());
            }
            self.free.push(connection.slot);
            core.counts.open.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Looks at all bounds in time.
    fn tick(&mut self, core: &Arc<Core>, listen: &Listen) {
        for connection in core.workers.expired() {
            self.refuse(&connection, 503);
        }
        let ms = |seconds: f64| (seconds * 1e3) as u64;
        let (open_ms, request_ms) = (ms(listen.open_timeout_s), ms(listen.request_timeout_s));
        let mut late = Vec::new();
        for slot in self.slots.iter().flatten() {
            let state = slot.connection.state();
            let bound_ms = match (state, slot.has_begun) {
                (State::Reading, true) => request_ms,
                (State::Reading, false) => open_ms,
                (State::Closing, _) => CLOSING_MS,
                (State::Busy | State::Wanted, _) => continue,
            };
            if self.now_ms.saturating_sub(slot.connection.since_ms()) > bound_ms {
                late.push((Arc::clone(&slot.connection), state, slot.has_begun));
            }
        }
        for (connection, state, has_begun) in late {
            // Only this loop gives it to a worker.
            if state == State::Reading {
                core.counts.timeouts.fetch_add(1, Ordering::Relaxed);
            }
            match state == State::Reading && has_begun {
                true => self.refuse(&connection, 408),
                false => self.close(core, &connection),
            }
        }
        self.is_resting = false;
    }

    /// Opens and closes the listening socket as the limit of connections says.
    fn mind_door(&mut self, core: &Arc<Core>, listen: &Listen) {
        if self.is_resting {
            return;
        }
        let is_full = self.open() >= listen.max_open as usize;
        let wanted = match listen.on_full {
            OnFull::PauseAccept if is_full => Door::Paused,
            OnFull::Refuse if is_full => Door::Shut,
            OnFull::PauseAccept | OnFull::Refuse | OnFull::Reset | OnFull::Unavailable => {
                Door::Open
            }
        };
        match (self.door, wanted) {
            (Door::Open, Door::Paused) => self.leave_door(),
            (Door::Open | Door::Paused, Door::Shut) => {
                self.leave_door();
                self.listener = None;
                self.door = Door::Shut;
                core.set_listener(None);
            }
            (Door::Paused | Door::Shut, Door::Open) => {
                if self.listener.is_none() {
                    // Another tick tries again when somebody else has the port.
                    self.listener = crate::event_loop::listen(self.at, listen.backlog).ok();
                    core.set_listener(self.listener());
                }
                self.watch_door_or_wait();
            }
            (Door::Shut, Door::Paused) | (Door::Open, Door::Open) => {}
            (Door::Paused, Door::Paused) | (Door::Shut, Door::Shut) => {}
        }
    }

    fn leave_door(&mut self) {
        if let Some(listener) = &self.listener
            && self.door == Door::Open
        {
            // It is watched as long as the door is open.
            let _ = self.waiter.remove(listener.as_fd());
            self.door = Door::Paused;
        }
    }

    fn watch_door(&mut self) -> io::Result<()> {
        if let Some(listener) = &self.listener {
            self.waiter
                .add(listener.as_fd(), LISTENER, Interest::Read)?;
            self.door = Door::Open;
        }
        Ok(())
    }

    fn watch_door_or_wait(&mut self) {
        // The next tick tries again.
        let _ = self.watch_door();
    }
}

/// A listening socket with this length of its queue.
fn listen(at: SocketAddr, backlog: u32) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(at), Type::STREAM, None)?;
    // On Windows the same name lets two programs share a port.
    #[cfg(unix)]
    socket.set_reuse_address(true)?;
    socket.bind(&at.into())?;
    socket.listen(backlog as i32)?;
    socket.set_nonblocking(true)?;
    Ok(socket.into())
}

fn is_passing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::Interrupted | io::ErrorKind::ConnectionAborted
    )
}
