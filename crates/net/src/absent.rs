//! Shared parts of the substitutes for features that the system or the build lacks.
//!
//! Beside each `linux.rs` or `unix.rs` there is either `portable.rs`, which does the same by means of
//! every system, or `absent.rs`, whose types have no value and whose calls return an error that names
//! the missing feature.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::time::Duration;

use crate::stream::{Stream, StreamKind};
use crate::wait::Wait;

/// The error of a call for something that this system lacks.
pub(crate) fn unsupported(what: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::Unsupported,
        format!("this system offers no {what}"),
    )
}

/// A stream type without values.
#[derive(Debug)]
pub enum NoStream {}

impl Read for NoStream {
    fn read(&mut self, _out: &mut [u8]) -> io::Result<usize> {
        match *self {}
    }
}

impl Write for NoStream {
    fn write(&mut self, _bytes: &[u8]) -> io::Result<usize> {
        match *self {}
    }

    fn flush(&mut self) -> io::Result<()> {
        match *self {}
    }
}

impl Stream for NoStream {
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
