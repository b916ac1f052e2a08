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
    Bus(#[from] BusError),
    /// A host refused what it was asked.
    #[error("{host}: {}", english(&refusal.says))]
    Refused {
        /// The host.
        host: String,
        /// Its answer.
        refusal: Refusal,
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
        /// What is wrong.
        says: Text,
        /// How to mend it.
        hint: Option<Text>,
    },
    /// The operator interrupted the run. Not a failure; what was measured is kept.
    #[error("interrupted")]
    Interrupted,
}

/// Longest word in what a host says of a refusal, characters.
const MAX_WORD: usize = 16_384;

impl ControlError {
    /// What a host answered; its words are kept within bounds.
    pub(crate) fn refused(host: String, refusal: Refusal) -> Self {
        let refusal = refusal.within(MAX_WORD);
        ControlError::Refused { host, refusal }
    }

    /// What happened, to what.
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
            ControlError::Bus(_) | ControlError::Store(_) => self.to_string().into(),
        }
    }

    /// The next thing to try.
    pub fn hint(&self) -> Option<Text> {
        match self {
            ControlError::Bus(error) => error.hint().map(Text::from),
            ControlError::Store(error) => error.hint().map(Text::from),
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
