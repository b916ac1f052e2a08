//! Substitute for systems without sealed memory files and futexes.

use std::time::Duration;

use crate::absent::NoStream;
use crate::stream::{StreamError, StreamKind};
use crate::unix::{LocalStream, Name};

/// A stream type without values.
pub type ShmStream = NoStream;

fn absent() -> StreamError {
    StreamError::unavailable(StreamKind::Shm, "it offers no sealed memory files")
}

/// Reports that this system cannot share memory in this way.
pub fn available() -> Result<(), StreamError> {
    Err(absent())
}

/// Always an error on this system.
pub fn connect(
    _name: &Name,
    _ring_bytes: usize,
    _bound: Duration,
) -> Result<ShmStream, StreamError> {
    Err(absent())
}

/// Always an error on this system.
pub fn accept(_stream: LocalStream, _bound: Duration) -> Result<ShmStream, StreamError> {
    Err(absent())
}
