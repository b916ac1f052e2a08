//! One bound address with its connections.
//!
//! ```text
//! accept thread ─► reader thread per connection ─► (handshake) ─► receive until the end
//! call thread ───►        │
//!                         └ pump thread: writes on when the socket was full
//! ```

use std::collections::BTreeMap;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::Scope;

use sokudo_net::clock::now_ns;
use sokudo_net::tcp::{self, TcpError, TcpOptions};
use sokudo_net::unless::unless;

use super::account::{Count, Mailbox, Meter, Totals};
use super::connection::{Connection, Greeted, HANDSHAKE_BOUND, LOOK, Parting, greet};
use super::event::Event;
use super::handshake::Role;
use super::options::CoherenceBusOptions;
use super::outbox::Flushed;
use super::receive::{self, Inbox};
use super::relay::Relay;
use super::slot::Slot;
use super::values::BusAddress;

/// Connections of one bus at a time; more are closed at once.
pub const MAX_CONNECTIONS: usize = 4096;

/// Peers whose totals are remembered after they have gone.
const MAX_ENDED: usize = 4096;

/// State that all threads of a test share.
pub struct World<'w> {
    /// Options of the test.
    pub options: &'w CoherenceBusOptions,
    /// Set when the test is over.
    pub halt: &'w AtomicBool,
    /// Counts of all threads.
    pub meter: Meter,
    /// Times of all threads.
    pub mailbox: Mailbox,
    /// One per transmitter, of all buses.
    pub slots: Vec<Slot>,
    /// For the observer.
    pub events: SyncSender<Event>,
    /// With a step for each message when the operator wants to give them.
    pub steps: Option<Mutex<Receiver<()>>>,
    /// Peers that are still being called.
    pub calling: AtomicUsize,
    /// Transmitters that have not sent all they should.
    pub sending: AtomicUsize,
}

impl World<'_> {
    /// Tells the observer, if there is still one.
    pub fn say(&self, event: Event) {
        let _ = self.events.send(event);
    }

    /// True when everything is to end.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.halt.load(Ordering::Relaxed)
    }
}

/// Totals of one peer's connections.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PeerTotals {
    /// Counts of the connections.
    pub totals: Totals,
    /// Reason why the last one that should not have ended did.
    pub why: Option<String>,
}

/// One bound address.
pub struct Bus {
    /// Its address as peers are told.
    pub name: String,
    /// Its transmitters.
    pub slots: Range<usize>,
    /// Queues of its receive threads; empty when readers deal with messages themselves.
    pub inboxes: Vec<Inbox>,
    /// Messages that were sent on.
    pub relay: Mutex<Relay>,
    listener: TcpListener,
    peers: Vec<(BusAddress, SocketAddr)>,
    connections: Mutex<Vec<Arc<Connection>>>,
    /// Changes whenever the connections do.
    generation: AtomicU64,
    made: AtomicU64,
    next_hop: AtomicUsize,
    ended: Mutex<BTreeMap<String, PeerTotals>>,
}

/// A thread that panicked held the lock: the list is whole whenever it is not being changed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Bus {
    /// A bus that listens already.
    pub fn new(
        name: String,
        listener: TcpListener,
        peers: Vec<(BusAddress, SocketAddr)>,
        slots: Range<usize>,
        inboxes: Vec<Inbox>,
    ) -> Self {
        Self {
            name,
            slots,
            inboxes,
            relay: Mutex::default(),
            listener,
            peers,
            connections: Mutex::default(),
            generation: AtomicU64::new(1),
            made: AtomicU64::new(0),
            next_hop: AtomicUsize::new(0),
            ended: Mutex::default(),
        }
    }

    /// Peers that it calls, or waits for.
    pub fn peers(&self) -> &[(BusAddress, SocketAddr)] {
        &self.peers
    }

    /// Takes calls until the end.
    pub fn accept<'s>(&'s self, world: &'s World<'s>, scope: &'s Scope<'s, '_>) {
        while !world.is_over() {
            match tcp::accept(&self.listener, &TcpOptions::default(), LOOK) {
                Ok(Some((socket, from))) => self.take_call(socket, from, world, scope),
                Ok(None) => {}
                Err(TcpError::TooManyOpen { why }) => {
                    world.say(Event::Note(format!(
                        "a caller of {} waits: {why}",
                        self.name
                    )));
                    std::thread::sleep(LOOK);
                }
                Err(why) => {
                    let name = &self.name;
                    world.say(Event::Note(format!(
                        "{name} takes no calls any more: {why}"
                    )));
                    return;
                }
            }
        }
    }

    fn take_call<'s>(
        &'s self,
        socket: TcpStream,
        from: SocketAddr,
        world: &'s World<'s>,
        scope: &'s Scope<'s, '_>,
    ) {
        if lock(&self.connections).len() >= MAX_CONNECTIONS {
            let name = &self.name;
            let says = format!("{from} is sent away: {name} has {MAX_CONNECTIONS} connections");
            return world.say(Event::Note(says));
        }
        let thread = std::thread::Builder::new().name("bus-reader".into());
        let serve = move || match greet(socket, Role::Acceptor, &self.name, None, world.halt) {
            Ok(greeted) => {
                let listed = self.lists(&greeted.peer, from);
                self.serve(greeted, false, listed, world, scope);
            }
            Err(why) if !world.is_over() => {
                world.say(Event::Note(format!(
                    "{from} is not a peer of {}: {why}",
                    self.name
                )));
            }
            Err(_) => {}
        };
        if let Err(why) = thread.spawn_scoped(scope, serve) {
            world.say(Event::Note(format!(
                "{from} is sent away: no thread: {why}"
            )));
        }
    }

    /// True when a caller is one of the peers that were named: by its name, or by the address that
    /// it called from and the port in its name.
    fn lists(&self, name: &str, from: SocketAddr) -> bool {
        let port = name.rsplit_once(':').map(|(_, port)| port);
        self.peers.iter().any(|(typed, address)| {
            let same_place = address.ip() == from.ip().to_canonical()
                && port == Some(&*address.port().to_string());
            same_place || typed.to_string() == name
        })
    }

    /// Calls one peer and receives from it until the connection ends.
    pub fn call_and_serve<'s>(
        &'s self,
        peer: usize,
        world: &'s World<'s>,
        scope: &'s Scope<'s, '_>,
    ) {
        let called = self.call(peer, world);
        world.calling.fetch_sub(1, Ordering::AcqRel);
        match called {
            Ok(greeted) => self.serve(greeted, true, true, world, scope),
            // It called at the same time, and one connection is enough for it.
            Err(_) if self.is_connected_to(peer) => {}
            Err(why) => self.not_connected(peer, why, world),
        }
    }

    fn is_connected_to(&self, peer: usize) -> bool {
        let (typed, address) = &self.peers[peer];
        let names = [typed.to_string(), BusAddress::of(*address).to_string()];
        let connections = lock(&self.connections);
        connections.iter().any(|it| names.contains(&it.peer))
    }

    /// Says that a peer could not be called.
    pub fn not_connected(&self, peer: usize, why: String, world: &World<'_>) {
        let peer = self.peers[peer].0.to_string();
        self.remember(&peer, &Totals::default(), Some(why.clone()));
        world.say(Event::Disconnect {
            peer,
            on: self.name.clone(),
            why,
            fault: true,
        });
    }

    /// Calls one peer.
    pub fn call(&self, peer: usize, world: &World<'_>) -> Result<Greeted, String> {
        let (typed, address) = &self.peers[peer];
        let address = *address;
        let connect = move || tcp::connect(address, &TcpOptions::default(), HANDSHAKE_BOUND);
        let called = unless(world.halt, connect).ok_or("the test has ended")?;
        let socket = called.map_err(|why| why.to_string())?.stream;
        greet(
            socket,
            Role::Connector,
            &self.name,
            typed.sub_port,
            world.halt,
        )
    }

    fn serve<'s>(
        &'s self,
        greeted: Greeted,
        called: bool,
        target: bool,
        world: &'s World<'s>,
        scope: &'s Scope<'s, '_>,
    ) {
        let mut greeted = greeted;
        let early = std::mem::take(&mut greeted.early);
        match self.enter(greeted, called, target, world) {
            Ok(connection) => self.receive(&connection, early, world, scope),
            Err(why) => world.say(Event::Note(format!(
                "a connection of {} ended: {why}",
                self.name
            ))),
        }
    }

    /// Enters a connection that the calling thread does not serve, and starts a thread that does.
    pub fn enter_and_start<'s>(
        &'s self,
        greeted: Greeted,
        world: &'s World<'s>,
        scope: &'s Scope<'s, '_>,
    ) -> Result<Arc<Connection>, String> {
        let mut greeted = greeted;
        let early = std::mem::take(&mut greeted.early);
        let connection = self.enter(greeted, true, false, world)?;
        let served = Arc::clone(&connection);
        let thread = std::thread::Builder::new().name("bus-reader".into());
        let serve = move || self.receive(&served, early, world, scope);
        match thread.spawn_scoped(scope, serve) {
            Ok(_) => Ok(connection),
            Err(why) => {
                self.leave(&connection, world);
                Err(format!("no thread: {why}"))
            }
        }
    }

    fn enter(
        &self,
        greeted: Greeted,
        called: bool,
        target: bool,
        world: &World<'_>,
    ) -> Result<Arc<Connection>, String> {
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        let connection = Connection::new(greeted, number, called, target, world.options.receipts);
        let connection = Arc::new(connection.map_err(|why| why.to_string())?);
        let mut connections = lock(&self.connections);
        let known = connections.iter().any(|it| it.peer == connection.peer);
        connections.push(Arc::clone(&connection));
        drop(connections);
        self.generation.fetch_add(1, Ordering::Release);
        world.meter.add(Count::Connects, 1);
        if !known {
            let (peer, on) = (connection.peer.clone(), self.name.clone());
            world.say(Event::Connect { peer, on });
        }
        self.wake_transmitters(world);
        Ok(connection)
    }

    /// Receives until the connection ends, with a pump beside.
    fn receive<'s>(
        &'s self,
        connection: &Arc<Connection>,
        early: Vec<u8>,
        world: &'s World<'s>,
        scope: &'s Scope<'s, '_>,
    ) {
        let pumped = Arc::clone(connection);
        let pump = std::thread::Builder::new().name("bus-pump".into());
        let pump = pump.spawn_scoped(scope, move || self.pump(&pumped, world));
        match pump {
            Ok(_) => receive::read(self, connection, early, world),
            Err(why) => connection.close(Parting::Fault(format!("no thread: {why}"))),
        }
        self.leave(connection, world);
    }

    /// Writes on whenever a thread has found the socket full.
    fn pump(&self, connection: &Connection, world: &World<'_>) {
        while !world.is_over() && !connection.is_gone() {
            if !connection.outbox.wait_for_kick(LOOK) {
                continue;
            }
            while !world.is_over() && !connection.is_gone() {
                match connection.outbox.flush(now_ns()) {
                    Flushed::Full => connection.wait_for_room(world.options.patience_ns),
                    Flushed::Gone => connection.lost(),
                    Flushed::Busy | Flushed::Empty => break,
                }
            }
            self.wake_transmitters(world);
        }
    }

    fn leave(&self, connection: &Arc<Connection>, world: &World<'_>) {
        let mut connections = lock(&self.connections);
        connections.retain(|it| !Arc::ptr_eq(it, connection));
        let still = connections.iter().any(|it| it.peer == connection.peer);
        drop(connections);
        self.generation.fetch_add(1, Ordering::Release);
        let parting = connection.parting();
        let fault = match &parting {
            Parting::Finished => false,
            Parting::Left(_) => connection.called,
            Parting::Fault(_) => true,
        };
        let why = parting.says().to_owned();
        let totals = connection.meter.totals();
        self.remember(&connection.peer, &totals, fault.then(|| why.clone()));
        if !still && !world.is_over() {
            let (peer, on) = (connection.peer.clone(), self.name.clone());
            world.say(Event::Disconnect {
                peer,
                on,
                why,
                fault,
            });
        }
        self.wake_transmitters(world);
    }

    fn remember(&self, peer: &str, totals: &Totals, why: Option<String>) {
        let mut ended = lock(&self.ended);
        if ended.len() < MAX_ENDED || ended.contains_key(peer) {
            let known = ended.entry(peer.to_owned()).or_default();
            known.totals = known.totals.plus(totals);
            known.why = why.or(known.why.take());
        }
    }

    fn wake_transmitters(&self, world: &World<'_>) {
        for slot in &world.slots[self.slots.clone()] {
            slot.wake();
        }
    }

    /// Connections at this moment.
    pub fn connections(&self) -> Vec<Arc<Connection>> {
        lock(&self.connections).clone()
    }

    /// Peers that are connected, each once.
    pub fn connected(&self) -> u64 {
        let connections = lock(&self.connections);
        let firsts = connections.iter().enumerate().filter(|(at, it)| {
            !connections[..*at]
                .iter()
                .any(|earlier| earlier.peer == it.peer)
        });
        firsts.count() as u64
    }

    /// Totals of each peer, those that have gone and those that are there.
    pub fn totals(&self) -> BTreeMap<String, PeerTotals> {
        let mut all = lock(&self.ended).clone();
        for connection in lock(&self.connections).iter() {
            let known = all.entry(connection.peer.clone()).or_default();
            known.totals = known.totals.plus(&connection.meter.totals());
        }
        all
    }

    /// Replaces `targets` when the connections have changed since `seen`.
    pub fn refresh(&self, targets: &mut Vec<Arc<Connection>>, seen: &mut u64) {
        let generation = self.generation.load(Ordering::Acquire);
        if generation == *seen {
            return;
        }
        *seen = generation;
        targets.clear();
        for connection in lock(&self.connections).iter().filter(|it| it.target) {
            // Both ends may have called: one connection to each peer is sent over.
            if !targets.iter().any(|it| it.peer == connection.peer) {
                targets.push(Arc::clone(connection));
            }
        }
    }

    /// Connection on which a relay forwards what came over `from`: the peers take turns. `None`
    /// without another.
    pub fn next_hop(&self, from: &Arc<Connection>) -> Option<Arc<Connection>> {
        let connections = lock(&self.connections);
        let others = || {
            connections
                .iter()
                .filter(|it| it.target && !it.is_gone() && !Arc::ptr_eq(it, from))
        };
        let turn = self.next_hop.fetch_add(1, Ordering::Relaxed);
        others().nth(turn % others().count().max(1)).cloned()
    }
}
