//! An error that is one message.

use std::fmt;

use sokudo_model::Text;
use sokudo_model::units::UnitError;

use crate::english;

/// A value that was refused, with the reason as a message; displayed in English.
///
/// Parsers of values return it: the command line takes the message, and formats that
/// carry errors as strings (JSON, logs) get the English sentence.
#[derive(Debug, Clone, PartialEq)]
pub struct TextError(pub Text);

impl TextError {
    /// The message of a key that only repeats the refused value, as `text`.
    pub fn value(key: &str, text: &str) -> Self {
        Self(Text::new(key).word("text", text))
    }

    /// The message.
    pub fn text(&self) -> Text {
        self.0.clone()
    }
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&english(&self.0))
    }
}

impl std::error::Error for TextError {}

impl From<Text> for TextError {
    fn from(text: Text) -> Self {
        Self(text)
    }
}

impl From<UnitError> for TextError {
    fn from(error: UnitError) -> Self {
        Self(error.text())
    }
}
