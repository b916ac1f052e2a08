//! Failures of a session, before it is known who asks for them.

use std::io;

use crate::error::{Class, SqlError};
use crate::stream::TOO_LONG;
use crate::tls;

/// Error of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ServerError {
    pub(crate) code: u16,
    pub(crate) state: String,
    pub(crate) message: String,
}

/// Failure of a call, or of the way to the server.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The server reports it.
    Server(Box<ServerError>),
    /// The connection failed.
    Io(io::Error),
    /// The bytes of the server are not the protocol of MariaDB and MySQL.
    Garbled,
    /// A packet is longer than any may be.
    TooLong,
    /// The server has no TLS, which is required.
    NoTls,
    /// Certificates to trust cannot be had.
    Untrusted(String),
    /// The session ends with this cause.
    Lost(String),
    /// The session itself is well, this call is not.
    Call(&'static str),
}

impl Failure {
    /// The failure as all engines tell it.
    pub(crate) fn told(self) -> SqlError {
        match self {
            Self::Server(said) => of_server(*said),
            Self::Io(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                SqlError::lost("the server closed the connection")
            }
            Self::Io(error) => {
                tls::refused(&error).unwrap_or_else(|| SqlError::lost(error.to_string()))
            }
            Self::Garbled => SqlError::lost("the answer is not one of MariaDB or MySQL"),
            Self::TooLong => SqlError::lost(TOO_LONG),
            Self::NoTls => SqlError::no_tls(),
            Self::Untrusted(why) => SqlError::untrusted(why),
            Self::Lost(why) => SqlError::lost(why),
            Self::Call(why) => SqlError::unreadable(why),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

fn of_server(said: ServerError) -> SqlError {
    let class = match said.code {
        1213 => Class::Deadlock,
        1205 => Class::LockTimeout,
        1021 | 1026 | 1040 | 1041 | 1114 | 1203 | 1226 => Class::Resources,
        1044 | 1045 | 1698 => Class::Denied,
        1053 | 1927 | 2006 | 2013 => Class::Connection,
        1317 | 3024 | 1969 => Class::Cancelled,
        _ => Class::of_state(&said.state),
    };
    // In the server's own words it looks like a secret, and is hidden with all behind it.
    let message = { said.message }
        .replace("(using password: YES)", "(with a password)")
        .replace("(using password: NO)", "(without a password)");
    SqlError {
        class,
        code: Some(format!("{}/{}", said.state, said.code)),
        message,
        is_lost: class == Class::Connection,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whether_a_password_was_given_does_not_look_like_one() {
        let told = of_server(ServerError {
            code: 1045,
            state: "28000".into(),
            message: "Access denied for user 'u'@'h' (using password: YES)".into(),
        });
        let says = "Access denied for user 'u'@'h' (with a password) (28000/1045)";
        assert_eq!((told.class, told.to_string()), (Class::Denied, says.into()));
    }

    /// The SQLSTATE of most of them says nothing, that of some something else.
    #[test]
    fn what_is_full_is_told_apart_from_sessions_that_are_all_taken() {
        for (code, state, is_of_sessions) in [
            (1021, "HY000", false),
            (1026, "HY000", false),
            (1114, "HY000", false),
            (1040, "08004", true),
            (1203, "42000", true),
            (1226, "42000", true),
        ] {
            let told = of_server(ServerError {
                code,
                state: state.into(),
                message: "no room".into(),
            });
            assert_eq!(told.class, Class::Resources, "{told}");
            assert_eq!(told.is_of_sessions(), is_of_sessions, "{told}");
        }
    }
}
