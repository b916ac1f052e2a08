//! Any system: plain and vectored sends from ordinary memory.

use std::io;
use std::net::TcpStream;
use std::time::Duration;

use super::{Achieved, SendPath};
use crate::absent::unsupported;

pub(super) fn can_discard() -> io::Result<()> {
    Err(unsupported("discarding of received bytes (MSG_TRUNC)"))
}

pub(super) fn gather(_tcp: &TcpStream, _bytes: usize) -> io::Result<()> {
    Err(unsupported("waking for many bytes at once (SO_RCVLOWAT)"))
}

pub(super) fn discard(_tcp: &TcpStream, _bytes: usize) -> io::Result<usize> {
    can_discard().map(|()| 0)
}

/// The bytes that a sender repeats.
pub(super) struct Block(Vec<u8>);

impl Block {
    pub(super) fn new(_tcp: &TcpStream, path: SendPath, bytes: &[u8]) -> io::Result<Self> {
        match path {
            SendPath::Plain | SendPath::Vectored => Ok(Self(bytes.to_vec())),
            SendPath::Zerocopy => Err(unsupported("MSG_ZEROCOPY")),
            SendPath::Sendfile => Err(unsupported("sendfile from memory")),
        }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

    pub(super) fn send_pages(
        &mut self,
        _tcp: &TcpStream,
        _at: usize,
        _length: usize,
        _achieved: &mut Achieved,
    ) -> io::Result<usize> {
        Err(unsupported("MSG_ZEROCOPY"))
    }

    pub(super) fn send_file(
        &self,
        _tcp: &TcpStream,
        _at: usize,
        _length: usize,
    ) -> io::Result<usize> {
        Err(unsupported("sendfile from memory"))
    }

    pub(super) fn finish(
        &mut self,
        _tcp: &TcpStream,
        _bound: Duration,
        _achieved: &mut Achieved,
    ) -> io::Result<()> {
        Ok(())
    }
}
