//! Errors of the connection between controller and agent, each with a hint.

use std::fmt;
use std::time::Duration;

use sokudo_i18n::english;
use sokudo_model::Text;
use sokudo_wire::{Ask, KeyId, VersionMismatch};

/// An error of the bus: one sentence, and a [hint](BusError::hint) with the next action.
///
/// `host` is the other end as the operator named it.
#[derive(Debug, Clone, PartialEq)]
pub enum BusError {
    /// The name has no address.
    Resolve {
        /// Host as given.
        host: String,
        /// The resolver's error.
        why: Text,
    },
    /// No process listens on the port.
    NobodyListens {
        /// Host as given.
        host: String,
    },
    /// The host cannot be reached, or does not answer.
    Unreachable {
        /// Host as given.
        host: String,
        /// The system's error.
        why: Text,
    },
    /// Something else listens there.
    Foreign {
        /// Host as given.
        host: String,
        /// The symptom.
        why: Text,
    },
    /// The connection was made, but ended before it could be used.
    SetUp {
        /// Host as given.
        host: String,
        /// The cause.
        why: Text,
    },
    /// The server has another key.
    WrongKey {
        /// Host as given.
        host: String,
        /// Public name of the caller's key.
        given: KeyId,
        /// Public name of the server's key as the server sent it.
        server: Option<String>,
    },
    /// The server has a key, the caller gave none.
    KeyNeeded {
        /// Host as given.
        host: String,
    },
    /// The caller gave a key, the server has none.
    KeyUnknown {
        /// Host as given.
        host: String,
    },
    /// Two versions that do not understand each other.
    Version(VersionMismatch),
    /// The server serves as many as it may.
    Busy {
        /// Host as given.
        host: String,
        /// The number.
        max_clients: u16,
    },
    /// No answer in time; the connection itself may be fine.
    TimedOut {
        /// Host as given.
        host: String,
        /// The ask.
        ask: &'static str,
        /// The bound.
        bound: Duration,
    },
    /// The connection has ended.
    Lost {
        /// Host as given.
        host: String,
        /// The last error of the connection.
        why: Text,
    },
    /// The message does not fit into a frame.
    TooLong {
        /// Host as given.
        host: String,
        /// The ask that was not sent.
        ask: &'static str,
        /// Its length and the bound.
        why: Text,
    },
    /// The operator wants no answer any more.
    Stopped,
    /// No such member.
    NoMember(u32),
    /// A server without a key must not listen to strangers.
    Unguarded {
        /// The requested address.
        address: String,
    },
    /// Another program has the port.
    PortInUse {
        /// The requested address.
        address: String,
    },
    /// The system does not let us listen there.
    Bind {
        /// The requested address.
        address: String,
        /// The system's error.
        why: Text,
    },
    /// The system gave no thread, randomness or key.
    Start {
        /// The thread or process that was to be started.
        what: Text,
        /// The system's error.
        why: Text,
    },
}

impl BusError {
    /// The failure as a message.
    pub fn says(&self) -> Text {
        match self {
            Self::Resolve { host, why } => Text::new("error-bus-resolve")
                .with("host", host)
                .text("why", why.clone()),
            Self::NobodyListens { host } => {
                Text::new("error-bus-nobody-listens").with("host", host)
            }
            Self::Unreachable { host, why } => Text::new("error-bus-unreachable")
                .with("host", host)
                .text("why", why.clone()),
            Self::Foreign { host, why } => Text::new("error-bus-foreign")
                .with("host", host)
                .text("why", why.clone()),
            Self::SetUp { host, why } => Text::new("error-bus-set-up")
                .with("host", host)
                .text("why", why.clone()),
            Self::KeyNeeded { host } => Text::new("error-bus-key-needed").with("host", host),
            Self::KeyUnknown { host } => Text::new("error-bus-key-unknown").with("host", host),
            Self::Busy { host, max_clients } => Text::new("error-bus-busy")
                .with("host", host)
                .with("max_clients", max_clients),
            Self::Unguarded { address } => {
                Text::new("error-bus-unguarded").with("address", address)
            }
            Self::PortInUse { address } => {
                Text::new("error-bus-port-in-use").with("address", address)
            }
            Self::Bind { address, why } => Text::new("error-bus-bind")
                .with("address", address)
                .text("why", why.clone()),
            Self::Stopped => Text::new("error-interrupted"),
            Self::Lost { host, why } => Text::new("error-bus-lost")
                .with("host", host)
                .text("why", why.clone()),
            Self::Start { what, why } => Text::new("error-bus-start")
                .text("what", what.clone())
                .text("why", why.clone()),
            Self::WrongKey {
                host,
                given,
                server,
            } => {
                let text = |key| Text::new(key).with("host", host).with("given", given);
                match server {
                    Some(own) => text("error-bus-wrong-key-other").word("own", own),
                    None => text("error-bus-wrong-key"),
                }
            }
            Self::Version(mismatch) => mismatch.text(),
            Self::TimedOut { host, ask, bound } => Text::new("error-bus-timed-out")
                .with("host", host)
                .word("ask", *ask)
                .with("seconds", bound.as_secs_f64()),
            Self::TooLong { host, ask, why } => Text::new("error-bus-too-long")
                .with("host", host)
                .word("ask", *ask)
                .text("why", why.clone()),
            Self::NoMember(number) => Text::new("error-bus-no-member").with("number", number),
        }
    }

    /// The next action, where there is one to recommend.
    pub fn hint(&self) -> Option<Text> {
        Some(match self {
            Self::Resolve { .. } => Text::new("error-bus-resolve-hint"),
            Self::NobodyListens { .. } => Text::new("error-bus-nobody-listens-hint"),
            Self::Unreachable { .. } => Text::new("error-bus-unreachable-hint"),
            Self::Foreign { .. } => Text::new("error-bus-foreign-hint"),
            Self::SetUp { .. } => Text::new("error-bus-set-up-hint"),
            Self::WrongKey { .. } => Text::new("error-bus-wrong-key-hint"),
            Self::KeyNeeded { .. } => Text::new("error-bus-key-needed-hint"),
            Self::KeyUnknown { .. } => Text::new("error-bus-key-unknown-hint"),
            Self::Busy { .. } => Text::new("error-bus-busy-hint"),
            Self::Unguarded { .. } => Text::new("error-bus-unguarded-hint"),
            Self::PortInUse { .. } => Text::new("error-bus-port-in-use-hint"),
            Self::Bind { .. } => Text::new("error-bus-bind-hint"),
            Self::Version(mismatch) => mismatch.hint(),
            Self::TimedOut { .. }
            | Self::Lost { .. }
            | Self::TooLong { .. }
            | Self::Stopped
            | Self::NoMember(_)
            | Self::Start { .. } => return None,
        })
    }

    /// True when the operator can mend it by asking differently (exit code 2); false when the run
    /// failed on the way (exit code 3).
    pub fn is_operator_error(&self) -> bool {
        !matches!(
            self,
            Self::TimedOut { .. }
                | Self::Lost { .. }
                | Self::TooLong { .. }
                | Self::Stopped
                | Self::NoMember(_)
                | Self::Start { .. }
                | Self::SetUp { .. }
        )
    }
}

impl fmt::Display for BusError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&english(&self.says()))
    }
}

impl std::error::Error for BusError {}

impl From<VersionMismatch> for BusError {
    fn from(mismatch: VersionMismatch) -> Self {
        Self::Version(mismatch)
    }
}

/// A thread of this program panicked.
pub(crate) fn panicked() -> Text {
    Text::new("error-thread-panicked")
}

/// An ask's name, for messages.
pub(crate) fn name_of(ask: &Ask) -> &'static str {
    match ask {
        Ask::Describe => "describe",
        Ask::Clock => "clock",
        Ask::Environment => "environment",
        Ask::Watch { .. } => "watch",
        Ask::Unwatch => "unwatch",
        Ask::Prepare(_) => "prepare",
        Ask::Arm { .. } => "arm",
        Ask::Start { .. } => "start",
        Ask::Halt => "halt",
        Ask::Clocks { .. } => "clocks",
        Ask::Steer { .. } => "steer",
        Ask::Drain { .. } => "drain",
        Ask::Stop => "stop",
        Ask::Lease { .. } => "lease",
        Ask::Hush { .. } => "hush",
        Ask::Bye => "bye",
        Ask::Kept { .. } => "kept",
        Ask::Discard { .. } => "discard",
    }
}

#[cfg(test)]
mod tests {
    use sokudo_i18n::{I18n, Lang};
    use sokudo_wire::order::OrderError;
    use sokudo_wire::piece::PieceError;
    use sokudo_wire::{EnvelopeError, FrameError, TicketError};

    use super::*;
    use crate::mailbox::PushError;

    /// The English of a message is the error's own sentence, and there is a Japanese one.
    fn check(error: impl fmt::Display, text: &Text) {
        let japanese = I18n::new(Lang::Ja).text(text);
        assert_eq!(english(text), error.to_string());
        assert!(!japanese.is_ascii(), "{error}: {japanese}");
    }

    #[test]
    fn what_came_instead_of_a_message_is_said_in_both_languages() {
        let long = FrameError::TooLong { length: 2, max: 1 };
        for error in [FrameError::Empty, long] {
            check(error, &error.text());
        }
        let (bytes, rest, why) = (9, 2, "EWHY".to_owned());
        for error in [
            EnvelopeError::Garbled { bytes, why },
            EnvelopeError::LeftOver { bytes, rest },
            EnvelopeError::Frame(FrameError::Empty),
        ] {
            check(&error, &error.text());
        }
        for error in [TicketError::Magic, TicketError::Garbled, TicketError::Tag] {
            check(error, &error.text());
        }
        let (expected, found) = (3, 4);
        for error in [
            OrderError::Short(1),
            OrderError::Forged,
            OrderError::Replayed { expected, found },
            OrderError::Lost { expected, found },
        ] {
            check(error, &error.text());
        }
        let (taken, sent) = (5, 4);
        for error in [
            PieceError::Garbled(1),
            PieceError::TooLong,
            PieceError::NeverSent { taken, sent },
        ] {
            check(&error, &error.text());
        }
        for error in [PushError::Gone, PushError::Full] {
            check(error, &error.text());
        }
    }

    #[test]
    fn an_error_with_a_reason_is_said_whole_in_japanese() {
        let error = BusError::Lost {
            host: "hostb".into(),
            why: Text::new("error-link-silent").with("seconds", 20),
        };
        assert_eq!(
            error.to_string(),
            "the connection to `hostb` is gone: no sign of life for 20 s"
        );
        let said = I18n::new(Lang::Ja).text(&error.says());
        assert_eq!(
            said,
            "`hostb` との接続が切れました: 20 秒間、何も届きません"
        );
    }

    #[test]
    fn a_mismatch_of_versions_is_said_in_both_languages() {
        let mismatch = VersionMismatch {
            peer: "hostb".into(),
            peer_protocol: 2,
            peer_product: "0.2.0".into(),
            own_protocol: 1,
            own_product: "0.1.0".into(),
        };
        check(&mismatch, &mismatch.text());
        assert_eq!(
            format!("{mismatch}: {}", english(&mismatch.hint())),
            "hostb speaks protocol 2 (sokudo 0.2.0), this is protocol 1 (sokudo 0.1.0): install the \
             same version on both"
        );
    }
}
