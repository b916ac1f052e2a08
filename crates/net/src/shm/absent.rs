//! Substitute for systems without sealed memory files and futexes.

use std::time::Duration;

use crate::absent::NoStream;
use crate::stream::{StreamError, StreamKind};
use crate::unix::{LocalStream, Name};

/// Cannot be made here.
pub type ShmStream = NoStream;

fn absent() -> StreamError {
    StreamError::unavailable(StreamKind::Shm, "it offers no sealed memory files")
}

/// Tells that this system cannot share memory so.
pub fn available() -> Result<(), StreamError> {
    Err(absent())
}

/// Not offered here.
pub fn connect(
    _name: &Name,
    _ring_bytes: usize,
    _bound: Duration,
) -> Result<ShmStream, StreamError> {
    Err(absent())
}

/// Not offered here.
pub fn accept(_stream: LocalStream, _bound: Duration) -> Result<ShmStream, StreamError> {
    Err(absent())
}
