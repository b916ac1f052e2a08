//! Amounts that only the bus has: windows, batches, warm-ups.

use std::fmt;
use std::str::FromStr;

use sokudo_model::units::UnitError;
use sokudo_model::{Bytes, Count, Nanos};
use sokudo_workload::json_as_text;

/// Bound of what may be under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inflight {
    /// Bytes, headers included.
    Bytes(u64),
    /// Messages.
    Messages(u64),
}

impl FromStr for Inflight {
    type Err = UnitError;

    /// `1MiB` is bytes, a bare number messages.
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let parsed = match text.ends_with('B') {
            true => Inflight::Bytes(text.parse::<Bytes>()?.0),
            false => Inflight::Messages(text.parse::<Count>()?.0),
        };
        match parsed {
            Inflight::Bytes(0) | Inflight::Messages(0) => Err(UnitError::OutOfRange(text.into())),
            some => Ok(some),
        }
    }
}

impl fmt::Display for Inflight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Inflight::Bytes(bytes) => write!(f, "{bytes}B"),
            Inflight::Messages(messages) => write!(f, "{messages}"),
        }
    }
}

json_as_text!(Inflight);

/// Messages that leave together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Batch {
    /// As many as there are.
    Auto,
    /// So many.
    Count(u32),
}

impl FromStr for Batch {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        if text == "auto" {
            return Ok(Batch::Auto);
        }
        let count = text.parse::<Count>()?.0;
        match u32::try_from(count) {
            Ok(count @ 1..=65_536) => Ok(Batch::Count(count)),
            _ => Err(UnitError::OutOfRange(text.into())),
        }
    }
}

impl fmt::Display for Batch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Batch::Auto => f.write_str("auto"),
            Batch::Count(count) => count.fmt(f),
        }
    }
}

json_as_text!(Batch);

/// Load that does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Warmup {
    /// For so many nanoseconds.
    Time(u64),
    /// So many messages of each thread.
    Messages(u64),
}

impl FromStr for Warmup {
    type Err = UnitError;

    /// `2s` is a time, a bare number messages.
    fn from_str(text: &str) -> Result<Self, UnitError> {
        match text.parse::<Count>() {
            Ok(count) => Ok(Warmup::Messages(count.0)),
            Err(_) => Ok(Warmup::Time(text.parse::<Nanos>()?.0)),
        }
    }
}

impl fmt::Display for Warmup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warmup::Time(ns) => write!(f, "{ns}ns"),
            Warmup::Messages(messages) => messages.fmt(f),
        }
    }
}

json_as_text!(Warmup);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_say_what_is_counted() {
        assert_eq!("1MiB".parse(), Ok(Inflight::Bytes(1 << 20)));
        assert_eq!("1MB".parse(), Ok(Inflight::Bytes(1_000_000)));
        assert_eq!("10k".parse(), Ok(Inflight::Messages(10_000)));
        assert!("0".parse::<Inflight>().is_err() && "x".parse::<Inflight>().is_err());
        assert_eq!("2s".parse(), Ok(Warmup::Time(2_000_000_000)));
        assert_eq!("5000".parse(), Ok(Warmup::Messages(5000)));
        assert_eq!("auto".parse(), Ok(Batch::Auto));
        assert!("0".parse::<Batch>().is_err());
    }
}
