//! Sends and receives datagrams in batches, with the cheapest system calls available.
//!
//! ```text
//! plain   one call, one datagram
//! mmsg    one call, up to [`MMSG_BATCH`] datagrams, each its own packet (sendmmsg, recvmmsg)
//! gso     one call, one large buffer that the kernel or the device cuts into datagrams;
//!         with GRO the receiver gets such a buffer back uncut
//! ```
//!
//! Linux has all three. Elsewhere only [`SendMode::Plain`] works, and the other modes fail with
//! [`std::io::ErrorKind::Unsupported`].

use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::time::Duration;

use socket2::{Domain, Protocol, Socket, Type};

#[cfg(target_os = "linux")]
#[path = "linux.rs"]
mod imp;
#[cfg(not(target_os = "linux"))]
#[path = "portable.rs"]
mod imp;

pub use imp::{
    Receiver, Sender, enable_gro, path_mtu, report_refusals, segmentation, send_problem,
    socket_drops,
};

#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
pub(crate) use imp::{set_option, socket_address};

/// Largest UDP payload over IPv4: 65,535 minus 20 bytes of IP and 8 bytes of UDP header.
pub const MAX_PAYLOAD_BYTES: usize = 65_507;

/// Datagrams per `sendmmsg` and `recvmmsg` call.
pub const MMSG_BATCH: usize = 64;

/// Segments per segmented send; Linux before 6.9 refuses more (`UDP_MAX_SEGMENTS`).
pub const MAX_SEGMENTS: usize = 64;

/// Way in which datagrams are handed to the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SendMode {
    /// One call per datagram.
    Plain,
    /// Several datagrams per call.
    Mmsg,
    /// One buffer, cut by the kernel or the device.
    Gso,
}

impl SendMode {
    /// The mode for datagrams of different lengths: several per call where the system can.
    pub const fn of_several() -> Self {
        match cfg!(target_os = "linux") {
            true => SendMode::Mmsg,
            false => SendMode::Plain,
        }
    }

    /// Datagrams of `size_bytes` that fit in one call of this mode.
    pub fn batch(self, size_bytes: usize) -> usize {
        match self {
            SendMode::Plain => 1,
            SendMode::Mmsg => MMSG_BATCH,
            SendMode::Gso => (MAX_PAYLOAD_BYTES / size_bytes.max(1)).clamp(1, MAX_SEGMENTS),
        }
    }

    /// Name as typed after `--io`.
    pub fn name(self) -> &'static str {
        match self {
            SendMode::Plain => "plain",
            SendMode::Mmsg => "mmsg",
            SendMode::Gso => "gso",
        }
    }
}

/// The result of one send call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sent {
    /// Datagrams that the kernel took, from the first slot on.
    pub taken: usize,
    /// Reason why the next one was not accepted; `None` when all were.
    pub problem: Option<SendProblem>,
}

/// Reason why the kernel did not accept a datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SendProblem {
    /// No room: `ENOBUFS`, `EAGAIN`. The datagram is lost at the sender.
    Refused,
    /// An ICMP error for an earlier datagram came back: port or host unreachable. Nothing was
    /// sent by this call; calling again sends.
    Unreachable,
    /// Larger than the interface or path allows while fragmentation is off: `EMSGSIZE`.
    TooLarge,
    /// Anything else, as the system's error number.
    Other(i32),
}

/// One received datagram.
pub struct Datagram<'a> {
    /// The payload; cut short when `truncated`.
    pub bytes: &'a [u8],
    /// True when it was longer than the receiver's slots.
    pub truncated: bool,
    /// Datagrams in the buffer that it came in: 1 without GRO.
    pub segments: usize,
    from: imp::RawAddress<'a>,
}

impl Datagram<'_> {
    /// The sender's address.
    pub fn from(&self) -> Option<SocketAddr> {
        imp::socket_address(&self.from)
    }
}

/// A buffer size as asked for and as granted, in bytes that can really be used.
///
/// Linux grants and reports twice the number asked for, to cover its own bookkeeping; `granted`
/// is halved there so that both numbers mean the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Granted {
    /// The requested size; `None` leaves the system's default.
    pub asked_bytes: Option<u64>,
    /// The size that the system granted.
    pub granted_bytes: u64,
}

pub(crate) fn usable(reported_bytes: usize) -> u64 {
    if cfg!(target_os = "linux") {
        reported_bytes as u64 / 2
    } else {
        reported_bytes as u64
    }
}

/// Asks for a receive buffer and reads back what was granted.
pub fn receive_buffer(socket: &UdpSocket, asked_bytes: Option<u64>) -> io::Result<Granted> {
    let socket = socket2::SockRef::from(socket);
    if let Some(bytes) = asked_bytes {
        socket.set_recv_buffer_size(bytes as usize)?;
    }
    Ok(Granted {
        asked_bytes,
        granted_bytes: usable(socket.recv_buffer_size()?),
    })
}

/// Asks for a send buffer and reads back what was granted.
pub fn send_buffer(socket: &UdpSocket, asked_bytes: Option<u64>) -> io::Result<Granted> {
    let socket = socket2::SockRef::from(socket);
    if let Some(bytes) = asked_bytes {
        socket.set_send_buffer_size(bytes as usize)?;
    }
    Ok(Granted {
        asked_bytes,
        granted_bytes: usable(socket.send_buffer_size()?),
    })
}

/// Binds a UDP socket; port 0 lets the system choose.
pub fn bind(address: SocketAddr) -> io::Result<UdpSocket> {
    let socket = Socket::new(
        Domain::for_address(address),
        Type::DGRAM,
        Some(Protocol::UDP),
    )?;
    socket.bind(&address.into())?;
    Ok(socket.into())
}

/// Bounds how long a blocking receive on this socket waits.
pub fn receive_bound(socket: &UdpSocket, bound: Duration) -> io::Result<()> {
    socket.set_read_timeout(Some(bound))
}

/// Marks what this socket sends with a class of service (DSCP, 0 to 63); the two bits of congestion
/// notification stay 0.
///
/// Errors: the system has no such mark for this kind of address.
pub fn mark(socket: &UdpSocket, dscp: u8) -> io::Result<()> {
    let class = u32::from(dscp & 63) << 2;
    let v6 = socket.local_addr()?.is_ipv6();
    let socket = socket2::SockRef::from(socket);
    match v6 {
        #[cfg(unix)]
        true => socket.set_tclass_v6(class),
        #[cfg(not(unix))]
        true => Err(io::ErrorKind::Unsupported.into()),
        false => socket.set_tos_v4(class),
    }
}

/// Local address that the system would send from towards `peer`. Sends nothing.
pub fn local_address_towards(peer: SocketAddr) -> io::Result<IpAddr> {
    let any: SocketAddr = match peer {
        SocketAddr::V4(_) => ([0, 0, 0, 0], 0).into(),
        SocketAddr::V6(_) => (std::net::Ipv6Addr::UNSPECIFIED, 0).into(),
    };
    let socket = UdpSocket::bind(any)?;
    socket.connect(peer)?;
    Ok(socket.local_addr()?.ip())
}

/// True when a receive failed because of another datagram and the socket is as good as before: one of
/// its own found a closed port (which Windows calls a reset), or, on Windows, one that came was longer
/// than the buffer and is gone.
pub fn is_passing(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{ConnectionRefused, ConnectionReset};
    const WSAEMSGSIZE: i32 = 10_040;
    matches!(error.kind(), ConnectionRefused | ConnectionReset)
        || (cfg!(windows) && error.raw_os_error() == Some(WSAEMSGSIZE))
}

/// Bytes of IP and UDP headers in front of a datagram to this address.
pub fn header_bytes(peer: &SocketAddr) -> usize {
    match peer {
        SocketAddr::V4(_) => 28,
        SocketAddr::V6(_) => 48,
    }
}

#[cfg(test)]
mod tests;
