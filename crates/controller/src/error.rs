//! Errors that end a run.

use sokudo_bus::BusError;
use sokudo_i18n::english;
use sokudo_model::{Refusal, Text};
use sokudo_store::StoreError;

/// Reason why a run ended early.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// A host cannot be reached, or was lost.
    #[error(transparent)]
    Bus(BusError),
    /// A host refused what it was asked.
    #[error("{host}: {}", english(&refusal.says))]
    Refused {
        /// The host.
        host: String,
        /// Its answer.
        refusal: Box<Refusal>,
    },
    /// The record cannot be written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A host answered something else than what it was asked.
    #[error("{host} answered out of order")]
    OutOfOrder {
        /// The host.
        host: String,
    },
    /// The operator asked for something that cannot be run.
    #[error("{}", english(says))]
    Operator {
        /// The mistake.
        says: Text,
        /// Way to mend it.
        hint: Option<Text>,
    },
    /// The operator interrupted the run. Not a failure; what was measured is kept.
    #[error("interrupted")]
    Interrupted,
}

/// Longest word in what a host says of a refusal, characters.
const MAX_WORD: usize = 16_384;

impl ControlError {
    /// Answer of a host; its length is bounded.
    pub fn refused(host: String, refusal: Refusal) -> Self {
        let refusal = Box::new(refusal.within(MAX_WORD));
        ControlError::Refused { host, refusal }
    }

    /// True when a host was lost: the others may go on without it.
    pub fn is_loss(&self) -> bool {
        matches!(self, ControlError::Bus(BusError::Lost { .. }))
    }

    /// The event and the object that it happened to.
    pub fn says(&self) -> Text {
        match self {
            ControlError::Refused { host, refusal } => Text::new("error-of-host")
                .word("host", host)
                .text("says", refusal.says.clone()),
            ControlError::OutOfOrder { host } => {
                Text::new("error-host-out-of-order").word("host", host)
            }
            ControlError::Operator { says, .. } => says.clone(),
            ControlError::Interrupted => Text::new("error-interrupted"),
            ControlError::Bus(error) => error.says(),
            ControlError::Store(error) => error.says(),
        }
    }

    /// The next thing to try.
    pub fn hint(&self) -> Option<Text> {
        match self {
            ControlError::Bus(error) => error.hint(),
            ControlError::Store(error) => error.hint(),
            ControlError::Refused { refusal, .. } => refusal.hint.clone(),
            ControlError::Operator { hint, .. } => hint.clone(),
            ControlError::OutOfOrder { .. } => Some(Text::new("error-hint-same-version")),
            ControlError::Interrupted => None,
        }
    }

    /// True when the operator can mend it before anything was measured (exit code 2).
    pub fn is_operator_error(&self) -> bool {
        match self {
            ControlError::Bus(error) => error.is_operator_error(),
            ControlError::Refused { refusal, .. } => refusal.operator_error,
            ControlError::Operator { .. } => true,
            ControlError::Store(_)
            | ControlError::OutOfOrder { .. }
            | ControlError::Interrupted => false,
        }
    }
}

impl From<BusError> for ControlError {
    fn from(error: BusError) -> Self {
        match error {
            BusError::Stopped => Self::Interrupted,
            error => Self::Bus(error),
        }
    }
}

impl From<ControlError> for Refusal {
    fn from(error: ControlError) -> Self {
        match error {
            ControlError::Store(error) => error.into(),
            error => Self {
                operator_error: error.is_operator_error(),
                says: error.says(),
                hint: error.hint(),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::path::PathBuf;
    use std::time::Duration;

    use sokudo_i18n::{I18n, Lang};
    use sokudo_wire::KeyId;

    use super::*;

    #[test]
    fn errors_of_links_and_records_say_as_messages_what_they_are() {
        let host = || "hostb".to_owned();
        let why = || Text::words("no route");
        let links = [
            BusError::Resolve {
                host: host(),
                why: why(),
            },
            BusError::NobodyListens { host: host() },
            BusError::Unreachable {
                host: host(),
                why: why(),
            },
            BusError::Foreign {
                host: host(),
                why: why(),
            },
            BusError::SetUp {
                host: host(),
                why: why(),
            },
            BusError::KeyNeeded { host: host() },
            BusError::KeyUnknown { host: host() },
            BusError::Busy {
                host: host(),
                max_clients: 1,
            },
            BusError::Lost {
                host: host(),
                why: why(),
            },
            BusError::Unguarded { address: host() },
            BusError::PortInUse { address: host() },
            BusError::Bind {
                address: host(),
                why: why(),
            },
            BusError::Start {
                what: Text::new("start-server"),
                why: why(),
            },
            BusError::WrongKey {
                host: host(),
                given: KeyId::NONE,
                server: Some("5".into()),
            },
            BusError::TimedOut {
                host: host(),
                ask: "clock",
                bound: Duration::from_secs(2),
            },
            BusError::TooLong {
                host: host(),
                ask: "arm",
                why: Text::new("error-frame-empty"),
            },
            BusError::NoMember(7),
        ];
        let path = || PathBuf::from("runs/x");
        let records = [
            StoreError::Io {
                action: "write",
                path: path(),
                source: io::ErrorKind::NotFound.into(),
            },
            StoreError::Full { path: path() },
            StoreError::Exists { path: path() },
            StoreError::BadId {
                id: host(),
                why: "it is empty",
            },
            StoreError::NotARecord { path: path() },
            StoreError::Corrupt {
                file: path(),
                what: "no route".into(),
            },
            StoreError::NewerSchema {
                file: path(),
                found: host(),
                known: "run/1",
            },
            StoreError::Unfinished { id: host() },
            StoreError::InUse { path: path() },
            StoreError::Unknown {
                text: host(),
                root: path(),
                newest: Vec::new(),
            },
            StoreError::Ambiguous {
                text: host(),
                root: path(),
                candidates: vec![host(); 2],
            },
            StoreError::TooLarge { bytes: 2, limit: 1 },
        ];
        let japanese = I18n::new(Lang::Ja);
        let errors = links.map(ControlError::Bus).into_iter();
        for error in errors.chain(records.map(ControlError::Store)) {
            assert!(error.says().as_words().is_none(), "{error}");
            assert_eq!(english(&error.says()), error.to_string());
            assert!(!japanese.text(&error.says()).is_ascii(), "{error}");
        }
    }
}
