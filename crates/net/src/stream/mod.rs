//! A common interface to byte streams of all transports.
//!
//! ```text
//! Connector ──connect──►┐                          ┌─► TCP · MPTCP · TLS      (host to host)
//!                       ├─ Box<dyn Stream> ────────┼─► QUIC                   (host to host)
//! Listener ──accept────►┘  read · write · bounds   └─► unix · shared memory   (same host)
//!    └ Incoming ─establish (handshake, any thread)
//! ```
//!
//! Every wait has a bound. A bound of zero never waits: an operation that cannot proceed at once
//! returns [`io::ErrorKind::WouldBlock`]; one whose bound has passed returns
//! [`io::ErrorKind::TimedOut`]. After either, the stream remains usable. Authorisation is left to the
//! workload.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::str::FromStr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::tcp::{self, TcpError, TcpOptions};
use crate::tls::{self, Identity, TlsError, Trust};
use crate::wait::{BorrowedFd, Wait};
use crate::{quic, shm, unix};

pub(crate) mod socket;
mod tls_stream;

pub use tls_stream::TlsStream;

/// Bound of reads and writes until another one is set.
pub const DEFAULT_BOUND: Duration = Duration::from_secs(30);

/// The transport of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum StreamKind {
    /// Plain TCP.
    Tcp,
    /// TCP over several paths at once.
    Mptcp,
    /// TLS 1.3 over TCP.
    Tls,
    /// One bidirectional stream of a QUIC connection.
    Quic,
    /// A socket of this host.
    Unix,
    /// Memory that two processes of this host share.
    Shm,
}

impl StreamKind {
    /// All kinds.
    pub const ALL: [StreamKind; 6] = [
        StreamKind::Tcp,
        StreamKind::Mptcp,
        StreamKind::Tls,
        StreamKind::Quic,
        StreamKind::Unix,
        StreamKind::Shm,
    ];

    /// The name used in options.
    pub fn name(self) -> &'static str {
        match self {
            StreamKind::Tcp => "tcp",
            StreamKind::Mptcp => "mptcp",
            StreamKind::Tls => "tls",
            StreamKind::Quic => "quic",
            StreamKind::Unix => "unix",
            StreamKind::Shm => "shm",
        }
    }

    /// True when both ends must be on one host.
    pub fn same_host(self) -> bool {
        matches!(self, StreamKind::Unix | StreamKind::Shm)
    }

    /// True when the bytes on the way cannot be read by others.
    pub fn encrypted(self) -> bool {
        matches!(self, StreamKind::Tls | StreamKind::Quic)
    }
}

impl fmt::Display for StreamKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The text is not the name of a kind of stream.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a valid kind of stream: tcp, mptcp, tls, quic, unix, shm")]
pub struct NoSuchKind(String);

impl FromStr for StreamKind {
    type Err = NoSuchKind;

    fn from_str(text: &str) -> Result<Self, NoSuchKind> {
        Self::ALL
            .into_iter()
            .find(|kind| kind.name() == text)
            .ok_or_else(|| NoSuchKind(text.into()))
    }
}

/// One end of a connection that carries bytes in both directions, in order and without loss.
pub trait Stream: Read + Write + Send {
    /// The kind of the stream.
    fn kind(&self) -> StreamKind;

    /// The TCP connection below, for its state and queues.
    fn tcp(&self) -> Option<&TcpStream> {
        None
    }

    /// The socket that a [`crate::wait::Waiter`] can watch. `None`: this kind waits only in its own
    /// `read`.
    fn source(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    /// Bytes that a read gives although the source is silent. A thread that waits with a
    /// [`crate::wait::Waiter`] reads them first.
    fn buffered(&self) -> usize {
        0
    }

    /// Sets the way in which `read` waits for bytes.
    ///
    /// Errors: [`io::ErrorKind::Unsupported`] when this kind or system cannot wait so.
    fn set_wait(&mut self, wait: Wait) -> io::Result<()>;

    /// Bounds each `read`.
    fn set_read_bound(&mut self, bound: Duration) -> io::Result<()>;

    /// Bounds each `write`.
    ///
    /// Errors: [`io::ErrorKind::Unsupported`] for zero with TLS, whose records leave as a whole.
    fn set_write_bound(&mut self, bound: Duration) -> io::Result<()>;

    /// Ends one or both directions; the peer reads the end. A thread that waits in the other half
    /// wakes up.
    fn shutdown(&mut self, how: Shutdown) -> io::Result<()>;

    /// Two halves for two threads: the first reads, the second writes. Each keeps the bounds.
    fn split(self: Box<Self>) -> io::Result<(Box<dyn Stream>, Box<dyn Stream>)>;
}

/// The address at which a stream is listened for or called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Endpoint {
    /// TCP, TLS, QUIC.
    Ip(SocketAddr),
    /// Unix sockets and shared memory.
    Local(unix::Name),
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Endpoint::Ip(address) => address.fmt(f),
            Endpoint::Local(name) => name.fmt(f),
        }
    }
}

/// Errors of streams.
#[derive(Debug, thiserror::Error)]
pub enum StreamError {
    /// The TCP connection or listener.
    #[error(transparent)]
    Tcp(#[from] TcpError),
    /// The handshake above it.
    #[error("no secure {kind} connection with {peer}: {why}")]
    Secure {
        /// TLS or QUIC.
        kind: StreamKind,
        /// The other end.
        peer: String,
        /// The error.
        why: TlsError,
    },
    /// A socket or memory of this host.
    #[error("{what}: {why}")]
    Local {
        /// The operation and the address.
        what: String,
        /// The system's error.
        why: io::Error,
    },
    /// This kind is not available here.
    #[error("{kind} streams are not available on this system: {why}")]
    Unavailable {
        /// The kind of stream.
        kind: StreamKind,
        /// The reason.
        why: String,
    },
    /// The endpoint does not fit the kind.
    #[error("{kind} streams cannot use the endpoint `{endpoint}`")]
    WrongEndpoint {
        /// The kind of stream.
        kind: StreamKind,
        /// The given endpoint.
        endpoint: String,
    },
    /// A listener for TLS or QUIC was not given an identity.
    #[error("a {kind} listener needs an identity")]
    NoIdentity {
        /// The kind of stream.
        kind: StreamKind,
    },
}

impl StreamError {
    /// The hint for the operator.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            StreamError::Tcp(why) => why.hint(),
            StreamError::Secure { why, .. } => match why {
                TlsError::NotPinned { .. } => Some("take the key that the other side printed"),
                TlsError::NotTls | TlsError::NotSokudo => {
                    Some("check that sokudo listens on this port")
                }
                TlsError::TimedOut => Some("check that nothing drops packets to this port"),
                _ => None,
            },
            StreamError::Local { why, .. } => match why.kind() {
                io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound => {
                    Some("start the other side on this host first")
                }
                io::ErrorKind::AddrInUse => {
                    Some("another program listens there: choose another name")
                }
                io::ErrorKind::PermissionDenied => Some("check the permissions of the path"),
                _ => None,
            },
            StreamError::WrongEndpoint { kind, .. } if kind.same_host() => {
                Some("give a path, or a name that begins with @")
            }
            StreamError::WrongEndpoint { .. } => Some("give an IP address and a port"),
            StreamError::Unavailable { .. } | StreamError::NoIdentity { .. } => None,
        }
    }

    pub(crate) fn unavailable(kind: StreamKind, why: impl fmt::Display) -> Self {
        StreamError::Unavailable {
            kind,
            why: why.to_string(),
        }
    }

    pub(crate) fn local(what: impl Into<String>, why: io::Error) -> Self {
        StreamError::Local {
            what: what.into(),
            why,
        }
    }
}

/// Options for making streams; each kind uses those that concern it.
#[derive(Clone)]
pub struct StreamOptions {
    /// For TCP, MPTCP and TLS.
    pub tcp: TcpOptions,
    /// The keys that a caller trusts (TLS, QUIC).
    pub trust: Trust,
    /// The identity that a listener presents (TLS, QUIC).
    pub identity: Option<Identity>,
    /// Bytes of each direction's ring (shared memory); the caller decides, rounded up to a power
    /// of two between [`shm::MIN_RING_BYTES`] and [`shm::MAX_RING_BYTES`].
    pub shm_ring_bytes: usize,
}

impl Default for StreamOptions {
    fn default() -> Self {
        Self {
            tcp: TcpOptions::default(),
            trust: Trust::Anyone,
            identity: None,
            shm_ring_bytes: shm::DEFAULT_RING_BYTES,
        }
    }
}

impl StreamOptions {
    fn tcp_for(&self, kind: StreamKind) -> TcpOptions {
        TcpOptions {
            mptcp: self.tcp.mptcp || kind == StreamKind::Mptcp,
            ..self.tcp.clone()
        }
    }
}

/// An established stream and how long its parts took.
pub struct Connected {
    /// The stream, with [`DEFAULT_BOUND`] both ways.
    pub stream: Box<dyn Stream>,
    /// Nanoseconds until the transport was connected: TCP's SYN to established; unix and shared
    /// memory: the whole call. `None` with QUIC, whose handshake is one with that of TLS.
    pub transport_ns: Option<u64>,
    /// Nanoseconds of the TLS or QUIC handshake. `None` for kinds without.
    pub secure_ns: Option<u64>,
}

impl fmt::Debug for Connected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connected")
            .field("kind", &self.stream.kind())
            .field("transport_ns", &self.transport_ns)
            .field("secure_ns", &self.secure_ns)
            .finish()
    }
}

/// Calls other ends, all in the same way.
pub struct Connector {
    kind: StreamKind,
    options: StreamOptions,
    tcp: TcpOptions,
    quic: Option<quic::Caller>,
}

impl Connector {
    /// A connector; with QUIC it owns a thread that serves all its connections.
    ///
    /// Errors: [`StreamError::Unavailable`].
    pub fn new(kind: StreamKind, options: StreamOptions) -> Result<Self, StreamError> {
        let quic = match kind {
            StreamKind::Quic => Some(quic::Caller::new(&options.trust)?),
            StreamKind::Shm => shm::available().map(|()| None)?,
            _ => None,
        };
        Ok(Self {
            kind,
            tcp: options.tcp_for(kind),
            options,
            quic,
        })
    }

    /// The kind of stream that it makes.
    pub fn kind(&self) -> StreamKind {
        self.kind
    }

    /// Calls one other end; handshakes included within the bound.
    ///
    /// Errors: see [`StreamError`].
    pub fn connect(&self, peer: &Endpoint, bound: Duration) -> Result<Connected, StreamError> {
        match (self.kind, peer) {
            (StreamKind::Tcp | StreamKind::Mptcp, Endpoint::Ip(peer)) => {
                let made = tcp::connect(*peer, &self.tcp, bound)?;
                Ok(Connected {
                    stream: Box::new(socket::SocketStream::over_tcp(made.stream, self.kind)?),
                    transport_ns: Some(made.handshake_ns),
                    secure_ns: None,
                })
            }
            (StreamKind::Tls, Endpoint::Ip(peer)) => self.connect_tls(*peer, bound),
            (StreamKind::Quic, Endpoint::Ip(peer)) => match &self.quic {
                Some(caller) => caller.connect(*peer, bound),
                None => Err(StreamError::unavailable(self.kind, "it was never started")),
            },
            (StreamKind::Unix, Endpoint::Local(name)) => timed(|| {
                let stream = unix::connect(name, bound)?;
                Ok(Box::new(stream))
            }),
            (StreamKind::Shm, Endpoint::Local(name)) => timed(|| {
                let stream = shm::connect(name, self.options.shm_ring_bytes, bound)?;
                Ok(Box::new(stream))
            }),
            (kind, endpoint) => Err(wrong(kind, endpoint)),
        }
    }

    fn connect_tls(&self, peer: SocketAddr, bound: Duration) -> Result<Connected, StreamError> {
        let deadline = tls::deadline_in(bound);
        let made = tcp::connect(peer, &self.tcp, bound)?;
        let begun = Instant::now();
        let session = tls::connect(made.stream, &self.options.trust, deadline).map_err(|why| {
            StreamError::Secure {
                kind: StreamKind::Tls,
                peer: peer.to_string(),
                why,
            }
        })?;
        let secure_ns = begun.elapsed().as_nanos() as u64;
        Ok(Connected {
            stream: Box::new(TlsStream::new(session)),
            transport_ns: Some(made.handshake_ns),
            secure_ns: Some(secure_ns),
        })
    }
}

fn wrong(kind: StreamKind, endpoint: &Endpoint) -> StreamError {
    StreamError::WrongEndpoint {
        kind,
        endpoint: endpoint.to_string(),
    }
}

fn timed(
    connect: impl FnOnce() -> Result<Box<dyn Stream>, StreamError>,
) -> Result<Connected, StreamError> {
    let begun = Instant::now();
    let stream = connect()?;
    Ok(Connected {
        stream,
        transport_ns: Some(begun.elapsed().as_nanos() as u64),
        secure_ns: None,
    })
}

enum Ear {
    Tcp(TcpListener),
    Quic(quic::QuicListener),
    Unix(unix::LocalListener),
}

/// Waits for callers of one kind.
pub struct Listener {
    kind: StreamKind,
    ear: Ear,
    tcp: TcpOptions,
    identity: Option<Arc<Identity>>,
}

impl Listener {
    /// Listens; port 0 lets the system choose.
    ///
    /// Errors: see [`StreamError`].
    pub fn bind(
        kind: StreamKind,
        local: &Endpoint,
        options: &StreamOptions,
    ) -> Result<Self, StreamError> {
        let tcp = options.tcp_for(kind);
        if kind.encrypted() && options.identity.is_none() {
            return Err(StreamError::NoIdentity { kind });
        }
        if kind == StreamKind::Shm {
            shm::available()?;
        }
        let ear = match (kind, local, &options.identity) {
            (StreamKind::Tcp | StreamKind::Mptcp | StreamKind::Tls, Endpoint::Ip(local), _) => {
                Ear::Tcp(tcp::listen(*local, &tcp)?)
            }
            (StreamKind::Quic, Endpoint::Ip(local), Some(identity)) => {
                Ear::Quic(quic::QuicListener::bind(*local, identity)?)
            }
            (StreamKind::Unix | StreamKind::Shm, Endpoint::Local(name), _) => {
                Ear::Unix(unix::LocalListener::bind(name)?)
            }
            _ => return Err(wrong(kind, local)),
        };
        Ok(Self {
            kind,
            ear,
            tcp,
            identity: options.identity.clone().map(Arc::new),
        })
    }

    /// The kind of stream that it makes.
    pub fn kind(&self) -> StreamKind {
        self.kind
    }

    /// The address at which it listens.
    pub fn local(&self) -> Result<Endpoint, StreamError> {
        let unknown = |why| StreamError::local("the listener's address is not known", why);
        match &self.ear {
            Ear::Tcp(listener) => Ok(Endpoint::Ip(listener.local_addr().map_err(unknown)?)),
            Ear::Quic(listener) => Ok(Endpoint::Ip(listener.local())),
            Ear::Unix(listener) => Ok(Endpoint::Local(listener.name().clone())),
        }
    }

    /// Waits for a caller; `None` when the bound has passed. Handshakes are left to
    /// [`Incoming::establish`], so that a slow caller delays no other.
    ///
    /// Errors: [`TcpError::TooManyOpen`] leaves the listener usable; others are final.
    pub fn accept(&self, bound: Duration) -> Result<Option<Incoming>, StreamError> {
        let caller = match &self.ear {
            Ear::Tcp(listener) => {
                let Some((stream, peer)) = tcp::accept(listener, &self.tcp, bound)? else {
                    return Ok(None);
                };
                Caller::Tcp(stream, peer)
            }
            Ear::Quic(listener) => match listener.accept(bound)? {
                None => return Ok(None),
                Some(incoming) => Caller::Quic(Box::new(incoming)),
            },
            Ear::Unix(listener) => match listener.accept(bound)? {
                None => return Ok(None),
                Some(stream) => Caller::Unix(stream),
            },
        };
        Ok(Some(Incoming {
            kind: self.kind,
            caller,
            identity: self.identity.clone(),
        }))
    }
}

enum Caller {
    Tcp(TcpStream, SocketAddr),
    Quic(Box<quic::Incoming>),
    Unix(unix::LocalStream),
}

/// A caller whose handshake has not been done yet. Dropping it closes the connection.
pub struct Incoming {
    kind: StreamKind,
    caller: Caller,
    identity: Option<Arc<Identity>>,
}

impl Incoming {
    /// The caller's address; `None` for callers of the same host.
    pub fn peer(&self) -> Option<SocketAddr> {
        match &self.caller {
            Caller::Tcp(_, peer) => Some(*peer),
            Caller::Quic(incoming) => Some(incoming.peer()),
            Caller::Unix(_) => None,
        }
    }

    /// The TCP connection below; `None` for other kinds.
    pub fn tcp(&self) -> Option<&TcpStream> {
        match &self.caller {
            Caller::Tcp(stream, _) => Some(stream),
            Caller::Quic(_) | Caller::Unix(_) => None,
        }
    }

    /// Does what is left of the connection's set-up, within the bound.
    ///
    /// Errors: see [`StreamError`]; they concern this caller only.
    pub fn establish(self, bound: Duration) -> Result<Box<dyn Stream>, StreamError> {
        match (self.caller, self.kind, &self.identity) {
            (Caller::Tcp(stream, peer), StreamKind::Tls, Some(identity)) => {
                let session = tls::accept(stream, identity, tls::deadline_in(bound));
                let session = session.map_err(|why| StreamError::Secure {
                    kind: StreamKind::Tls,
                    peer: peer.to_string(),
                    why,
                })?;
                Ok(Box::new(TlsStream::new(session)))
            }
            (Caller::Tcp(stream, _), kind, _) => {
                Ok(Box::new(socket::SocketStream::over_tcp(stream, kind)?))
            }
            (Caller::Quic(incoming), ..) => incoming.establish(bound),
            (Caller::Unix(stream), StreamKind::Shm, _) => Ok(Box::new(shm::accept(stream, bound)?)),
            (Caller::Unix(stream), ..) => Ok(Box::new(stream)),
        }
    }
}

#[cfg(test)]
mod tests;
