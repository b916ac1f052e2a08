//! The server side of a direct connection: accepts and authenticates callers.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use sokudo_model::Text;
use sokudo_net::tls::{self, Identity, TlsError, Writer};
use sokudo_wire::ticket::EXPORTER_LABEL;
use sokudo_wire::{
    Answer, ConversationId, Decoder, Key, KeyId, MAX_FRAME_BEFORE_TICKET, MAX_MARKED, Mark,
    PROTOCOL_VERSION, Ticket, TicketError, Verdict, framing,
};

use super::lasting::{Lasting, LastingSource, Next};
use super::line_log::LineLog;
use super::{NAME_OPEN, NAME_WITH_KEY, NoFrame, PRODUCT, read_frame};
use crate::agent::{Client, Factory};
use crate::carried::{self, start_failed};
use crate::error::BusError;
use crate::latch::Latch;
use crate::pipe::TlsSource;

/// Longest time of a caller's handshake and ticket together.
const GREETING_BOUND: Duration = Duration::from_secs(5);

/// Connections at once that have not shown a valid ticket. One more takes the place of another.
const MAX_STRANGERS: usize = 64;

/// Time in which a client may come back: longer than a client tries.
const KEEP: Duration = Duration::from_secs(20);

/// Longest wait of `stop` until all handlers are dropped.
const STOP_BOUND: Duration = Duration::from_secs(10);

/// Pause after a failed accept, for example when the process has no file descriptor left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Receives log lines: which callers connected, which were refused and why.
pub type Log = Arc<dyn Fn(&Text) + Send + Sync>;

/// Admission rules of a server.
#[derive(Clone)]
pub struct ServerPolicy {
    /// Callers must have this key. Without one, every caller that reaches the port is accepted.
    pub key: Option<Key>,
    /// Without a key: serve strangers on other addresses than loopback.
    pub open: bool,
    /// Clients served at once.
    pub max_clients: u16,
    /// A client whose connection was cut may come back for so long, and goes on where it was.
    pub keep: Duration,
    /// Receives lines about callers; bounded in length and number.
    pub log: Option<Log>,
}

impl Default for ServerPolicy {
    /// No key, loopback only, 8 clients, kept for 20 s after a cut, no log.
    fn default() -> Self {
        Self {
            key: None,
            open: false,
            max_clients: 8,
            keep: KEEP,
            log: None,
        }
    }
}

/// A listening agent. Dropping it is [`Server::stop`].
pub struct Server {
    house: Arc<House>,
    listener: TcpListener,
    address: SocketAddr,
    accepting: Mutex<Option<JoinHandle<()>>>,
}

impl Server {
    /// Listens on an address; port 0 lets the system choose. `factory` makes one handler per
    /// client, on a thread of that client.
    ///
    /// Errors: [`BusError::Unguarded`] for an address that strangers reach, without a key and
    /// without `open`; [`BusError::PortInUse`], [`BusError::Bind`], [`BusError::Start`].
    pub fn bind(
        address: SocketAddr,
        policy: ServerPolicy,
        factory: Factory,
    ) -> Result<Self, BusError> {
        if policy.key.is_none() && !policy.open && !address.ip().to_canonical().is_loopback() {
            let address = address.to_string();
            return Err(BusError::Unguarded { address });
        }
        let identity = identity_of(policy.key.as_ref())?;
        let bound = TcpListener::bind(address).and_then(|listener| {
            let own = listener.local_addr()?;
            Ok((listener.try_clone()?, listener, own))
        });
        let (accepting, listener, own) = bound.map_err(|why| bind_failed(address, &why))?;
        let house = Arc::new(House {
            identity,
            key: policy.key,
            max_clients: policy.max_clients,
            keep: policy.keep,
            log: LineLog::new(policy.log),
            factory,
            strangers: Mutex::default(),
            stopping: AtomicBool::new(false),
            pause: Latch::default(),
            rooms: Mutex::default(),
            vacated: Condvar::new(),
        });
        let inside = Arc::clone(&house);
        let thread = thread::Builder::new()
            .name("direct-accept".into())
            .spawn(move || accept_all(&inside, &accepting))
            .map_err(|why| start_failed("start-thread-accept", why))?;
        Ok(Self {
            house,
            listener,
            address: own,
            accepting: Mutex::new(Some(thread)),
        })
    }

    /// The address at which it listens, with the port that the system chose.
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// Clients being served now.
    pub fn clients(&self) -> usize {
        self.house.rooms().open.len()
    }

    /// Stops listening, disconnects all clients and waits at most 10 s until their handlers are
    /// dropped. True when all are. May be called twice.
    pub fn stop(&self) -> bool {
        self.house.stopping.store(true, Ordering::Release);
        self.house.pause.open();
        let accepting = self
            .accepting
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(thread) = accepting {
            wake(&self.listener, self.address);
            // A panic there was already reported on stderr.
            let _ = thread.join();
        }
        self.house.empty()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

fn identity_of(key: Option<&Key>) -> Result<Identity, BusError> {
    let identity = match key {
        Some(key) => {
            Identity::from_seed(&key.server_seed(), &format!("{NAME_WITH_KEY}{}", key.id()))
        }
        None => Identity::ephemeral(NAME_OPEN),
    };
    identity.map_err(|why| BusError::Start {
        what: Text::new("start-server"),
        why: why.text(),
    })
}

fn bind_failed(address: SocketAddr, why: &io::Error) -> BusError {
    let address = address.to_string();
    match why.kind() {
        io::ErrorKind::AddrInUse => BusError::PortInUse { address },
        _ => BusError::Bind {
            address,
            why: Text::words(why.to_string()),
        },
    }
}

/// Ends a blocked accept: Linux does it on shutdown, other systems need a caller.
fn wake(listener: &TcpListener, address: SocketAddr) {
    let socket = socket2::SockRef::from(listener);
    if socket.shutdown(std::net::Shutdown::Both).is_ok() {
        return;
    }
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    // A failure means that connections are no longer accepted.
    let _ = TcpStream::connect_timeout(&SocketAddr::new(ip, address.port()), GREETING_BOUND);
}

/// State that all threads of a server share.
struct House {
    identity: Identity,
    key: Option<Key>,
    max_clients: u16,
    keep: Duration,
    log: LineLog,
    factory: Factory,
    strangers: Mutex<Strangers>,
    stopping: AtomicBool,
    pause: Latch,
    rooms: Mutex<Rooms>,
    vacated: Condvar,
}

/// The clients inside.
#[derive(Default)]
struct Rooms {
    last: u64,
    open: BTreeMap<u64, Arc<Lasting>>,
}

impl Rooms {
    /// True when there is room for one more; the session that has waited longest for a new connection is dropped.
    fn make_room(&self, max: usize) -> bool {
        let cut = self
            .open
            .values()
            .filter_map(|one| Some((one.cut_at()?, one)));
        let oldest = cut.min_by_key(|(at, _)| *at);
        match oldest {
            _ if self.open.len() < max => true,
            Some((_, one)) if self.open.len() < 2 * max => {
                one.close(Text::new("error-link-others-came"));
                true
            }
            _ => false,
        }
    }
}

impl House {
    fn strangers(&self) -> MutexGuard<'_, Strangers> {
        self.strangers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn rooms(&self) -> MutexGuard<'_, Rooms> {
        self.rooms.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }

    /// Takes a client in, unless the house is full or closing.
    fn enter(self: &Arc<Self>, client: &Arc<Lasting>) -> Option<Room> {
        let mut rooms = self.rooms();
        if self.is_stopping() || !rooms.make_room(usize::from(self.max_clients)) {
            return None;
        }
        rooms.last += 1;
        let number = rooms.last;
        rooms.open.insert(number, Arc::clone(client));
        Some(Room {
            house: Arc::clone(self),
            number,
        })
    }

    /// The client of this conversation.
    fn find(&self, conversation: &ConversationId) -> Option<Arc<Lasting>> {
        let rooms = self.rooms();
        let found = rooms.open.values().find(|one| one.id() == conversation);
        found.map(Arc::clone)
    }

    /// Disconnects all clients and waits until they have left; false when that takes too long.
    fn empty(&self) -> bool {
        let clients: Vec<_> = self.rooms().open.values().cloned().collect();
        clients.iter().for_each(|one| one.close(stops()));
        let (rooms, _) = self
            .vacated
            .wait_timeout_while(self.rooms(), STOP_BOUND, |rooms| !rooms.open.is_empty())
            .unwrap_or_else(PoisonError::into_inner);
        rooms.open.is_empty()
    }
}

/// A client's place; dropped when its handler is.
struct Room {
    house: Arc<House>,
    number: u64,
}

impl Drop for Room {
    fn drop(&mut self) {
        self.house.rooms().open.remove(&self.number);
        self.house.vacated.notify_all();
    }
}

/// The callers whose ticket has not been checked yet, in the order in which they came.
#[derive(Default)]
struct Strangers {
    last: u64,
    waiting: BTreeMap<u64, (IpAddr, TcpStream)>,
}

impl Strangers {
    /// Connection that is closed for one more when all places are taken: the oldest of the address with the
    /// most of them. A peer with a ticket shows it at once, so connections that only wait cannot keep it out.
    fn in_the_way(&self) -> Option<u64> {
        if self.waiting.len() < MAX_STRANGERS {
            return None;
        }
        let mut crowds: BTreeMap<IpAddr, usize> = BTreeMap::new();
        for (from, _) in self.waiting.values() {
            *crowds.entry(*from).or_default() += 1;
        }
        let (crowd, _) = crowds.into_iter().max_by_key(|(_, count)| *count)?;
        let mut oldest = self.waiting.iter().filter(|(_, (from, _))| *from == crowd);
        oldest.next().map(|(number, _)| *number)
    }
}

/// Address by which callers are counted: neighbours in one network of IPv6 are one.
fn neighbourhood(ip: IpAddr) -> IpAddr {
    match ip.to_canonical() {
        IpAddr::V6(ip) => Ipv6Addr::from_bits(ip.to_bits() >> 64 << 64).into(),
        v4 => v4,
    }
}

/// The place of a caller whose ticket has not been checked yet.
struct Doorstep {
    house: Arc<House>,
    number: u64,
}

impl Doorstep {
    /// A place for this caller; another one may have to leave. `None` when the connection is gone.
    fn take(house: &Arc<House>, tcp: &TcpStream, ip: IpAddr) -> Option<Self> {
        let (from, tcp) = (neighbourhood(ip), tcp.try_clone().ok()?);
        let mut strangers = house.strangers();
        if let Some(number) = strangers.in_the_way()
            && let Some((_, other)) = strangers.waiting.remove(&number)
        {
            // Its thread sees the end of its connection.
            let _ = other.shutdown(std::net::Shutdown::Both);
        }
        strangers.last += 1;
        let number = strangers.last;
        strangers.waiting.insert(number, (from, tcp));
        Some(Self {
            house: Arc::clone(house),
            number,
        })
    }
}

impl Drop for Doorstep {
    fn drop(&mut self) {
        self.house.strangers().waiting.remove(&self.number);
    }
}

fn accept_all(house: &Arc<House>, listener: &TcpListener) {
    loop {
        let accepted = listener.accept();
        if house.is_stopping() {
            return;
        }
        match accepted {
            Ok((tcp, address)) => admit(house, tcp, address),
            Err(why) => {
                house.log.say(Text::new("log-unaccepted").with("why", why));
                house.pause.wait(ACCEPT_PAUSE);
            }
        }
    }
}

/// Gives a connection a thread of its own and a place on the doorstep.
fn admit(house: &Arc<House>, tcp: TcpStream, address: SocketAddr) {
    let Some(doorstep) = Doorstep::take(house, &tcp, address.ip()) else {
        house.log.say(away(address, Text::new("log-no-file")));
        return;
    };
    let inside = Arc::clone(house);
    let spawned = thread::Builder::new()
        .name("direct-client".into())
        .spawn(move || receive_caller(&inside, tcp, address, doorstep));
    if let Err(why) = spawned {
        let why = Text::new("log-no-thread").with("why", why);
        house.log.say(away(address, why));
    }
}

/// Serves one connection from the first byte to the last.
fn receive_caller(house: &Arc<House>, tcp: TcpStream, address: SocketAddr, doorstep: Doorstep) {
    tls::watch_peer(&tcp);
    match greet(house, tcp, doorstep) {
        Ok(Greeted::Back(name)) => {
            let who = format!("{name} ({address})");
            house.log.say(Text::new("log-back").word("who", who));
        }
        Ok(Greeted::New(name, lasting, room)) => {
            let client = Client {
                name,
                address: address.to_string(),
            };
            let who = format!("{} ({address})", client.name);
            house.log.say(Text::new("log-come").word("who", &who));
            let mut source = LastingSource::new(Arc::clone(&lasting), Next::Wait(house.keep));
            let mut why = carried::serve(client, &lasting, &mut source, &house.factory);
            if house.is_stopping() {
                why = stops();
            }
            house
                .log
                .say(Text::new("log-left").word("who", who).text("why", why));
            drop(room);
        }
        Err(why) => house.log.say(away(address, why)),
    }
}

/// The log line of a caller that was turned away.
fn away(address: SocketAddr, why: Text) -> Text {
    Text::new("log-turned-away")
        .with("who", address)
        .text("why", why)
}

fn stops() -> Text {
    Text::new("error-link-server-stops")
}

/// An admitted client.
enum Greeted {
    /// Its name, its conversation, its slot.
    New(String, Arc<Lasting>, Room),
    /// Its name: it goes on with its conversation, on the threads that are there.
    Back(String),
}

/// Handshake, ticket, answer: the caller's name and connection, or why it may not come in.
fn greet(house: &Arc<House>, tcp: TcpStream, doorstep: Doorstep) -> Result<Greeted, Text> {
    let deadline = Instant::now() + GREETING_BOUND;
    let mut session =
        tls::accept(tcp, &house.identity, deadline).map_err(|why| turned_away(&why))?;
    let channel = session.export(EXPORTER_LABEL).map_err(|why| why.text())?;
    let mut decoder = Decoder::new(MAX_FRAME_BEFORE_TICKET);
    let bytes =
        read_frame(&mut session.reader, &mut decoder, deadline).map_err(|why| match why {
            NoFrame::Tls(why) => Text::new("log-no-ticket").text("why", why.text()),
            NoFrame::Frame(why) => Text::new("log-no-ticket-but").text("what", why.text()),
        })?;
    let writer = session.writer.clone();
    let refuse = |verdict: Verdict| {
        answer(house, verdict, &writer, deadline)?;
        writer.close();
        Err(verdict.text())
    };
    let ticket = match check_ticket(&bytes, house.key.as_ref(), &channel) {
        Ok(ticket) => ticket,
        Err(verdict) => return refuse(verdict),
    };
    // No stranger any more: nobody takes its place.
    drop(doorstep);
    let bytes = read_frame(&mut session.reader, &mut decoder, deadline)
        .map_err(|_| Text::new("log-no-purpose"))?;
    decoder.set_max(MAX_MARKED);
    let source = TlsSource::new(session.reader, decoder);
    match Mark::from_payload(bytes) {
        Some(Mark::Begin(conversation)) => {
            let lasting = Lasting::new(conversation, writer.clone(), source);
            let Some(room) = house.enter(&lasting) else {
                let max_clients = house.max_clients;
                return refuse(Verdict::Busy { max_clients });
            };
            answer(house, Verdict::Accepted, &writer, deadline)?;
            Ok(Greeted::New(ticket.name, lasting, room))
        }
        Some(Mark::Resume {
            conversation,
            taken,
        }) => {
            answer(house, Verdict::Accepted, &writer, deadline)?;
            go_on(house, &conversation, taken, &writer, source)?;
            Ok(Greeted::Back(ticket.name))
        }
        _ => refuse(Verdict::Garbled),
    }
}

/// Goes on with a conversation over a new connection.
fn go_on(
    house: &House,
    conversation: &ConversationId,
    taken: u64,
    writer: &Writer,
    source: TlsSource,
) -> Result<(), Text> {
    let say = |mark: Mark| {
        let frame = mark.to_frame().map_err(|why| why.text())?;
        let sent = writer.send(&frame, GREETING_BOUND);
        sent.map_err(|why| answer_untaken(&why))
    };
    let Some(lasting) = house.find(conversation) else {
        say(Mark::Unknown)?;
        writer.close();
        return Err(Text::new("log-ended-before"));
    };
    let (connection, own_taken) = lasting.pause();
    say(Mark::Resumed { taken: own_taken })?;
    let resumed = lasting.resume(connection, writer, source, taken);
    resumed.inspect_err(|_| writer.close())
}

/// The ticket, or what to answer instead.
fn check_ticket(bytes: &[u8], key: Option<&Key>, channel: &[u8; 32]) -> Result<Ticket, Verdict> {
    let claimed = Ticket::key_of(bytes).map_err(|_| Verdict::Garbled)?;
    let own = key.map_or(KeyId::NONE, Key::id);
    match claimed {
        claimed if claimed == own => {}
        KeyId::NONE => return Err(Verdict::KeyNeeded),
        _ if key.is_none() => return Err(Verdict::KeyUnknown),
        _ => return Err(Verdict::WrongKey),
    }
    let ticket = Ticket::open(bytes, key, channel).map_err(|why| match why {
        TicketError::Tag => Verdict::WrongKey,
        TicketError::Magic | TicketError::Garbled => Verdict::Garbled,
    })?;
    match ticket.protocol {
        PROTOCOL_VERSION => Ok(ticket),
        _ => Err(Verdict::Version),
    }
}

/// Sends the answer; strangers do not learn which version listens here.
fn answer(house: &House, verdict: Verdict, writer: &Writer, deadline: Instant) -> Result<(), Text> {
    let proven = matches!(
        verdict,
        Verdict::Accepted | Verdict::Version | Verdict::Busy { .. }
    );
    let tell = proven || house.key.is_none();
    let answer = Answer {
        protocol: if tell { PROTOCOL_VERSION } else { 0 },
        product: if tell { PRODUCT } else { "" }.into(),
        verdict,
    };
    let frame =
        framing::encode(&answer.to_payload(), MAX_FRAME_BEFORE_TICKET).map_err(|why| why.text())?;
    let left = deadline.saturating_duration_since(Instant::now());
    writer
        .send(&frame, left)
        .map_err(|why| answer_untaken(&why))
}

fn answer_untaken(why: &TlsError) -> Text {
    Text::new("log-answer-untaken").text("why", why.text())
}

/// The meaning of a failed handshake, for the log.
fn turned_away(why: &TlsError) -> Text {
    match why {
        TlsError::NotTls => Text::new("log-not-tls"),
        TlsError::NotSokudo => Text::new("log-not-sokudo"),
        TlsError::Closed => Text::new("log-left-early"),
        TlsError::TimedOut => {
            Text::new("log-no-handshake").with("seconds", GREETING_BOUND.as_secs())
        }
        TlsError::Alert(alert) => Text::new("log-refused-us").word("alert", alert),
        why => why.text(),
    }
}
