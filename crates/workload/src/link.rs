//! Connections that carry messages, over any transport.
//!
//! ```text
//! Caller ──call──► Link ◄──admit── Listening     a byte stream: tcp · mptcp · tls · quic · unix · shm
//!                   │ send · receive             or one datagram per message: udp
//!                   └ Solo: one thread waits for one link (block, epoll, spin)
//! ```
//!
//! Both ends of a flow's first connection prove that they hold its secret ([`crate::consent`]). Later
//! ones show the ticket first; a connection without it is closed.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream, UdpSocket};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize, Serializer};
use sokudo_net::clock::now_ns;
use sokudo_net::stream::{
    Connector, Endpoint, Incoming, Listener, Stream, StreamError, StreamKind, StreamOptions,
};
use sokudo_net::tcp::{TcpError, TcpOptions};
use sokudo_net::tls::{Identity, PublicKey, Trust};
use sokudo_net::udp;
use sokudo_net::unix::Name;
use sokudo_net::wait::{self, AsFd, BorrowedFd, Interest, Trigger, Wait, Waiter};

use crate::choice::Choice;
use crate::consent;
use crate::ports::BindError;

/// A connection that has not shown its ticket after this time makes room for the next one.
pub(crate) const ADMIT_BOUND: Duration = Duration::from_secs(1);
/// The same for one whose ends prove themselves, which takes two round trips.
const PROOF_BOUND: Duration = Duration::from_secs(3);
/// A peer that takes nothing for this long is dead.
pub(crate) const WRITE_BOUND: Duration = Duration::from_secs(10);
/// Looks at a silent socket between two yields of a spinning thread.
const LOOKS_PER_YIELD: u32 = 16;
/// Bytes of a ticket.
const TICKET_BYTES: usize = 8;

/// Carrier of the bytes between two hosts. Each load takes some of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// TCP; small messages leave at once (no Nagle).
    Tcp,
    /// TCP over several paths at once, where the kernel has it.
    Mptcp,
    /// TLS 1.3 over TCP.
    Tls,
    /// One stream of a QUIC connection.
    Quic,
    /// UDP, one datagram per message.
    Udp,
    /// A socket of this host; both ends must be on it.
    Unix,
    /// Memory that both ends share; both must be on this host.
    Shm,
    /// An RDMA device (InfiniBand, RoCE).
    Rdma,
}

impl Choice for Transport {
    fn name(self) -> &'static str {
        match self {
            Transport::Rdma => "rdma",
            other => other.kind().map_or("udp", StreamKind::name),
        }
    }
}

impl Serialize for Transport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl Transport {
    /// The kind of byte stream; `None` for datagrams. RDMA devices find each other over TCP.
    pub fn kind(self) -> Option<StreamKind> {
        match self {
            Transport::Tcp | Transport::Rdma => Some(StreamKind::Tcp),
            Transport::Mptcp => Some(StreamKind::Mptcp),
            Transport::Tls => Some(StreamKind::Tls),
            Transport::Quic => Some(StreamKind::Quic),
            Transport::Udp => None,
            Transport::Unix => Some(StreamKind::Unix),
            Transport::Shm => Some(StreamKind::Shm),
        }
    }

    /// True when bytes on the way cannot be read by others.
    pub fn is_encrypted(self) -> bool {
        self.kind().is_some_and(StreamKind::encrypted)
    }

    /// True when one thread can wait for many connections of this kind at once.
    pub fn can_be_watched(self) -> bool {
        !matches!(self, Transport::Quic | Transport::Shm)
    }

    /// True when a write can hand over a part and return at once.
    pub fn writes_in_parts(self) -> bool {
        self.can_be_watched() && self != Transport::Tls
    }
}

/// Place at which one flow is received, as told to the host that sends it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Place {
    /// A port of the host.
    Port(u16),
    /// A socket file, on the same host only.
    Path(PathBuf),
}

impl Place {
    /// The endpoint to call when the host has this address.
    pub fn endpoint(&self, host: impl FnOnce(u16) -> Option<SocketAddr>) -> Option<Endpoint> {
        match self {
            Place::Port(port) => host(*port).map(Endpoint::Ip),
            Place::Path(path) => Some(Endpoint::Local(Name::Path(path.clone()))),
        }
    }
}

/// Reason why no connection was established.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// No byte stream.
    #[error(transparent)]
    Stream(#[from] StreamError),
    /// No socket for datagrams.
    #[error("cannot send datagrams to {0}: {1}")]
    Udp(Endpoint, io::Error),
}

impl CallError {
    /// True when every local port towards the peer is taken.
    pub fn is_ports_exhausted(&self) -> bool {
        matches!(
            self,
            CallError::Stream(StreamError::Tcp(TcpError::PortsExhausted { .. }))
        )
    }
}

impl BindError for CallError {
    fn is_in_use(&self) -> bool {
        match self {
            CallError::Stream(StreamError::Tcp(TcpError::AddressInUse { .. })) => true,
            CallError::Stream(StreamError::Local { why, .. }) | CallError::Udp(_, why) => {
                why.is_in_use()
            }
            CallError::Stream(_) => false,
        }
    }
}

/// One end of a connection.
pub enum Link {
    /// A byte stream.
    Stream(Box<dyn Stream>),
    /// A socket that is connected to one peer.
    Udp(UdpSocket),
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Link::Stream(stream) => stream.kind().name(),
            Link::Udp(_) => "udp",
        })
    }
}

impl Link {
    /// Hands over bytes: a datagram or a part of a stream.
    #[inline]
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Link::Stream(stream) => stream.write(bytes),
            Link::Udp(socket) => socket.send(bytes),
        }
    }

    /// Hands over all bytes, waiting while the peer does not take them, a bounded time.
    #[inline]
    pub fn send_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Link::Stream(stream) => stream.write_all(bytes),
            // What the system does not take is lost, as on the way.
            Link::Udp(socket) => socket.send(bytes).map(drop).or(Ok(())),
        }
    }

    /// Takes what is there: a datagram or some bytes; 0 when the peer has closed a stream.
    ///
    /// Errors: see [`is_silence`] when nothing came within the bound.
    #[inline]
    pub fn receive(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self {
            Link::Stream(stream) => stream.read(out),
            Link::Udp(socket) => socket.recv(out),
        }
    }

    /// The socket of datagrams.
    pub fn datagrams(&self) -> Option<&UdpSocket> {
        match self {
            Link::Udp(socket) => Some(socket),
            Link::Stream(_) => None,
        }
    }

    /// True for datagrams: each stands for itself.
    #[inline]
    pub fn is_datagram(&self) -> bool {
        matches!(self, Link::Udp(_))
    }

    /// Bytes that a receive gives although the source is silent.
    #[inline]
    pub fn buffered(&self) -> usize {
        match self {
            Link::Stream(stream) => stream.buffered(),
            Link::Udp(_) => 0,
        }
    }

    /// Source that a waiter can watch.
    ///
    /// Errors: this kind waits only in its own `receive`.
    pub fn source(&self) -> io::Result<BorrowedFd<'_>> {
        match self {
            Link::Stream(stream) => stream.source().ok_or_else(|| {
                io::Error::new(io::ErrorKind::Unsupported, "many cannot be watched at once")
            }),
            Link::Udp(socket) => Ok(socket.as_fd()),
        }
    }

    /// Makes receives return at once, and sends too where the kind can.
    pub fn never_wait(&mut self) -> io::Result<()> {
        match self {
            Link::Udp(socket) => socket.set_nonblocking(true),
            Link::Stream(stream) => {
                stream.set_read_bound(Duration::ZERO)?;
                match stream.set_write_bound(Duration::ZERO) {
                    Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                        stream.set_write_bound(WRITE_BOUND)
                    }
                    done => done,
                }
            }
        }
    }

    /// The TCP connection below, for its state.
    pub fn tcp(&self) -> Option<&TcpStream> {
        match self {
            Link::Stream(stream) => stream.tcp(),
            Link::Udp(_) => None,
        }
    }
}

/// A link and how long its parts took.
pub struct Called {
    /// The connection.
    pub link: Link,
    /// From the call to the established connection, nanoseconds; `None` where it is one with the
    /// handshake (QUIC).
    pub connect_ns: Option<u64>,
    /// The handshake above it, nanoseconds; `None` without one.
    pub handshake_ns: Option<u64>,
}

/// Calls one peer, as often as wanted.
pub struct Caller {
    connector: Option<Connector>,
    peer: Endpoint,
}

impl Caller {
    /// Prepares calls to `peer`; where the transport has keys, only the owner of `key` is accepted.
    pub fn new(
        transport: Transport,
        peer: Endpoint,
        key: Option<Vec<u8>>,
        tcp: &TcpOptions,
    ) -> Result<Self, CallError> {
        let options = StreamOptions {
            tcp: tcp.clone(),
            // Without a key every peer is refused: an empty one matches no certificate.
            trust: Trust::Pinned(PublicKey::from_spki(key.unwrap_or_default())),
            ..StreamOptions::default()
        };
        let connector = transport.kind().map(|kind| Connector::new(kind, options));
        Ok(Self {
            connector: connector.transpose()?,
            peer,
        })
    }

    /// Name of the peer, for people.
    pub fn peer(&self) -> String {
        self.peer.to_string()
    }

    /// Calls; everything within the bound. The ticket is not shown yet.
    pub fn call(&self, bound: Duration) -> Result<Called, CallError> {
        if let Some(connector) = &self.connector {
            let connected = connector.connect(&self.peer, bound)?;
            return Ok(Called {
                link: Link::Stream(connected.stream),
                connect_ns: connected.transport_ns,
                handshake_ns: connected.secure_ns,
            });
        }
        let failed = |error| CallError::Udp(self.peer.clone(), error);
        let Endpoint::Ip(peer) = &self.peer else {
            return Err(failed(io::ErrorKind::InvalidInput.into()));
        };
        let any: IpAddr = match peer {
            SocketAddr::V4(_) => [0u8; 4].into(),
            SocketAddr::V6(_) => [0u8; 16].into(),
        };
        let socket = udp::bind(SocketAddr::new(any, 0)).map_err(failed)?;
        socket.connect(peer).map_err(failed)?;
        Ok(Called {
            link: Link::Udp(socket),
            connect_ns: None,
            handshake_ns: None,
        })
    }
}

/// A bound place at which one flow arrives.
pub enum Listening {
    /// Connections.
    Streams(Box<Listener>),
    /// Datagrams.
    Udp(UdpSocket),
}

impl Listening {
    /// Binds a place for one flow. `identity` for TLS and QUIC; `path` for kinds of one host.
    pub fn bind(
        transport: Transport,
        address: SocketAddr,
        identity: Option<Identity>,
        path: PathBuf,
        tcp: &TcpOptions,
    ) -> Result<Self, CallError> {
        let Some(kind) = transport.kind() else {
            let failed = |error| CallError::Udp(Endpoint::Ip(address), error);
            return udp::bind(address).map(Listening::Udp).map_err(failed);
        };
        let local = match kind.same_host() {
            true => Endpoint::Local(Name::Path(path)),
            false => Endpoint::Ip(address),
        };
        let options = StreamOptions {
            tcp: tcp.clone(),
            identity,
            ..StreamOptions::default()
        };
        let listener = Listener::bind(kind, &local, &options)?;
        Ok(Listening::Streams(Box::new(listener)))
    }

    /// Place at which callers find it; `None` when the system does not say.
    pub fn place(&self) -> Option<Place> {
        let local = match self {
            Listening::Streams(listener) => listener.local().ok()?,
            Listening::Udp(socket) => Endpoint::Ip(socket.local_addr().ok()?),
        };
        match local {
            Endpoint::Ip(address) => Some(Place::Port(address.port())),
            Endpoint::Local(Name::Path(path)) => Some(Place::Path(path)),
            Endpoint::Local(Name::Abstract(_)) => None,
        }
    }
}

/// Does what is left of a caller's set-up.
fn establish(incoming: Incoming) -> Result<Link, CallError> {
    Ok(Link::Stream(incoming.establish(ADMIT_BOUND)?))
}

/// A connection of a flow that was admitted.
pub enum Admitted {
    /// The first: both of its ends have proven that they hold the flow's secret.
    Proven(Link),
    /// Another, which has shown the flow's ticket.
    Shown(Link),
}

/// Lets a caller prove that it holds the flow's secret, or show its ticket: whichever it begins with.
pub fn admit_any(incoming: Incoming, flow: u32, ticket: u64) -> io::Result<Admitted> {
    let mut link = establish(incoming).map_err(io::Error::other)?;
    let mut begin = [0u8; TICKET_BYTES];
    let mut stream = Bounded::new(&mut link)?;
    stream.read_exact(&mut begin)?;
    if begin == *consent::MAGIC {
        let ticket_of = |asked| (asked == flow).then_some(ticket);
        let unread = &begin[..];
        consent::answer(&mut Begun { unread, stream }, ticket_of)?;
        return Ok(Admitted::Proven(link));
    }
    match u64::from_be_bytes(begin) == ticket {
        true => Ok(Admitted::Shown(link)),
        false => Err(io::ErrorKind::PermissionDenied.into()),
    }
}

/// A stream of which the first bytes have been read.
struct Begun<'a> {
    unread: &'a [u8],
    stream: Bounded<'a>,
}

impl Read for Begun<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self.unread.is_empty() {
            true => self.stream.read(out),
            false => self.unread.read(out),
        }
    }
}

impl Write for Begun<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

/// The calling end of the first connection of a flow, on a fresh stream.
///
/// Errors: the called end does not hold the flow's secret, or says nothing.
pub fn prove(link: &mut Link, flow: u32, ticket: u64) -> io::Result<()> {
    consent::ask(&mut Bounded::new(link)?, flow, ticket)
}

/// A stream during the proof: everything together takes a bounded time.
struct Bounded<'a> {
    link: &'a mut Link,
    deadline: Instant,
}

impl<'a> Bounded<'a> {
    fn new(link: &'a mut Link) -> io::Result<Self> {
        if let Link::Stream(stream) = link {
            stream.set_read_bound(PROOF_BOUND)?;
        }
        let deadline = Instant::now() + PROOF_BOUND;
        Ok(Self { link, deadline })
    }
}

impl Read for Bounded<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self.link.receive(out) {
            Err(error) if is_silence(&error) => Err(silent()),
            Ok(_) if Instant::now() >= self.deadline => Err(silent()),
            received => received,
        }
    }
}

impl Write for Bounded<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.link.send_all(bytes).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn silent() -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, "nothing answers there")
}

/// Shows the flow's ticket on a fresh stream; datagrams carry it themselves.
pub fn show_ticket(link: &mut Link, ticket: u64) -> io::Result<()> {
    match link.is_datagram() {
        true => Ok(()),
        false => link.send_all(&ticket.to_be_bytes()),
    }
}

/// Nothing came within the bound, or a signal did.
#[inline]
pub fn is_silence(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), WouldBlock | TimedOut | Interrupted)
}

/// Waits for one link by one thread.
pub struct Solo {
    /// Waiting for a datagram socket; streams wait by themselves.
    datagrams: Option<Patience>,
}

impl Solo {
    /// Prepares `link` so that each receive returns within about `look`.
    ///
    /// Errors: the system offers no such way of waiting.
    pub fn new(link: &mut Link, wait: Wait, look: Duration) -> io::Result<Self> {
        let datagrams = match link {
            Link::Stream(stream) => {
                stream.set_wait(wait)?;
                stream.set_read_bound(look)?;
                stream.set_write_bound(WRITE_BOUND)?;
                None
            }
            Link::Udp(socket) => Some(Patience::new(socket, wait, look)?),
        };
        Ok(Self { datagrams })
    }

    /// Takes what comes; see [`Link::receive`].
    #[inline]
    pub fn receive(&mut self, link: &mut Link, out: &mut [u8]) -> io::Result<usize> {
        match (link, &mut self.datagrams) {
            (Link::Udp(socket), Some(patience)) => patience.wait_for(socket, || socket.recv(out)),
            (link, _) => link.receive(out),
        }
    }
}

/// Waiting of one thread for datagrams of one socket.
pub struct Patience {
    wait: Wait,
    waiter: Option<Waiter>,
    look: Duration,
}

impl Patience {
    /// Prepares the socket; each wait ends within about `look`.
    pub fn new(socket: &UdpSocket, wait: Wait, look: Duration) -> io::Result<Self> {
        let mut waiter = None;
        socket.set_nonblocking(wait != Wait::Block)?;
        match wait {
            Wait::Block => socket.set_read_timeout(Some(look))?,
            Wait::Spin { .. } => {}
            Wait::Epoll => {
                let mut epoll = Waiter::new(wait, Trigger::Level, 1)?;
                epoll.add(socket.as_fd(), 0, Interest::Read)?;
                waiter = Some(epoll);
            }
        }
        Ok(Self { wait, waiter, look })
    }

    /// Calls `take` until it has something, or the time of one look has passed.
    #[inline]
    pub fn wait_for<T>(
        &mut self,
        socket: &UdpSocket,
        mut take: impl FnMut() -> io::Result<T>,
    ) -> io::Result<T> {
        match (self.wait, &mut self.waiter) {
            (Wait::Spin { for_ns }, _) => spin(socket, take, for_ns, self.look),
            (_, Some(waiter)) => {
                waiter.wait(self.look)?;
                take()
            }
            _ => take(),
        }
    }
}

fn spin<T>(
    socket: &UdpSocket,
    mut take: impl FnMut() -> io::Result<T>,
    for_ns: u64,
    look: Duration,
) -> io::Result<T> {
    let begun_ns = now_ns();
    let look_ns = look.as_nanos() as u64;
    let mut looks = 0u32;
    loop {
        match take() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            taken => return taken,
        }
        looks = looks.wrapping_add(1);
        if !looks.is_multiple_of(LOOKS_PER_YIELD) {
            continue;
        }
        let spent_ns = (now_ns() - begun_ns) as u64;
        if spent_ns >= look_ns {
            return Err(io::ErrorKind::TimedOut.into());
        }
        if spent_ns >= for_ns {
            wait::readable(socket, look)?;
            return take();
        }
        // The peer may share this core.
        std::thread::yield_now();
    }
}
