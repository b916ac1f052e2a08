//! Substitute for systems without kernel time stamps: the program reads the clock after it received
//! the datagram.

use std::io;
use std::net::UdpSocket;

use super::Stamped;
use crate::clock::now_ns;

pub(super) fn enable(_socket: &UdpSocket) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(super) fn receive(socket: &UdpSocket, buffer: &mut [u8]) -> io::Result<Stamped> {
    let (length, from) = socket.recv_from(buffer)?;
    Ok(Stamped {
        length,
        at_ns: now_ns(),
        by_kernel: false,
        from: Some(from),
    })
}
