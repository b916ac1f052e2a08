//! Settings of the plan reader.

use std::fmt;
use std::str::FromStr;

use jiff::tz::TimeZone;
use sokudo_model::Text;

use crate::properties::Properties;

/// Treatment of elements and functions that cannot be executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Unsupported {
    /// The plan is refused, and all of them are reported.
    #[default]
    Fail,
    /// They are left out with a warning each.
    Warn,
    /// They are left out silently; the coverage shows them.
    Skip,
}

/// The error for a word other than `fail`, `warn` and `skip`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownWord(pub String);

impl fmt::Display for UnknownWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not one of `fail`, `warn`, `skip`", self.0)
    }
}

impl std::error::Error for UnknownWord {}

impl UnknownWord {
    /// The sentence for the operator.
    pub fn text(&self) -> Text {
        Text::new("error-value-unsupported").word("text", &self.0)
    }
}

impl Unsupported {
    /// The word for the command line.
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

/// Settings of the plan reader.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Properties of all origins.
    pub properties: Properties,
    /// Treatment of elements that cannot be executed.
    pub unsupported: Unsupported,
    /// Seed of random choices that are made while reading.
    pub seed: u64,
    /// Current time in milliseconds since 1970.
    pub now_ms: i64,
    /// Time zone of dates.
    pub time_zone: TimeZone,
}

impl Default for Settings {
    /// The built-in properties, seed 0, 1970, UTC.
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
