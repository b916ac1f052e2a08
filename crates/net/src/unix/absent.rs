//! Substitute for systems without unix sockets.

use std::time::Duration;

use super::Name;
use crate::absent::NoStream;
use crate::stream::{StreamError, StreamKind};

/// Cannot be made here.
pub type LocalStream = NoStream;

fn absent() -> StreamError {
    StreamError::unavailable(StreamKind::Unix, "it offers no unix sockets")
}

/// Not offered here.
pub fn connect(_name: &Name, _bound: Duration) -> Result<LocalStream, StreamError> {
    Err(absent())
}

/// Cannot be made here.
pub enum Listener {}

impl Listener {
    /// Not offered here.
    pub fn bind(_name: &Name) -> Result<Self, StreamError> {
        Err(absent())
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
