//! Any system with sockets: one call per datagram.

use std::io;
use std::net::{SocketAddr, UdpSocket};

use super::{Datagram, SendMode, SendProblem, Sent, is_passing};
use crate::absent::unsupported;

/// A peer's address.
pub type RawAddress<'a> = SocketAddr;

/// Reads a peer's address.
pub fn socket_address(raw: &RawAddress<'_>) -> Option<SocketAddr> {
    Some(*raw)
}

/// Always an error.
pub fn enable_gro(_socket: &UdpSocket) -> io::Result<()> {
    Err(unsupported("UDP receive coalescing (GRO)"))
}

/// Always an error.
pub fn segmentation(_socket: &UdpSocket, _size_bytes: usize) -> io::Result<()> {
    Err(unsupported("UDP segmentation (GSO)"))
}

/// Refusals are reported without asking here.
pub fn report_refusals(_socket: &UdpSocket) -> io::Result<()> {
    Ok(())
}

/// Always an error.
pub fn socket_drops(_socket: &UdpSocket) -> Option<u32> {
    None
}

/// Always an error.
pub fn path_mtu(_socket: &UdpSocket) -> Option<u32> {
    None
}

/// Reason why a send failed.
pub fn send_problem(error: &io::Error) -> SendProblem {
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::OutOfMemory => SendProblem::Refused,
        io::ErrorKind::ConnectionRefused
        | io::ErrorKind::ConnectionReset
        | io::ErrorKind::HostUnreachable
        | io::ErrorKind::NetworkUnreachable => SendProblem::Unreachable,
        _ => SendProblem::Other(error.raw_os_error().unwrap_or(0)),
    }
}

/// Sends slots of one buffer over a connected socket, one by one.
pub struct Sender {
    socket: UdpSocket,
    buffer: Vec<u8>,
    length: usize,
}

impl Sender {
    /// Prepares a connected socket for datagrams of up to `size_bytes`.
    pub fn new(socket: UdpSocket, mode: SendMode, size_bytes: usize) -> io::Result<Self> {
        match mode {
            SendMode::Plain => Ok(Self {
                socket,
                buffer: vec![0; size_bytes],
                length: size_bytes,
            }),
            SendMode::Mmsg => Err(unsupported("batched sends (sendmmsg)")),
            SendMode::Gso => Err(unsupported("UDP segmentation (GSO)")),
        }
    }

    /// Datagrams that one call can carry.
    pub fn batch(&self) -> usize {
        1
    }

    /// The socket, for reading its state.
    pub fn socket(&self) -> &UdpSocket {
        &self.socket
    }

    /// Bytes of the next datagram.
    pub fn slot(&mut self, _index: usize) -> &mut [u8] {
        &mut self.buffer
    }

    /// Makes the next datagram `bytes` long.
    pub fn set_length(&mut self, _index: usize, bytes: usize) {
        self.length = bytes.min(self.buffer.len());
    }

    /// Hands the datagram to the system.
    pub fn send(&mut self, _count: usize) -> Sent {
        match self.socket.send(&self.buffer[..self.length]) {
            Ok(_) => Sent {
                taken: 1,
                problem: None,
            },
            Err(error) => Sent {
                taken: 0,
                problem: Some(send_problem(&error)),
            },
        }
    }
}

/// Takes datagrams from a bound socket, one by one.
pub struct Receiver {
    socket: UdpSocket,
    buffer: Vec<u8>,
    ready: Option<(usize, SocketAddr)>,
    refusals: u64,
}

impl Receiver {
    /// Prepares a bound socket for datagrams of up to `size_bytes`.
    pub fn new(socket: UdpSocket, size_bytes: usize, _gro: bool, _batch: usize) -> Self {
        Self {
            socket,
            buffer: vec![0; size_bytes],
            ready: None,
            refusals: 0,
        }
    }

    /// The socket, for reading its state.
    pub fn socket(&self) -> &UdpSocket {
        &self.socket
    }

    /// Waits for a datagram, as long as the socket's bound allows; 0 when the bound passed.
    pub fn receive(&mut self) -> io::Result<usize> {
        self.ready = None;
        match self.socket.recv_from(&mut self.buffer) {
            Ok(ready) => {
                self.ready = Some(ready);
                Ok(1)
            }
            Err(error) if is_passing(&error) => {
                self.refusals += 1;
                Ok(0)
            }
            Err(error) => match error.kind() {
                io::ErrorKind::WouldBlock
                | io::ErrorKind::TimedOut
                | io::ErrorKind::Interrupted => Ok(0),
                _ => Err(error),
            },
        }
    }

    /// Takes a datagram if one is there.
    pub fn receive_ready(&mut self) -> io::Result<usize> {
        self.socket.set_nonblocking(true)?;
        let outcome = self.receive();
        self.socket.set_nonblocking(false)?;
        outcome
    }

    /// Times that a connected socket learnt that nothing listens at its peer's port.
    pub fn refusals(&self) -> u64 {
        self.refusals
    }

    /// Calls `each` for the datagram of the last receive.
    pub fn for_each(&self, mut each: impl FnMut(Datagram<'_>)) {
        if let Some((length, from)) = self.ready {
            each(Datagram {
                bytes: &self.buffer[..length],
                truncated: false,
                segments: 1,
                from,
            });
        }
    }
}
