//! Errors of commands: the sentence, the hint and the exit code.

use std::io;
use std::path::Path;

use sokudo_controller::ControlError;
use sokudo_i18n::I18n;
use sokudo_model::{Refusal, Text, cut, harmless_lines};
use sokudo_store::StoreError;

use super::Exit;
use super::screen::escapes;

/// A failed command: the event, its object, and how to mend it.
#[derive(Debug)]
pub struct Failure {
    says: Text,
    hint: Option<Text>,
    exit: Exit,
}

impl Failure {
    /// The run did not come to its end.
    pub fn run(says: impl Into<Text>, hint: impl Into<Option<Text>>) -> Self {
        Self {
            says: says.into(),
            hint: hint.into(),
            exit: Exit::RunFailed,
        }
    }

    /// The operator asked for something that cannot be done.
    pub fn operator(says: impl Into<Text>, hint: impl Into<Text>) -> Self {
        Self {
            says: says.into(),
            hint: Some(hint.into()),
            exit: Exit::OperatorError,
        }
    }

    /// A file or directory that the operator named cannot be written.
    pub fn cannot_write(path: &Path, error: &io::Error) -> Self {
        sokudo_store::cannot_write(path, error).into()
    }

    /// The event and its object.
    pub fn says(&self) -> &Text {
        &self.says
    }

    /// Way to mend it.
    pub fn hint(&self) -> Option<&Text> {
        self.hint.as_ref().filter(|hint| !hint.is_empty())
    }

    /// Exit of the program.
    pub fn exit(&self) -> Exit {
        self.exit
    }

    /// Writes it to stderr in the reader's language: the sentence, then the hint on its own line.
    pub fn print(&self) {
        let i18n = I18n::new(super::language());
        let label = |key: &str| i18n.message(key, &[]);
        let (error, mend) = (label("error-label"), label("error-label-hint"));
        let color = escapes(&std::io::stderr());
        let (red, dim, plain) = if color {
            ("\x1b[31m", "\x1b[2m", "\x1b[0m")
        } else {
            ("", "", "")
        };
        // A value that was typed is repeated, also one with a password in it.
        let says = bounded(&i18n.text(&self.says.without_secrets()));
        eprintln!("{red}{error}{plain}: {says}");
        if let Some(hint) = self.hint() {
            eprintln!("{dim}{mend}{plain}: {}", bounded(&i18n.text(hint)));
        }
    }
}

/// Text of a cause, which may be in the words of another host, cut to a bound.
fn bounded(text: &str) -> String {
    /// Characters.
    const MOST: usize = 16_384;
    harmless_lines(&cut(text, MOST)).into_owned()
}

impl From<ControlError> for Failure {
    fn from(error: ControlError) -> Self {
        Refusal::from(error).into()
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Refusal::from(error).into()
    }
}

impl From<sokudo_bus::BusError> for Failure {
    fn from(error: sokudo_bus::BusError) -> Self {
        ControlError::from(error).into()
    }
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        Self {
            operator_error: failure.exit == Exit::OperatorError,
            says: failure.says,
            hint: failure.hint,
        }
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        let exit = if refusal.operator_error {
            Exit::OperatorError
        } else {
            Exit::RunFailed
        };
        Self {
            says: refusal.says,
            hint: refusal.hint,
            exit,
        }
    }
}
