//! Linux: options, queues and multipath TCP.

use std::io;
use std::mem::size_of;
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsRawFd as _, RawFd};
use std::time::Duration;

use socket2::{Protocol, SockRef, Socket};

use super::{Queues, TcpError, TcpOptions, accepted};
use crate::wait;

/// `SO_MAX_PACING_RATE` (asm-generic/socket.h).
const SO_MAX_PACING_RATE: i32 = 47;
/// `SOL_MPTCP` (linux/socket.h) and `MPTCP_INFO` (linux/mptcp.h).
const SOL_MPTCP: i32 = 284;
const MPTCP_INFO: i32 = 1;
/// `SIOCOUTQNSD` (linux/sockios.h).
const SIOCOUTQNSD: libc::Ioctl = 0x894B;

/// Connects within the bound.
///
/// `SO_SNDTIMEO` bounds `connect` (socket(7)) in one call where a poll would need four; the caller
/// sets its own bound for writing afterwards.
pub(super) fn connect(socket: &Socket, peer: SocketAddr, bound: Duration) -> io::Result<()> {
    let bound = bound.clamp(Duration::from_millis(1), wait::LONGEST);
    socket.set_write_timeout(Some(bound))?;
    match socket.connect(&peer.into()) {
        // What `SO_SNDTIMEO` makes of a connect that takes too long.
        Err(why) if why.raw_os_error() == Some(libc::EINPROGRESS) => {
            Err(io::ErrorKind::TimedOut.into())
        }
        // A signal; the attempt goes on by itself, so wait for its end.
        Err(why) if why.kind() == io::ErrorKind::Interrupted => finish(socket, bound),
        done => done,
    }
}

fn finish(socket: &Socket, bound: Duration) -> io::Result<()> {
    if !wait::writable(socket, bound)? {
        return Err(io::ErrorKind::TimedOut.into());
    }
    match socket.take_error()? {
        None => Ok(()),
        Some(why) => Err(why),
    }
}

pub(super) fn multipath_protocol() -> io::Result<Protocol> {
    Ok(Protocol::MPTCP)
}

pub(super) fn too_many_open(why: &io::Error) -> bool {
    matches!(why.raw_os_error(), Some(libc::EMFILE | libc::ENFILE))
}

/// Sets an option whose value is an integer.
pub(super) fn set<T: Copy>(fd: RawFd, level: i32, name: i32, value: T) -> io::Result<()> {
    // SAFETY: the pointer and length describe one live value without padding (an integer).
    let status = unsafe {
        libc::setsockopt(
            fd,
            level,
            name,
            std::ptr::from_ref(&value).cast(),
            size_of::<T>() as libc::socklen_t,
        )
    };
    if status == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

pub(super) fn apply(socket: &SockRef<'_>, v6: bool, options: &TcpOptions) -> Result<(), TcpError> {
    let fd = socket.as_raw_fd();
    if let Some(cc) = &options.cc {
        accepted(
            "TCP_CONGESTION",
            cc,
            socket.set_tcp_congestion(cc.as_bytes()),
        )?;
    }
    if let Some(bytes) = options.window_clamp_bytes {
        let done = set(fd, libc::IPPROTO_TCP, libc::TCP_WINDOW_CLAMP, bytes as i32);
        accepted("TCP_WINDOW_CLAMP", &bytes, done)?;
    }
    if let Some(bytes) = options.mss_bytes {
        accepted("TCP_MAXSEG", &bytes, socket.set_tcp_mss(bytes))?;
    }
    if let Some(dscp) = options.dscp {
        // The two lowest bits belong to congestion notification.
        let class = u32::from(dscp) << 2;
        let done = if v6 {
            socket.set_tclass_v6(class)
        } else {
            socket.set_tos_v4(class)
        };
        accepted(if v6 { "IPV6_TCLASS" } else { "IP_TOS" }, &dscp, done)?;
    }
    if let Some(rate) = options.max_pacing_bytes_per_s {
        let done = set(fd, libc::SOL_SOCKET, SO_MAX_PACING_RATE, rate);
        accepted("SO_MAX_PACING_RATE", &rate, done)?;
    }
    if let Some(bound) = options.user_timeout {
        let done = socket.set_tcp_user_timeout(Some(bound));
        accepted("TCP_USER_TIMEOUT", &bound.as_millis(), done)?;
    }
    if options.quickack {
        accepted("TCP_QUICKACK", &true, socket.set_tcp_quickack(true))?;
    }
    if let Some(us) = options.busy_poll_us {
        accepted("SO_BUSY_POLL", &us, socket.set_busy_poll(us))?;
    }
    Ok(())
}

/// Asks for an immediate acknowledgement of what has arrived; the kernel forgets it after a while,
/// so it is asked again after each read.
///
/// Errors: the system's; [`io::ErrorKind::Unsupported`] outside Linux.
pub fn quick_ack(stream: &TcpStream) -> io::Result<()> {
    SockRef::from(stream).set_tcp_quickack(true)
}

pub(super) fn congestion_control(socket: &SockRef<'_>) -> Option<String> {
    let name = socket.tcp_congestion().ok()?;
    let name = name.split(|byte| *byte == 0).next()?;
    Some(String::from_utf8_lossy(name).into_owned())
}

pub(super) fn segment_bytes(socket: &SockRef<'_>) -> Option<u32> {
    socket.tcp_mss().ok()
}

/// Congestion controls that a socket can be given here; empty where the system does not tell.
pub fn congestion_controls() -> Vec<String> {
    std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control")
        .map(|text| text.split_whitespace().map(str::to_owned).collect())
        .unwrap_or_default()
}

/// True when this connection uses multipath TCP: asked for by both ends, and not fallen back to
/// plain TCP on the way.
pub fn is_multipath(stream: &TcpStream) -> bool {
    // The beginning of `struct mptcp_info`; the kernel writes no more than it is given room for.
    let mut info = [0u8; 64];
    let mut length = info.len() as libc::socklen_t;
    // SAFETY: the pointer and length describe the live array.
    let status = unsafe {
        libc::getsockopt(
            stream.as_raw_fd(),
            SOL_MPTCP,
            MPTCP_INFO,
            info.as_mut_ptr().cast(),
            &mut length,
        )
    };
    status == 0
}

fn queued(fd: RawFd, request: libc::Ioctl) -> io::Result<u64> {
    let mut bytes: libc::c_int = 0;
    // SAFETY: these three requests write one int to the pointer.
    let status = unsafe { libc::ioctl(fd, request, std::ptr::from_mut(&mut bytes)) };
    if status == 0 {
        Ok(bytes.max(0) as u64)
    } else {
        Err(io::Error::last_os_error())
    }
}

pub(super) fn queues(stream: &TcpStream) -> io::Result<Queues> {
    let fd = stream.as_raw_fd();
    Ok(Queues {
        // SIOCINQ and SIOCOUTQ are other names of these two (linux/sockios.h).
        unread_bytes: queued(fd, libc::FIONREAD)?,
        unacked_bytes: queued(fd, libc::TIOCOUTQ)?,
        unsent_bytes: queued(fd, SIOCOUTQNSD)?,
    })
}
