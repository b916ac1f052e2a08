//! Errors of servers and sessions, by what can be done about them.

use std::fmt;

/// Meaning of an error for the caller that ran the statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    /// The transaction could not be put in order with others: SQLSTATE 40001.
    Serialization,
    /// The transaction was chosen as the victim of a deadlock: 40P01, MySQL 1213.
    Deadlock,
    /// A lock was not free in time: 55P03, MySQL 1205, SQLite's `busy`.
    LockTimeout,
    /// A constraint was violated: class 23.
    Constraint,
    /// The session is gone, or could not be made: class 08, 57P01 to 57P03, a closed connection.
    Connection,
    /// The server has no TLS, which the data source name requires.
    NoTls,
    /// The certificate of the server is not one that the data source name trusts.
    Untrusted,
    /// The server refused who asked, or what he has no right to: class 28, 42501.
    Denied,
    /// The server has no room: class 53, a full disk, MySQL 1040, SQLite's `full`.
    Resources,
    /// The statement is wrong, or names what does not exist: class 42, 3D, 3F.
    Undefined,
    /// The statement was cancelled, or took too long: 57014.
    Cancelled,
    /// Anything else.
    Other,
}

impl Class {
    /// The class of a SQLSTATE.
    pub fn of_state(state: &str) -> Self {
        match state {
            "40001" => Self::Serialization,
            "40P01" => Self::Deadlock,
            "55P03" => Self::LockTimeout,
            "57014" => Self::Cancelled,
            "42501" => Self::Denied,
            "57P01" | "57P02" | "57P03" | "57P05" => Self::Connection,
            "58030" => Self::Resources,
            _ => match state.get(..2) {
                Some("40") => Self::Serialization,
                Some("23") => Self::Constraint,
                Some("08") => Self::Connection,
                Some("28") => Self::Denied,
                Some("53") => Self::Resources,
                Some("42" | "3D" | "3F") => Self::Undefined,
                _ => Self::Other,
            },
        }
    }

    /// True when the same transaction may succeed when it is tried again.
    pub fn is_transient(self) -> bool {
        matches!(
            self,
            Self::Serialization | Self::Deadlock | Self::LockTimeout
        )
    }
}

/// An error of a server, or of the way to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SqlError {
    /// Its meaning.
    pub class: Class,
    /// SQLSTATE, or the name of the engine's own code; `None` where the session itself failed.
    pub code: Option<String>,
    /// Message of the server, or of the system.
    pub message: String,
    /// True when the session cannot be used any more.
    pub is_lost: bool,
}

impl SqlError {
    /// A session that ended, or could not be made.
    pub fn lost(message: impl Into<String>) -> Self {
        Self {
            class: Class::Connection,
            code: None,
            message: message.into(),
            is_lost: true,
        }
    }

    /// Whether the server, or its user, has no session left: SQLSTATE 53300, MySQL 1040, 1203 and 1226.
    pub fn is_of_sessions(&self) -> bool {
        let code = self.code.as_deref().unwrap_or_default();
        let number = code.rsplit('/').next().unwrap_or_default();
        matches!(number, "53300" | "1040" | "1203" | "1226")
    }

    /// A server without TLS where it is required.
    pub(crate) fn no_tls() -> Self {
        Self {
            class: Class::NoTls,
            ..Self::lost("the server has no TLS")
        }
    }

    /// A server whose certificate is not trusted, or cannot be examined.
    pub(crate) fn untrusted(message: impl Into<String>) -> Self {
        Self {
            class: Class::Untrusted,
            ..Self::lost(message)
        }
    }

    /// A call that took longer than it may; what became of it is not known.
    pub fn timeout() -> Self {
        Self {
            class: Class::Cancelled,
            code: None,
            message: "no answer came in time".into(),
            is_lost: true,
        }
    }

    /// A value that is not of the type that was asked for.
    pub(crate) fn unreadable(message: impl Into<String>) -> Self {
        Self {
            class: Class::Other,
            code: None,
            message: message.into(),
            is_lost: false,
        }
    }
}

impl fmt::Display for SqlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.code {
            Some(code) => write!(f, "{} ({code})", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for SqlError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_fall_into_classes_and_only_conflicts_are_tried_again() {
        for (state, class, again) in [
            ("40001", Class::Serialization, true),
            ("40P01", Class::Deadlock, true),
            ("55P03", Class::LockTimeout, true),
            ("23505", Class::Constraint, false),
            ("08006", Class::Connection, false),
            ("57P01", Class::Connection, false),
            ("28P01", Class::Denied, false),
            ("53300", Class::Resources, false),
            ("42P01", Class::Undefined, false),
            ("57014", Class::Cancelled, false),
            ("22012", Class::Other, false),
            ("", Class::Other, false),
        ] {
            assert_eq!(Class::of_state(state), class, "{state}");
            assert_eq!(class.is_transient(), again, "{state}");
        }
    }
}
