//! Errors that end a run.

use sokudo_bus::BusError;
use sokudo_model::Refusal;
use sokudo_store::StoreError;

/// Reason why a run ended early.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// A host cannot be reached, or was lost.
    #[error(transparent)]
    Bus(#[from] BusError),
    /// A host refused what it was asked.
    #[error("{host}: {}", refusal.says)]
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
    #[error("{says}")]
    Operator {
        /// What is wrong.
        says: String,
        /// How to mend it.
        hint: Option<String>,
    },
    /// The operator interrupted the run. Not a failure; what was measured is kept.
    #[error("interrupted")]
    Interrupted,
}

impl ControlError {
    /// The next thing to try.
    pub fn hint(&self) -> Option<String> {
        match self {
            ControlError::Bus(error) => error.hint(),
            ControlError::Store(error) => error.hint(),
            ControlError::Refused { refusal, .. } => refusal.hint.clone(),
            ControlError::Operator { hint, .. } => hint.clone(),
            ControlError::OutOfOrder { .. } => {
                Some("install the same version of sokudo on all hosts".into())
            }
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
                says: error.to_string(),
                hint: error.hint(),
            },
        }
    }
}
