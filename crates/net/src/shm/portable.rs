//! Systems without sealed memory files and futexes.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::time::Duration;

use crate::stream::{Stream, StreamError, StreamKind};
use crate::unix::{LocalStream, Name};
use crate::wait::Wait;

const WHY: &str = "it offers no sealed memory files";

/// Cannot be made here.
pub enum ShmStream {}

/// Tells that this system cannot share memory so.
pub fn available() -> Result<(), StreamError> {
    Err(StreamError::unavailable(StreamKind::Shm, WHY))
}

/// Not offered here.
pub fn connect(
    _name: &Name,
    _ring_bytes: usize,
    _bound: Duration,
) -> Result<ShmStream, StreamError> {
    Err(StreamError::unavailable(StreamKind::Shm, WHY))
}

/// Not offered here.
pub fn accept(_stream: LocalStream, _bound: Duration) -> Result<ShmStream, StreamError> {
    Err(StreamError::unavailable(StreamKind::Shm, WHY))
}

impl Read for ShmStream {
    fn read(&mut self, _out: &mut [u8]) -> io::Result<usize> {
        match *self {}
    }
}

impl Write for ShmStream {
    fn write(&mut self, _bytes: &[u8]) -> io::Result<usize> {
        match *self {}
    }

    fn flush(&mut self) -> io::Result<()> {
        match *self {}
    }
}

impl Stream for ShmStream {
    fn kind(&self) -> StreamKind {
        match *self {}
    }

    fn set_wait(&mut self, _wait: Wait) -> io::Result<()> {
        match *self {}
    }

    fn set_read_bound(&mut self, _bound: Duration) -> io::Result<()> {
        match *self {}
    }

    fn set_write_bound(&mut self, _bound: Duration) -> io::Result<()> {
        match *self {}
    }

    fn shutdown(&mut self, _how: Shutdown) -> io::Result<()> {
        match *self {}
    }

    fn split(self: Box<Self>) -> io::Result<(Box<dyn Stream>, Box<dyn Stream>)> {
        match *self {}
    }
}
