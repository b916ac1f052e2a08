//! What does the reader of a plan choose?

use std::fmt;
use std::str::FromStr;

use jiff::tz::TimeZone;

use crate::properties::Properties;

/// What happens to elements and functions that cannot be executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Unsupported {
    /// The plan is refused; all of them are told.
    #[default]
    Fail,
    /// They are left out, with a warning each.
    Warn,
    /// They are left out in silence; the coverage shows them.
    Skip,
}

/// `fail`, `warn` and `skip` are the words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownWord(pub String);

impl fmt::Display for UnknownWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is none of `fail`, `warn`, `skip`", self.0)
    }
}

impl std::error::Error for UnknownWord {}

impl Unsupported {
    /// The word that is typed.
    pub fn word(self) -> &'static str {
        match self {
            Self::Fail => "fail",
            Self::Warn => "warn",
            Self::Skip => "skip",
        }
    }
}

impl FromStr for Unsupported {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        match text {
            "fail" => Ok(Self::Fail),
            "warn" => Ok(Self::Warn),
            "skip" => Ok(Self::Skip),
            other => Err(UnknownWord(other.into())),
        }
    }
}

/// What the reader of a plan chooses.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Properties, all layers.
    pub properties: Properties,
    /// What happens to what cannot be executed.
    pub unsupported: Unsupported,
    /// Seed of the random choices that are made while reading.
    pub seed: u64,
    /// Now, in milliseconds since 1970.
    pub now_ms: i64,
    /// Time zone of dates.
    pub time_zone: TimeZone,
}

impl Default for Settings {
    /// No properties but the built-in ones, seed 0, 1970, UTC.
    fn default() -> Self {
        Self {
            properties: Properties::default(),
            unsupported: Unsupported::default(),
            seed: 0,
            now_ms: 0,
            time_zone: TimeZone::UTC,
        }
    }
}
