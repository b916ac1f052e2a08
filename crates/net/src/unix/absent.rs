//! Substitute for systems without unix sockets.

use std::time::Duration;

use super::Name;
use crate::absent::NoStream;
use crate::stream::{StreamError, StreamKind};

/// A type without values.
pub type LocalStream = NoStream;

fn absent() -> StreamError {
    StreamError::unavailable(StreamKind::Unix, "it offers no unix sockets")
}

/// Always an error.
pub fn connect(_name: &Name, _bound: Duration) -> Result<LocalStream, StreamError> {
    Err(absent())
}

/// A type without values.
pub enum LocalListener {}

impl LocalListener {
    /// Always an error.
    pub fn bind(_name: &Name) -> Result<Self, StreamError> {
        Err(absent())
    }

    /// The address at which it listens.
    pub fn name(&self) -> &Name {
        match *self {}
    }

    /// Waits for a caller.
    pub fn accept(&self, _bound: Duration) -> Result<Option<LocalStream>, StreamError> {
        match *self {}
    }
}
