//! Errors of the connection between controller and agent, each with a hint.

use std::time::Duration;

use sokudo_model::Text;
use sokudo_wire::{Ask, KeyId, VersionMismatch};

/// An error of the bus: one sentence, and a [hint](BusError::hint) with the next action.
///
/// `host` is the other end as the operator named it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BusError {
    /// The name has no address.
    #[error("`{host}` cannot be resolved: {why}")]
    Resolve {
        /// Host as given.
        host: String,
        /// The resolver's error.
        why: String,
    },
    /// No process listens on the port.
    #[error("`{host}` refused the connection")]
    NobodyListens {
        /// Host as given.
        host: String,
    },
    /// The host cannot be reached, or does not answer.
    #[error("`{host}` cannot be reached: {why}")]
    Unreachable {
        /// Host as given.
        host: String,
        /// The system's error.
        why: String,
    },
    /// Something else listens there.
    #[error("what listens on `{host}` is not sokudo: {why}")]
    Foreign {
        /// Host as given.
        host: String,
        /// The symptom.
        why: String,
    },
    /// The connection was made, but ended before it could be used.
    #[error("the connection to `{host}` failed while it was being set up: {why}")]
    SetUp {
        /// Host as given.
        host: String,
        /// The cause.
        why: String,
    },
    /// The server has another key.
    #[error("`{host}` does not have this key ({given}){}", theirs(.server))]
    WrongKey {
        /// Host as given.
        host: String,
        /// Public name of the caller's key.
        given: KeyId,
        /// Public name of the server's key as the server sent it.
        server: Option<String>,
    },
    /// The server has a key, the caller gave none.
    #[error("`{host}` wants a key and none was given")]
    KeyNeeded {
        /// Host as given.
        host: String,
    },
    /// The caller gave a key, the server has none.
    #[error("`{host}` was started without a key, but a key was given")]
    KeyUnknown {
        /// Host as given.
        host: String,
    },
    /// Two versions that do not understand each other.
    #[error(transparent)]
    Version(#[from] VersionMismatch),
    /// The server serves as many as it may.
    #[error("`{host}` already serves {max_clients} clients, as many as it was told to")]
    Busy {
        /// Host as given.
        host: String,
        /// The number.
        max_clients: u16,
    },
    /// No answer in time; the connection itself may be fine.
    #[error("`{host}` did not answer `{ask}` within {}", seconds(.bound))]
    TimedOut {
        /// Host as given.
        host: String,
        /// The ask.
        ask: &'static str,
        /// The bound.
        bound: Duration,
    },
    /// The connection has ended.
    #[error("the connection to `{host}` is gone: {why}")]
    Lost {
        /// Host as given.
        host: String,
        /// The last error of the connection.
        why: String,
    },
    /// The message does not fit into a frame.
    #[error("`{ask}` for `{host}` is too long: {why}")]
    TooLong {
        /// Host as given.
        host: String,
        /// The ask that was not sent.
        ask: &'static str,
        /// Its length and the bound.
        why: String,
    },
    /// No such member.
    #[error("the bus has no member number {0}")]
    NoMember(u32),
    /// A server without a key must not listen to strangers.
    #[error("a server without a key must not listen on `{address}`, where strangers can call")]
    Unguarded {
        /// The requested address.
        address: String,
    },
    /// Another program has the port.
    #[error("`{address}` is in use by another program")]
    PortInUse {
        /// The requested address.
        address: String,
    },
    /// The system does not let us listen there.
    #[error("cannot listen on `{address}`: {why}")]
    Bind {
        /// The requested address.
        address: String,
        /// The system's error.
        why: String,
    },
    /// The system gave no thread, randomness or key.
    #[error("cannot start {what}: {why}")]
    Start {
        /// The thread or process that was to be started.
        what: String,
        /// The system's error.
        why: String,
    },
}

impl BusError {
    /// The failure as a message; plain words where there is none.
    pub fn says(&self) -> Text {
        match self {
            Self::Resolve { host, why } => Text::new("error-bus-resolve")
                .with("host", host)
                .with("why", why),
            Self::NobodyListens { host } => {
                Text::new("error-bus-nobody-listens").with("host", host)
            }
            Self::Unreachable { host, why } => Text::new("error-bus-unreachable")
                .with("host", host)
                .with("why", why),
            Self::Foreign { host, why } => Text::new("error-bus-foreign")
                .with("host", host)
                .with("why", why),
            Self::SetUp { host, why } => Text::new("error-bus-set-up")
                .with("host", host)
                .with("why", why),
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
                .with("why", why),
            Self::Lost { host, why } => Text::new("error-bus-lost")
                .with("host", host)
                .with("why", why),
            Self::Start { what, why } => Text::new("error-bus-start")
                .with("what", what)
                .with("why", why),
            Self::WrongKey { .. }
            | Self::Version(_)
            | Self::TimedOut { .. }
            | Self::TooLong { .. }
            | Self::NoMember(_) => self.to_string().into(),
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
            Self::Version(mismatch) => mismatch.hint().into(),
            Self::TimedOut { .. }
            | Self::Lost { .. }
            | Self::TooLong { .. }
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
                | Self::NoMember(_)
                | Self::Start { .. }
                | Self::SetUp { .. }
        )
    }
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

fn theirs(server: &Option<String>) -> String {
    match server {
        Some(id) => format!(": its own is {id}"),
        None => String::new(),
    }
}

fn seconds(bound: &Duration) -> String {
    format!("{} s", bound.as_secs_f64())
}
