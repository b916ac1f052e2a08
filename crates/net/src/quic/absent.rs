//! Substitute for builds without QUIC.

use std::net::SocketAddr;
use std::time::Duration;

use crate::stream::{Connected, Stream, StreamError, StreamKind};
use crate::tls::{Identity, Trust};

fn absent() -> StreamError {
    StreamError::unavailable(StreamKind::Quic, "this program was built without QUIC")
}

/// A caller type without values.
pub enum Caller {}

impl Caller {
    /// Always an error: this build has no QUIC.
    pub fn new(_trust: &Trust) -> Result<Self, StreamError> {
        Err(absent())
    }

    /// Calls a listener.
    pub fn connect(&self, _peer: SocketAddr, _bound: Duration) -> Result<Connected, StreamError> {
        match *self {}
    }
}

/// A listener type without values.
pub enum QuicListener {}

impl QuicListener {
    /// Always an error: this build has no QUIC.
    pub fn bind(_local: SocketAddr, _identity: &Identity) -> Result<Self, StreamError> {
        Err(absent())
    }

    /// The address at which it listens.
    pub fn local(&self) -> SocketAddr {
        match *self {}
    }

    /// Waits for a caller.
    pub fn accept(&self, _bound: Duration) -> Result<Option<Incoming>, StreamError> {
        match *self {}
    }
}

/// An incoming connection type without values.
pub enum Incoming {}

impl Incoming {
    /// The caller's address.
    pub fn peer(&self) -> SocketAddr {
        match *self {}
    }

    /// Does the handshake.
    pub fn establish(self, _bound: Duration) -> Result<Box<dyn Stream>, StreamError> {
        match self {}
    }
}

/// A stream type without values.
pub enum QuicStream {}
