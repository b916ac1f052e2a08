//! Time stamps of arriving datagrams: from the kernel where it offers them, otherwise from the
//! program.
//!
//! The two differ by the time to wake the receiving thread: some microseconds on an idle host and
//! milliseconds on a busy one. Linux stamps arrivals itself (`SO_TIMESTAMPNS`); elsewhere only the
//! program's own stamp is available. [`Stamped::by_kernel`] tells which of the two a stamp is.

use std::io;
use std::net::{SocketAddr, UdpSocket};

#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
#[path = "linux.rs"]
mod imp;
#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
#[path = "portable.rs"]
mod imp;

/// A datagram that was received into the caller's buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamped {
    /// Bytes in the buffer; the part of the datagram that did not fit is lost.
    pub length: usize,
    /// Arrival on the monotonic clock, nanoseconds.
    pub at_ns: i64,
    /// True when the kernel took the time, false when the program did.
    pub by_kernel: bool,
    /// The sender's address.
    pub from: Option<SocketAddr>,
}

/// Requests kernel time stamps for datagrams that arrive on this socket from now on.
///
/// Errors: the system offers none; [`receive`] then stamps itself.
pub fn enable(socket: &UdpSocket) -> io::Result<()> {
    imp::enable(socket)
}

/// Receives one datagram as [`UdpSocket::recv_from`] does, with the time of its arrival.
///
/// Errors: as there; silence for as long as the socket's bound is one of them.
#[inline]
pub fn receive(socket: &UdpSocket, buffer: &mut [u8]) -> io::Result<Stamped> {
    imp::receive(socket, buffer)
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;
    use std::time::Duration;

    use super::*;
    use crate::clock::now_ns;

    fn pair() -> (UdpSocket, UdpSocket) {
        let receiver = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        receiver
            .set_read_timeout(Some(Duration::from_secs(10)))
            .unwrap();
        let sender = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        sender.connect(receiver.local_addr().unwrap()).unwrap();
        (sender, receiver)
    }

    #[test]
    fn a_stamp_lies_between_sending_and_having() {
        let (sender, receiver) = pair();
        let by_kernel = enable(&receiver).is_ok();
        let mut buffer = [0u8; 16];
        for round in 0..20u8 {
            let before_ns = now_ns();
            sender.send(&[round, 1, 2]).unwrap();
            let got = receive(&receiver, &mut buffer).unwrap();
            assert_eq!((got.length, buffer[0]), (3, round));
            assert_eq!(got.from, sender.local_addr().ok());
            // The wall clock that the kernel stamps with may be slewed against the monotonic one.
            assert!(got.at_ns >= before_ns - 1_000_000 && got.at_ns <= now_ns());
            assert!(
                by_kernel || !got.by_kernel,
                "the kernel was not asked for stamps"
            );
        }
    }

    #[test]
    fn without_being_asked_the_program_stamps() {
        let (sender, receiver) = pair();
        sender.send(&[7; 40]).unwrap();
        let mut buffer = [0u8; 16];
        let got = receive(&receiver, &mut buffer).unwrap();
        assert_eq!((got.length, got.by_kernel), (16, false));
    }

    #[test]
    fn silence_is_an_error() {
        let (_sender, receiver) = pair();
        receiver.set_nonblocking(true).unwrap();
        let error = receive(&receiver, &mut [0u8; 16]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
    }
}
