//! Systems without unix sockets.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::time::Duration;

use super::Name;
use crate::stream::{Stream, StreamError, StreamKind};
use crate::wait::Wait;

const WHY: &str = "it offers no unix sockets";

/// Cannot be made here.
pub enum LocalStream {}

/// Not offered here.
pub fn connect(_name: &Name, _bound: Duration) -> Result<LocalStream, StreamError> {
    Err(StreamError::unavailable(StreamKind::Unix, WHY))
}

/// Cannot be made here.
pub enum Listener {}

impl Listener {
    /// Not offered here.
    pub fn bind(_name: &Name) -> Result<Self, StreamError> {
        Err(StreamError::unavailable(StreamKind::Unix, WHY))
    }

    /// Where callers find it.
    pub fn name(&self) -> &Name {
        match *self {}
    }

    /// Waits for a caller.
    pub fn accept(&self, _bound: Duration) -> Result<Option<LocalStream>, StreamError> {
        match *self {}
    }
}

impl Read for LocalStream {
    fn read(&mut self, _out: &mut [u8]) -> io::Result<usize> {
        match *self {}
    }
}

impl Write for LocalStream {
    fn write(&mut self, _bytes: &[u8]) -> io::Result<usize> {
        match *self {}
    }

    fn flush(&mut self) -> io::Result<()> {
        match *self {}
    }
}

impl Stream for LocalStream {
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
