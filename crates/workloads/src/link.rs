//! How does one message after the other cross a connection, whatever carries it?
//!
//! ```text
//! Place ──call──► Link ◄──admit── Listening          tcp · tls · unix: a byte stream
//!                  │ send · receive                  udp: one datagram per message
//!                  └ Solo: one thread waits for one link (block, epoll, spin)
//! ```
//!
//! A caller shows the flow's ticket first; who shows none is closed, no more.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
#[cfg(unix)]
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use socket2::{Domain, Protocol, Socket, Type};
use sokudo_net::clock::now_ns;
use sokudo_net::tls::{self, Identity, PublicKey, Received, TlsError, Trust};
use sokudo_net::udp;
use sokudo_net::wait::{self, AsFd, BorrowedFd, Interest, Trigger, Wait, Waiter};

/// Connections that may wait to be accepted; the system may allow fewer (`net.core.somaxconn`).
const BACKLOG: i32 = 4096;
/// A connection that has not shown its ticket after this time makes room for the next one.
const ADMIT_BOUND: Duration = Duration::from_secs(1);
/// A peer that takes nothing for this long is dead.
const WRITE_BOUND: Duration = Duration::from_secs(10);
/// Looks at a silent socket between two yields of a spinning thread.
const LOOKS_PER_YIELD: u32 = 16;
/// Bytes of a ticket.
const TICKET_BYTES: usize = 8;

/// What carries requests and responses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Transport {
    /// TCP; small messages leave at once (no Nagle).
    Tcp,
    /// TLS 1.3 over TCP.
    Tls,
    /// UDP, one datagram per message.
    Udp,
    /// A socket of this host; both ends must be on it.
    Unix,
}

impl Transport {
    /// Name as typed.
    pub fn name(self) -> &'static str {
        match self {
            Transport::Tcp => "tcp",
            Transport::Tls => "tls",
            Transport::Udp => "udp",
            Transport::Unix => "unix",
        }
    }

    /// True when bytes arrive in order and without loss, or not at all.
    pub fn is_stream(self) -> bool {
        self != Transport::Udp
    }
}

/// Where one flow is received, as told to the host that sends it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Place {
    /// A port of the host.
    Port(u16),
    /// A socket file, on the same host only.
    Path(PathBuf),
}

/// Why no connection came about.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CallError {
    /// Every local port towards the peer is taken (`EADDRNOTAVAIL`).
    #[error("no local port is left for another connection to {0}")]
    PortsExhausted(String),
    /// The peer's system answers, but nobody listens there.
    #[error("{0} refuses the connection")]
    Refused(String),
    /// No answer within the bound.
    #[error("{0} does not answer in time")]
    TimedOut(String),
    /// The handshake above the connection failed.
    #[error("no secure connection with {0}: {1}")]
    Secure(String, TlsError),
    /// The process has no room for another socket.
    #[error("no further socket can be opened: {0}")]
    TooManyOpen(io::Error),
    /// Anything else.
    #[error("cannot connect to {0}: {1}")]
    Io(String, io::Error),
}

impl CallError {
    /// What to do about it.
    pub(crate) fn hint(&self) -> Option<&'static str> {
        match self {
            CallError::PortsExhausted(_) => Some(
                "widen `net.ipv4.ip_local_port_range`, set `net.ipv4.tcp_tw_reuse` to 1, or lower \
                 the rate",
            ),
            CallError::TooManyOpen(_) => {
                Some("raise the limit on open files (ulimit -n), or use fewer connections")
            }
            CallError::Refused(_) | CallError::TimedOut(_) => {
                Some("look for a firewall between the hosts")
            }
            CallError::Secure(..) | CallError::Io(..) => None,
        }
    }

    fn of(peer: &str, error: io::Error) -> Self {
        use io::ErrorKind::{AddrNotAvailable, ConnectionRefused, TimedOut, WouldBlock};
        // EMFILE and ENFILE have no kind of their own.
        if cfg!(unix) && matches!(error.raw_os_error(), Some(23 | 24)) {
            return CallError::TooManyOpen(error);
        }
        match error.kind() {
            AddrNotAvailable => CallError::PortsExhausted(peer.into()),
            ConnectionRefused => CallError::Refused(peer.into()),
            TimedOut | WouldBlock => CallError::TimedOut(peer.into()),
            _ => CallError::Io(peer.into(), error),
        }
    }
}

/// The receiving and sending halves of a TLS connection with what is decrypted and not yet taken.
pub(crate) struct TlsLink {
    session: tls::Session,
    /// The same socket, for what TLS does not concern itself with.
    socket: TcpStream,
    ready: Vec<u8>,
    taken: usize,
    bound: Duration,
}

impl TlsLink {
    fn new(session: tls::Session, socket: TcpStream) -> Self {
        Self {
            session,
            socket,
            ready: Vec::new(),
            taken: 0,
            bound: WRITE_BOUND,
        }
    }

    fn receive(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.ready.len() {
            self.ready.clear();
            self.taken = 0;
            let received = self.session.reader.read(&mut self.ready, self.bound);
            match received.map_err(as_io)? {
                Received::Bytes(_) if !self.ready.is_empty() => {}
                Received::Bytes(_) | Received::Idle => return Err(io::ErrorKind::WouldBlock.into()),
                Received::End => return Ok(0),
            }
        }
        let count = out.len().min(self.ready.len() - self.taken);
        out[..count].copy_from_slice(&self.ready[self.taken..][..count]);
        self.taken += count;
        Ok(count)
    }
}

/// A TLS failure as the error of a read or write.
fn as_io(error: TlsError) -> io::Error {
    match error {
        TlsError::Closed => io::ErrorKind::ConnectionReset.into(),
        TlsError::TimedOut => io::ErrorKind::TimedOut.into(),
        TlsError::Io(error) => error,
        error => io::Error::new(io::ErrorKind::InvalidData, error),
    }
}

/// One end of a connection; for UDP a socket that is connected to one peer.
pub(crate) enum Link {
    Tcp(TcpStream),
    Tls(Box<TlsLink>),
    Udp(UdpSocket),
    #[cfg(unix)]
    Unix(UnixStream),
}

impl Link {
    /// Hands over bytes: a datagram or a part of a stream.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Link::Tcp(tcp) => tcp.write(bytes),
            Link::Udp(socket) => socket.send(bytes),
            #[cfg(unix)]
            Link::Unix(socket) => socket.write(bytes),
            Link::Tls(tls) => {
                let sent = tls.session.writer.send(bytes, WRITE_BOUND);
                sent.map_err(as_io)?;
                Ok(bytes.len())
            }
        }
    }

    /// Hands over all bytes, waiting while the peer does not take them, a bounded time.
    pub(crate) fn send_all(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match self.send(bytes) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(sent) => bytes = &bytes[sent..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if !wait::writable(self.source(), WRITE_BOUND)? {
                        return Err(io::ErrorKind::TimedOut.into());
                    }
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Takes what is there: a datagram or some bytes; 0 when the peer has closed a stream.
    ///
    /// Errors: [`io::ErrorKind::WouldBlock`] when nothing came within the socket's bound.
    #[inline]
    pub(crate) fn receive(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self {
            Link::Tcp(tcp) => tcp.read(out),
            Link::Udp(socket) => socket.recv(out),
            #[cfg(unix)]
            Link::Unix(socket) => socket.read(out),
            Link::Tls(tls) => tls.receive(out),
        }
    }

    /// Bytes that a receive gives although the source is silent.
    pub(crate) fn buffered(&self) -> usize {
        match self {
            Link::Tls(tls) => tls.ready.len() - tls.taken,
            _ => 0,
        }
    }

    /// What a waiter can watch.
    pub(crate) fn source(&self) -> BorrowedFd<'_> {
        match self {
            Link::Tcp(tcp) => tcp.as_fd(),
            Link::Udp(socket) => socket.as_fd(),
            #[cfg(unix)]
            Link::Unix(socket) => socket.as_fd(),
            Link::Tls(tls) => tls.socket.as_fd(),
        }
    }

    /// Makes receives wait for at most `bound`; zero = never wait.
    pub(crate) fn set_bound(&mut self, bound: Duration) -> io::Result<()> {
        let nonblocking = bound.is_zero();
        let timeout = (!nonblocking).then_some(bound);
        match self {
            Link::Tcp(tcp) => {
                tcp.set_nonblocking(nonblocking)?;
                tcp.set_write_timeout(Some(WRITE_BOUND))?;
                tcp.set_read_timeout(timeout)
            }
            Link::Udp(socket) => {
                socket.set_nonblocking(nonblocking)?;
                socket.set_read_timeout(timeout)
            }
            #[cfg(unix)]
            Link::Unix(socket) => {
                socket.set_nonblocking(nonblocking)?;
                socket.set_write_timeout(Some(WRITE_BOUND))?;
                socket.set_read_timeout(timeout)
            }
            Link::Tls(tls) => {
                tls.bound = bound.max(Duration::from_millis(1));
                tls.socket.set_nonblocking(nonblocking)
            }
        }
    }

    /// The TCP connection below, for its state.
    pub(crate) fn tcp(&self) -> Option<&TcpStream> {
        match self {
            Link::Tcp(tcp) => Some(tcp),
            Link::Tls(tls) => Some(&tls.socket),
            _ => None,
        }
    }
}

/// A link and how long its parts took.
pub(crate) struct Called {
    pub(crate) link: Link,
    /// From the call to the established connection, nanoseconds.
    pub(crate) connect_ns: u64,
    /// The handshake above it, nanoseconds; `None` without one.
    pub(crate) handshake_ns: Option<u64>,
}

/// Calls the other end; everything within the bound. The ticket is not shown yet.
pub(crate) fn call(
    transport: Transport,
    peer: &Target,
    key: Option<&[u8]>,
    bound: Duration,
) -> Result<Called, CallError> {
    let begun_ns = now_ns();
    let since = |from_ns: i64| (now_ns() - from_ns).max(0) as u64;
    let failed = |error| CallError::of(&peer.name(), error);
    let plain = |link| Called {
        link,
        connect_ns: since(begun_ns),
        handshake_ns: None,
    };
    match (transport, peer) {
        (Transport::Udp, Target::Ip(peer)) => {
            let any: SocketAddr = match peer {
                SocketAddr::V4(_) => ([0u8; 4], 0).into(),
                SocketAddr::V6(_) => ([0u8; 16], 0).into(),
            };
            let socket = udp::bind(any).map_err(failed)?;
            socket.connect(peer).map_err(failed)?;
            Ok(plain(Link::Udp(socket)))
        }
        (Transport::Tcp, Target::Ip(peer)) => {
            let tcp = TcpStream::connect_timeout(peer, bound).map_err(failed)?;
            tcp.set_nodelay(true).map_err(failed)?;
            Ok(plain(Link::Tcp(tcp)))
        }
        (Transport::Tls, Target::Ip(address)) => {
            let deadline = Instant::now() + bound;
            let tcp = TcpStream::connect_timeout(address, bound).map_err(failed)?;
            tcp.set_nodelay(true).map_err(failed)?;
            let connect_ns = since(begun_ns);
            let socket = tcp.try_clone().map_err(failed)?;
            let key = PublicKey::from_spki(key.unwrap_or_default().to_vec());
            let secured_ns = now_ns();
            let session = tls::connect(tcp, &Trust::Pinned(key), deadline);
            let session = session.map_err(|error| CallError::Secure(peer.name(), error))?;
            Ok(Called {
                link: Link::Tls(Box::new(TlsLink::new(session, socket))),
                connect_ns,
                handshake_ns: Some(since(secured_ns)),
            })
        }
        #[cfg(unix)]
        (Transport::Unix, Target::Path(path)) => {
            let socket = UnixStream::connect(path).map_err(failed)?;
            Ok(plain(Link::Unix(socket)))
        }
        _ => Err(failed(io::ErrorKind::Unsupported.into())),
    }
}

/// Whom to call.
#[derive(Debug, Clone)]
pub(crate) enum Target {
    /// A host's port.
    Ip(SocketAddr),
    /// A socket file of this host.
    Path(PathBuf),
}

impl Target {
    /// As people read it.
    pub(crate) fn name(&self) -> String {
        match self {
            Target::Ip(address) => address.to_string(),
            Target::Path(path) => path.display().to_string(),
        }
    }
}

/// A bound place at which one flow arrives.
pub(crate) enum Listening {
    Tcp(TcpListener, Option<Identity>),
    Udp(UdpSocket),
    #[cfg(unix)]
    Unix(UnixListener, PathBuf),
}

impl Drop for Listening {
    fn drop(&mut self) {
        #[cfg(unix)]
        if let Listening::Unix(_, path) = self {
            // Somebody may have removed it already.
            let _ = std::fs::remove_file(path);
        }
    }
}

impl Listening {
    /// Binds a place for one flow. `identity` for TLS; `path` for a socket of this host.
    pub(crate) fn bind(
        transport: Transport,
        address: SocketAddr,
        identity: Option<&Identity>,
        path: PathBuf,
    ) -> io::Result<Self> {
        match transport {
            Transport::Udp => udp::bind(address).map(Listening::Udp),
            Transport::Tcp | Transport::Tls => {
                let domain = Domain::for_address(address);
                let socket = Socket::new(domain, Type::STREAM, Some(Protocol::TCP))?;
                socket.bind(&address.into())?;
                socket.listen(BACKLOG)?;
                socket.set_nonblocking(true)?;
                Ok(Listening::Tcp(socket.into(), identity.cloned()))
            }
            #[cfg(unix)]
            Transport::Unix => {
                let listener = UnixListener::bind(&path)?;
                listener.set_nonblocking(true)?;
                Ok(Listening::Unix(listener, path))
            }
            #[cfg(not(unix))]
            Transport::Unix => {
                let _ = path;
                Err(io::ErrorKind::Unsupported.into())
            }
        }
    }

    /// Where callers find it.
    pub(crate) fn place(&self) -> io::Result<Place> {
        match self {
            Listening::Tcp(listener, _) => listener.local_addr().map(|a| Place::Port(a.port())),
            Listening::Udp(socket) => socket.local_addr().map(|a| Place::Port(a.port())),
            #[cfg(unix)]
            Listening::Unix(_, path) => Ok(Place::Path(path.clone())),
        }
    }

    /// Waits for a caller, a bounded time. Its handshake is left to [`Caller::establish`].
    ///
    /// Errors: the system's. Those of one caller that hung up again are not told.
    pub(crate) fn accept(&self, bound: Duration) -> io::Result<Option<Caller>> {
        let accepted = match self {
            Listening::Tcp(listener, identity) => listener
                .accept()
                .map(|(tcp, _)| Caller::Tcp(tcp, identity.clone())),
            #[cfg(unix)]
            Listening::Unix(listener, _) => listener.accept().map(|(unix, _)| Caller::Unix(unix)),
            Listening::Udp(_) => Err(io::ErrorKind::Unsupported.into()),
        };
        match accepted {
            Ok(caller) => Ok(Some(caller)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                wait::readable(self.source(), bound)?;
                Ok(None)
            }
            Err(error) if is_passing(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn source(&self) -> BorrowedFd<'_> {
        match self {
            Listening::Tcp(listener, _) => listener.as_fd(),
            Listening::Udp(socket) => socket.as_fd(),
            #[cfg(unix)]
            Listening::Unix(listener, _) => listener.as_fd(),
        }
    }
}

/// A signal came, or the caller hung up before it was accepted.
fn is_passing(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted};
    matches!(
        error.kind(),
        Interrupted | ConnectionAborted | ConnectionReset
    )
}

/// An accepted connection whose handshake has not been done yet.
pub(crate) enum Caller {
    Tcp(TcpStream, Option<Identity>),
    #[cfg(unix)]
    Unix(UnixStream),
}

impl Caller {
    /// Does the handshake; receives wait at most `look` afterwards.
    pub(crate) fn establish(self, look: Duration) -> io::Result<Link> {
        let mut link = match self {
            Caller::Tcp(tcp, identity) => {
                // Some systems hand out sockets that wait as their listener does.
                tcp.set_nonblocking(false)?;
                tcp.set_nodelay(true)?;
                match identity {
                    None => Link::Tcp(tcp),
                    Some(identity) => {
                        let socket = tcp.try_clone()?;
                        let session = tls::accept(tcp, &identity, Instant::now() + ADMIT_BOUND);
                        let session = session.map_err(as_io)?;
                        Link::Tls(Box::new(TlsLink::new(session, socket)))
                    }
                }
            }
            #[cfg(unix)]
            Caller::Unix(socket) => {
                socket.set_nonblocking(false)?;
                Link::Unix(socket)
            }
        };
        link.set_bound(look)?;
        Ok(link)
    }

    /// The same, and expects the flow's ticket.
    pub(crate) fn admit(self, ticket: u64, look: Duration) -> io::Result<Link> {
        let deadline = Instant::now() + ADMIT_BOUND;
        let mut link = self.establish(look)?;
        let mut shown = [0u8; TICKET_BYTES];
        let mut filled = 0;
        while filled < shown.len() {
            match link.receive(&mut shown[filled..]) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(read) => filled += read,
                Err(error) if is_silence(&error) && Instant::now() < deadline => {}
                Err(error) => return Err(error),
            }
        }
        match u64::from_be_bytes(shown) == ticket {
            true => Ok(link),
            false => Err(io::ErrorKind::PermissionDenied.into()),
        }
    }
}

/// Shows the flow's ticket on a fresh stream.
pub(crate) fn show_ticket(link: &mut Link, ticket: u64) -> io::Result<()> {
    link.send_all(&ticket.to_be_bytes())
}

/// Nothing came within the bound, or a signal did.
pub(crate) fn is_silence(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), WouldBlock | TimedOut | Interrupted)
}

/// Waits for one link by one thread.
pub(crate) struct Solo {
    wait: Wait,
    waiter: Option<Waiter>,
    look: Duration,
}

impl Solo {
    /// Prepares `link` so that each receive returns within about `look`.
    ///
    /// Errors: the system offers no such way of waiting.
    pub(crate) fn new(link: &mut Link, wait: Wait, look: Duration) -> io::Result<Self> {
        let mut waiter = None;
        match wait {
            Wait::Block => link.set_bound(look)?,
            Wait::Spin { .. } => link.set_bound(Duration::ZERO)?,
            Wait::Epoll => {
                link.set_bound(Duration::ZERO)?;
                let mut epoll = Waiter::new(wait, Trigger::Level, 1)?;
                epoll.add(link.source(), 0, Interest::Read)?;
                waiter = Some(epoll);
            }
        }
        Ok(Self { wait, waiter, look })
    }

    /// Takes what comes; see [`Link::receive`].
    #[inline]
    pub(crate) fn receive(&mut self, link: &mut Link, out: &mut [u8]) -> io::Result<usize> {
        match (self.wait, &mut self.waiter) {
            (Wait::Spin { for_ns }, _) => spin(link, out, for_ns, self.look),
            (_, Some(waiter)) => {
                if link.buffered() == 0 {
                    waiter.wait(self.look)?;
                }
                link.receive(out)
            }
            _ => link.receive(out),
        }
    }
}

fn spin(link: &mut Link, out: &mut [u8], for_ns: u64, look: Duration) -> io::Result<usize> {
    let begun_ns = now_ns();
    let look_ns = look.as_nanos() as u64;
    let mut looks = 0u32;
    loop {
        match link.receive(out) {
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
            wait::readable(link.source(), look)?;
            return link.receive(out);
        }
        // The peer may share this core.
        std::thread::yield_now();
    }
}
