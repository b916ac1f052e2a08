//! Opens TCP connections with chosen socket options and reads back which of them the system
//! granted.
//!
//! ```text
//! socket ─ options ─ connect ──SYN──►          listen ─ accept ─ options
//!          └ setup_ns ┘└─ handshake_ns ─┘
//! ```
//!
//! Options that a system does not support fail with [`TcpError::Option`]; they are never ignored.

use std::fmt;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use socket2::{Domain, Protocol, SockRef, Socket, Type};

use crate::udp::{Granted, usable};
use crate::wait;

pub mod bulk;
#[cfg(target_os = "linux")]
#[path = "linux.rs"]
mod imp;
#[cfg(not(target_os = "linux"))]
#[path = "portable.rs"]
mod imp;
pub mod info;

pub use imp::{congestion_controls, is_multipath, quick_ack};

/// Connections that may wait to be accepted; the system may allow fewer (`net.core.somaxconn`).
const BACKLOG: i32 = 4096;

/// Options of a TCP connection. `None` leaves the system's default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TcpOptions {
    /// Sends small segments at once instead of waiting for an acknowledgement (Nagle off).
    pub nodelay: bool,
    /// Congestion control, by the system's name (`TCP_CONGESTION`).
    pub cc: Option<String>,
    /// Send buffer in usable bytes. Setting it turns the system's own tuning off.
    pub sndbuf_bytes: Option<u64>,
    /// Receive buffer in usable bytes. Setting it turns the system's own tuning off.
    pub rcvbuf_bytes: Option<u64>,
    /// Largest receive window offered, in bytes (`TCP_WINDOW_CLAMP`).
    pub window_clamp_bytes: Option<u32>,
    /// Largest segment payload, in bytes (`TCP_MAXSEG`).
    pub mss_bytes: Option<u32>,
    /// Differentiated services code point, 0 to 63 (`IP_TOS`, `IPV6_TCLASS`).
    pub dscp: Option<u8>,
    /// Highest rate at which the kernel paces this connection, in bytes per second
    /// (`SO_MAX_PACING_RATE`).
    pub max_pacing_bytes_per_s: Option<u64>,
    /// Longest time that sent data may stay unacknowledged before the connection fails
    /// (`TCP_USER_TIMEOUT`).
    pub user_timeout: Option<Duration>,
    /// Acknowledges at once, until the kernel thinks otherwise (`TCP_QUICKACK`).
    pub quickack: bool,
    /// Several paths under one connection (`IPPROTO_MPTCP`).
    pub mptcp: bool,
    /// Microseconds for which a blocking read polls the device (`SO_BUSY_POLL`).
    pub busy_poll_us: Option<u32>,
}

impl Default for TcpOptions {
    /// Small segments leave at once; everything else as the system has it.
    fn default() -> Self {
        Self {
            nodelay: true,
            cc: None,
            sndbuf_bytes: None,
            rcvbuf_bytes: None,
            window_clamp_bytes: None,
            mss_bytes: None,
            dscp: None,
            max_pacing_bytes_per_s: None,
            user_timeout: None,
            quickack: false,
            mptcp: false,
            busy_poll_us: None,
        }
    }
}

/// Errors of TCP connections and listeners.
#[derive(Debug, thiserror::Error)]
pub enum TcpError {
    /// The peer's system answers, but no process listens on the port (RST).
    #[error("{peer} refuses the connection")]
    Refused {
        /// The peer's address.
        peer: SocketAddr,
    },
    /// No answer within the bound.
    #[error("{peer} does not answer within {} ms", bound.as_millis())]
    TimedOut {
        /// The peer's address.
        peer: SocketAddr,
        /// The time waited.
        bound: Duration,
    },
    /// A router or the own system knows no way there.
    #[error("{peer} cannot be reached: {why}")]
    Unreachable {
        /// The peer's address.
        peer: SocketAddr,
        /// The system's error.
        why: io::Error,
    },
    /// Every local port towards this peer is taken (`EADDRNOTAVAIL`).
    #[error("no local port is left for another connection to {peer}")]
    PortsExhausted {
        /// The peer's address.
        peer: SocketAddr,
    },
    /// Another program listens there.
    #[error("{local} is already in use")]
    AddressInUse {
        /// The local address.
        local: SocketAddr,
    },
    /// The address does not belong to this host.
    #[error("{local} is not an address of this host")]
    NotLocal {
        /// The local address.
        local: SocketAddr,
    },
    /// The process or the system has no room for another socket (`EMFILE`, `ENFILE`).
    #[error("no further socket can be opened: {why}")]
    TooManyOpen {
        /// The system's error.
        why: io::Error,
    },
    /// The system has no multipath TCP or has it switched off.
    #[error("this system offers no multipath TCP: {why}")]
    NoMultipath {
        /// The system's error.
        why: io::Error,
    },
    /// The system does not accept an option.
    #[error("the option {option} = `{value}` is not accepted: {why}")]
    Option {
        /// Name of the option as the system calls it.
        option: &'static str,
        /// The requested option.
        value: String,
        /// The system's error.
        why: io::Error,
    },
    /// Anything else.
    #[error("{what}: {why}")]
    Io {
        /// The operation and the address.
        what: String,
        /// The system's error.
        why: io::Error,
    },
}

impl TcpError {
    /// The hint for the operator.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            TcpError::Refused { .. } => Some("start the other side first, or check its port"),
            TcpError::TimedOut { .. } => {
                Some("check the address and whether a firewall drops packets to this port")
            }
            TcpError::Unreachable { .. } => Some("check the route and the peer's address"),
            TcpError::PortsExhausted { .. } => Some(
                "widen `net.ipv4.ip_local_port_range`, set `net.ipv4.tcp_tw_reuse` to 1, or call \
                 several ports or addresses",
            ),
            TcpError::AddressInUse { .. } => Some("choose another port, or 0 for a free one"),
            TcpError::NotLocal { .. } => Some("take an address of this host, or 0.0.0.0"),
            TcpError::TooManyOpen { .. } => {
                Some("raise the limit on open files (`ulimit -n`), or use fewer connections")
            }
            TcpError::NoMultipath { .. } => {
                Some("set `net.mptcp.enabled` to 1 on Linux 5.6 or newer")
            }
            TcpError::Option { option, why, .. } => option_hint(option, why),
            TcpError::Io { .. } => None,
        }
    }
}

fn option_hint(option: &str, why: &io::Error) -> Option<&'static str> {
    match (option, why.kind()) {
        ("TCP_CONGESTION", io::ErrorKind::NotFound) => {
            Some("`net.ipv4.tcp_available_congestion_control` lists what this kernel has")
        }
        (_, io::ErrorKind::PermissionDenied) => Some("this option needs CAP_NET_ADMIN"),
        (_, io::ErrorKind::Unsupported) => Some("leave the option out on this system"),
        _ => None,
    }
}

/// An established connection and what it took.
#[derive(Debug)]
pub struct TcpConnection {
    /// The connection; blocking.
    pub stream: TcpStream,
    /// Nanoseconds from asking for a socket to having all its options set.
    pub setup_ns: u64,
    /// Nanoseconds from the call that sends the SYN to the established connection.
    pub handshake_ns: u64,
}

/// Connects with the given options, within the bound.
///
/// Errors: see [`TcpError`].
pub fn connect(
    peer: SocketAddr,
    options: &TcpOptions,
    bound: Duration,
) -> Result<TcpConnection, TcpError> {
    let begun = Instant::now();
    let socket = open(peer, options)?;
    apply(&SockRef::from(&socket), peer.is_ipv6(), options)?;
    let calling = Instant::now();
    imp::connect(&socket, peer, bound).map_err(|why| not_connected(peer, bound, why))?;
    let handshake_ns = calling.elapsed().as_nanos() as u64;
    Ok(TcpConnection {
        stream: socket.into(),
        setup_ns: (calling - begun).as_nanos() as u64,
        handshake_ns,
    })
}

/// Listens with the given options; port 0 lets the system choose.
///
/// The listener does not block: use [`accept`].
///
/// Errors: see [`TcpError`].
pub fn listen(local: SocketAddr, options: &TcpOptions) -> Result<TcpListener, TcpError> {
    let socket = open(local, options)?;
    let failed = |why: io::Error| match why.kind() {
        io::ErrorKind::AddrInUse => TcpError::AddressInUse { local },
        io::ErrorKind::AddrNotAvailable => TcpError::NotLocal { local },
        _ => TcpError::Io {
            what: format!("cannot listen on {local}"),
            why,
        },
    };
    // On Windows the same name lets two programs share a port.
    #[cfg(unix)]
    socket.set_reuse_address(true).map_err(failed)?;
    apply(&SockRef::from(&socket), local.is_ipv6(), options)?;
    socket.bind(&local.into()).map_err(failed)?;
    socket.listen(BACKLOG).map_err(failed)?;
    socket.set_nonblocking(true).map_err(failed)?;
    Ok(socket.into())
}

/// Waits for a caller on a listener from [`listen`]; `None` when the bound has passed.
///
/// The accepted connection blocks and has the options.
///
/// Errors: [`TcpError::TooManyOpen`] leaves the listener usable; others are final.
pub fn accept(
    listener: &TcpListener,
    options: &TcpOptions,
    bound: Duration,
) -> Result<Option<(TcpStream, SocketAddr)>, TcpError> {
    let failed = |why: io::Error| TcpError::Io {
        what: "cannot accept a connection".into(),
        why,
    };
    let deadline = Instant::now() + bound.min(wait::LONGEST);
    loop {
        match listener.accept() {
            Ok((stream, peer)) => {
                // Linux hands out blocking sockets whatever the listener is; others copy it.
                #[cfg(not(target_os = "linux"))]
                stream.set_nonblocking(false).map_err(failed)?;
                apply(&SockRef::from(&stream), peer.is_ipv6(), options)?;
                return Ok(Some((stream, peer)));
            }
            Err(why) if why.kind() == io::ErrorKind::WouldBlock => {
                let left = deadline.saturating_duration_since(Instant::now());
                if !wait::readable(listener, left).map_err(failed)? {
                    return Ok(None);
                }
            }
            Err(why) if passing(&why) => {}
            Err(why) if imp::too_many_open(&why) => return Err(TcpError::TooManyOpen { why }),
            Err(why) => return Err(failed(why)),
        }
    }
}

/// The caller hung up before it was accepted, or a signal came.
fn passing(why: &io::Error) -> bool {
    matches!(
        why.kind(),
        io::ErrorKind::Interrupted
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
    )
}

/// The options of one connection as the system granted them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TcpGranted {
    /// Send buffer.
    pub sndbuf: Granted,
    /// Receive buffer.
    pub rcvbuf: Granted,
    /// Congestion control in use.
    pub cc: Option<String>,
    /// Segment payload in use, in bytes.
    pub mss_bytes: Option<u32>,
    /// True when the connection really uses multipath TCP; `None` when it was not asked for.
    pub multipath: Option<bool>,
}

/// Reads back what was granted.
pub fn granted(stream: &TcpStream, options: &TcpOptions) -> io::Result<TcpGranted> {
    let socket = SockRef::from(stream);
    Ok(TcpGranted {
        sndbuf: Granted {
            asked_bytes: options.sndbuf_bytes,
            granted_bytes: usable(socket.send_buffer_size()?),
        },
        rcvbuf: Granted {
            asked_bytes: options.rcvbuf_bytes,
            granted_bytes: usable(socket.recv_buffer_size()?),
        },
        cc: imp::congestion_control(&socket),
        mss_bytes: imp::segment_bytes(&socket),
        multipath: options.mptcp.then(|| is_multipath(stream)),
    })
}

/// Unread and unsent bytes of one connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Queues {
    /// Received by the kernel, not yet read (`SIOCINQ`).
    pub unread_bytes: u64,
    /// Written, not yet acknowledged by the peer's kernel (`SIOCOUTQ`).
    pub unacked_bytes: u64,
    /// Of these, not yet sent (`SIOCOUTQNSD`).
    pub unsent_bytes: u64,
}

/// Reads how much waits in the kernel's queues.
///
/// Errors: [`io::ErrorKind::Unsupported`] outside Linux.
pub fn queues(stream: &TcpStream) -> io::Result<Queues> {
    imp::queues(stream)
}

fn open(address: SocketAddr, options: &TcpOptions) -> Result<Socket, TcpError> {
    let protocol = if options.mptcp {
        imp::multipath_protocol().map_err(|why| TcpError::NoMultipath { why })?
    } else {
        Protocol::TCP
    };
    let domain = Domain::for_address(address);
    Socket::new(domain, Type::STREAM, Some(protocol)).map_err(|why| {
        if imp::too_many_open(&why) {
            TcpError::TooManyOpen { why }
        } else if options.mptcp {
            TcpError::NoMultipath { why }
        } else {
            TcpError::Io {
                what: "cannot open a TCP socket".into(),
                why,
            }
        }
    })
}

/// Names the option that failed.
fn accepted(
    option: &'static str,
    value: &dyn fmt::Display,
    result: io::Result<()>,
) -> Result<(), TcpError> {
    result.map_err(|why| TcpError::Option {
        option,
        value: value.to_string(),
        why,
    })
}

fn apply(socket: &SockRef<'_>, v6: bool, options: &TcpOptions) -> Result<(), TcpError> {
    if options.nodelay {
        accepted("TCP_NODELAY", &true, socket.set_tcp_nodelay(true))?;
    }
    if let Some(bytes) = options.sndbuf_bytes {
        let set = socket.set_send_buffer_size(bytes.min(i32::MAX as u64) as usize);
        accepted("SO_SNDBUF", &bytes, set)?;
    }
    if let Some(bytes) = options.rcvbuf_bytes {
        let set = socket.set_recv_buffer_size(bytes.min(i32::MAX as u64) as usize);
        accepted("SO_RCVBUF", &bytes, set)?;
    }
    if let Some(dscp) = options.dscp
        && dscp > 63
    {
        let why = io::Error::new(io::ErrorKind::InvalidInput, "above 63");
        accepted("DSCP", &dscp, Err(why))?;
    }
    imp::apply(socket, v6, options)
}

fn not_connected(peer: SocketAddr, bound: Duration, why: io::Error) -> TcpError {
    use io::ErrorKind::*;
    match why.kind() {
        ConnectionRefused => TcpError::Refused { peer },
        TimedOut | WouldBlock => TcpError::TimedOut { peer, bound },
        NetworkUnreachable | HostUnreachable => TcpError::Unreachable { peer, why },
        AddrNotAvailable => TcpError::PortsExhausted { peer },
        _ => TcpError::Io {
            what: format!("cannot connect to {peer}"),
            why,
        },
    }
}

#[cfg(test)]
mod tests;
