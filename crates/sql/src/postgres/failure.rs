//! Failures of a session, before it is known who asks for them.

use std::io;

use super::wire::{Garbled, ServerError, Unwritable};
use crate::error::{Class, SqlError};
use crate::tls;

/// Failure of a call, or of the way to the server.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The server reports it.
    Server(Box<ServerError>),
    /// The connection failed.
    Io(io::Error),
    /// The bytes of the server are not PostgreSQL's protocol.
    Garbled,
    /// The server has no TLS, which is required.
    NoTls,
    /// The server wants a password, and none is given.
    NoPassword,
    /// The server wants an authentication that is not supported.
    Unsupported(String),
    /// The session itself is well, this call is not.
    Call(SqlError),
}

impl Failure {
    /// The session cannot be used any more.
    pub(crate) fn is_lost(&self) -> bool {
        match self {
            Self::Server(said) => {
                said.is_fatal() || Class::of_state(&said.code) == Class::Connection
            }
            Self::Call(error) => error.is_lost,
            _ => true,
        }
    }

    /// The failure as all engines tell it. Not `From`: one more way to an [`SqlError`] would leave the errors of
    /// callers' closures open.
    pub(crate) fn told(self) -> SqlError {
        let is_lost = self.is_lost();
        match self {
            Self::Server(said) => SqlError {
                class: Class::of_state(&said.code),
                code: Some(said.code),
                message: said.message,
                is_lost,
            },
            Self::Io(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                SqlError::lost("the server closed the connection")
            }
            Self::Io(error) => {
                tls::refused(&error).unwrap_or_else(|| SqlError::lost(error.to_string()))
            }
            Self::Garbled => SqlError::lost("the answer is not one of PostgreSQL"),
            Self::NoTls => SqlError::no_tls(),
            Self::NoPassword => SqlError {
                class: Class::Denied,
                ..SqlError::lost("the server wants a password, and none is given")
            },
            Self::Unsupported(what) => SqlError::lost(what),
            Self::Call(error) => error,
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        // Without an error of its own it is one of the session: rustls and resolvers add theirs.
        match error.kind() == io::ErrorKind::InvalidData && error.get_ref().is_none() {
            true => Self::Garbled,
            false => Self::Io(error),
        }
    }
}

impl From<Garbled> for Failure {
    fn from(_: Garbled) -> Self {
        Self::Garbled
    }
}

impl From<Unwritable> for Failure {
    fn from(why: Unwritable) -> Self {
        Self::Call(SqlError::unreadable(why.0))
    }
}
