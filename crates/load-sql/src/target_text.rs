//! A database as an option: typed and carried as its data source name, printed without its secrets.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sokudo_i18n::TextError;
use sokudo_model::Text;
use sokudo_sql::{NotATarget, Target};

/// A database, as typed.
#[derive(Debug, Clone, PartialEq)]
pub struct TargetText(pub Target);

impl FromStr for TargetText {
    type Err = TextError;
    fn from_str(text: &str) -> Result<Self, TextError> {
        let target = text.parse().map(Self);
        target.map_err(|wrong: NotATarget| {
            TextError(Text::new("error-value-database").word("cause", wrong.cause()))
        })
    }
}

impl fmt::Display for TargetText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// With the password, which agents need to connect; a record hides it.
impl Serialize for TargetText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.secret_text())
    }
}

impl<'de> Deserialize<'de> for TargetText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}
