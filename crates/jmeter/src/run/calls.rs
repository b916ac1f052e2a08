//! Calls of users that others make for them, and their answers.

use super::databases::{DatabaseAnswer, DatabaseCall};
use super::sockets::{TcpAnswer, TcpCall};

/// A call of a user that others make for it.
#[derive(Debug, Clone, PartialEq)]
pub enum Call {
    /// On a database.
    Database(Box<DatabaseCall>),
    /// Over a TCP connection.
    Tcp(Box<TcpCall>),
}

/// The answer to a call.
#[derive(Debug, Clone, PartialEq)]
pub enum CallAnswer {
    /// Of a database.
    Database(Box<DatabaseAnswer>),
    /// Over a TCP connection.
    Tcp(Box<TcpAnswer>),
}

impl Call {
    /// The answer where nobody makes calls any more.
    pub fn nobody(&self, now_ns: i64) -> CallAnswer {
        match self {
            Self::Database(_) => CallAnswer::Database(Box::new(DatabaseAnswer::nobody(now_ns))),
            Self::Tcp(_) => CallAnswer::Tcp(Box::new(TcpAnswer::nobody(now_ns))),
        }
    }
}
