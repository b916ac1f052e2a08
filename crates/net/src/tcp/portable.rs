//! Any system: the options that all know; the others are answered with "unsupported".

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use socket2::{Protocol, SockRef, Socket};

use super::{Queues, TcpError, TcpOptions, accepted};
use crate::absent::unsupported;

pub(super) fn connect(socket: &Socket, peer: SocketAddr, bound: Duration) -> io::Result<()> {
    socket.connect_timeout(&peer.into(), bound.max(Duration::from_millis(1)))
}

pub(super) fn multipath_protocol() -> io::Result<Protocol> {
    Err(unsupported("multipath TCP"))
}

pub(super) fn too_many_open(why: &io::Error) -> bool {
    // EMFILE and ENFILE on Unix, WSAEMFILE on Windows.
    let known: &[i32] = if cfg!(windows) { &[10024] } else { &[24, 23] };
    why.raw_os_error().is_some_and(|code| known.contains(&code))
}

pub(super) fn apply(
    _socket: &SockRef<'_>,
    _v6: bool,
    options: &TcpOptions,
) -> Result<(), TcpError> {
    let asked: [(&'static str, Option<String>); 8] = [
        ("TCP_CONGESTION", options.cc.clone()),
        (
            "TCP_WINDOW_CLAMP",
            options.window_clamp_bytes.map(|v| v.to_string()),
        ),
        ("TCP_MAXSEG", options.mss_bytes.map(|v| v.to_string())),
        ("IP_TOS", options.dscp.map(|v| v.to_string())),
        (
            "SO_MAX_PACING_RATE",
            options.max_pacing_bytes_per_s.map(|v| v.to_string()),
        ),
        (
            "TCP_USER_TIMEOUT",
            options.user_timeout.map(|v| v.as_millis().to_string()),
        ),
        ("TCP_QUICKACK", options.quickack.then(|| true.to_string())),
        ("SO_BUSY_POLL", options.busy_poll_us.map(|v| v.to_string())),
    ];
    for (option, value) in asked {
        if let Some(value) = value {
            accepted(option, &value, Err(unsupported("such option")))?;
        }
    }
    Ok(())
}

/// Always an error.
pub fn quick_ack(_stream: &TcpStream) -> io::Result<()> {
    Err(unsupported("TCP_QUICKACK"))
}

pub(super) fn congestion_control(_socket: &SockRef<'_>) -> Option<String> {
    None
}

pub(super) fn segment_bytes(_socket: &SockRef<'_>) -> Option<u32> {
    None
}

/// Not told here.
pub fn congestion_controls() -> Vec<String> {
    Vec::new()
}

/// Always an error.
pub fn is_multipath(_stream: &TcpStream) -> bool {
    false
}

pub(super) fn queues(_stream: &TcpStream) -> io::Result<Queues> {
    Err(unsupported("view of a connection's queues"))
}
