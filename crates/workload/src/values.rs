//! Amounts in options, written in JSON as the operator types them.

use std::fmt;
use std::str::FromStr;

use sokudo_i18n::TextError;
use sokudo_model::units::UnitError;
use sokudo_model::{Bytes, Count, Nanos, Rate, units};

/// Gives a unit type its text form in JSON, as the operator typed it.
macro_rules! as_text {
    ($type:ident, $parse:ty, $from:expr, $print:expr, $doc:literal) => {
        #[doc = $doc]
        #[derive(Debug, Clone, Copy, PartialEq)]
        pub struct $type(pub $parse);

        impl FromStr for $type {
            type Err = UnitError;
            fn from_str(text: &str) -> Result<Self, UnitError> {
                $from(text).map($type)
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&$print(self.0))
            }
        }

        json_as_text!($type);
    };
}

/// Serialises a type through its text form.
#[macro_export]
macro_rules! json_as_text {
    ($type:ident) => {
        impl ::serde::Serialize for $type {
            fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> ::serde::Deserialize<'de> for $type {
            fn deserialize<D: ::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> Result<Self, D::Error> {
                <String as ::serde::Deserialize>::deserialize(deserializer)?
                    .parse()
                    .map_err(::serde::de::Error::custom)
            }
        }
    };
}

as_text!(
    ByteSize,
    u64,
    |t: &str| t.parse::<Bytes>().map(|b| b.0),
    |v| Bytes(v).exact(),
    "A number of bytes."
);
as_text!(
    Span,
    u64,
    |t: &str| t.parse::<Nanos>().map(|n| n.0),
    |v: u64| format!("{v}ns"),
    "A length of time in nanoseconds."
);
as_text!(
    HowMany,
    u64,
    |t: &str| t.parse::<Count>().map(|c| c.0),
    |v: u64| v.to_string(),
    "A number of things."
);
as_text!(
    LoadRate,
    Rate,
    |t: &str| t.parse::<Rate>(),
    |v: Rate| exact_rate(v),
    "An amount of load per second."
);

as_text!(
    RequestRate,
    Rate,
    request_rate,
    |v: Rate| exact_rate(v),
    "An amount of load per second of a load that consists of requests: a bare number counts them."
);

fn request_rate(text: &str) -> Result<Rate, UnitError> {
    text.parse().or_else(|error| match units::amount(text) {
        Some((requests, "")) => Ok(Rate::Events(requests)),
        _ => Err(error),
    })
}

fn exact_rate(rate: Rate) -> String {
    match rate {
        Rate::Bits(v) => format!("{v}b/s"),
        Rate::Bytes(v) => format!("{v}B/s"),
        Rate::Events(v) => format!("{v}/s"),
    }
}

/// A length in whole seconds; a number alone means seconds, as the tool has it.
pub fn whole_seconds(text: &str) -> Result<u64, TextError> {
    let told = || TextError::value("error-value-seconds", text);
    let seconds = match text.parse::<u64>() {
        Ok(seconds) => seconds,
        Err(_) => {
            let Span(ns) = text.parse().map_err(|_| told())?;
            Some(ns / 1_000_000_000)
                .filter(|_| ns % 1_000_000_000 == 0)
                .ok_or_else(told)?
        }
    };
    Some(seconds).filter(|s| *s > 0).ok_or_else(told)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_whole_seconds() {
        for (text, expected) in [("60", 60), ("2s", 2), ("5min", 300)] {
            assert_eq!(whole_seconds(text), Ok(expected), "{text}");
        }
        for wrong in ["", "0", "0s", "1500ms", "x", "-1", "2 parsecs"] {
            assert!(whole_seconds(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_bare_number_is_a_rate_where_the_load_consists_of_requests() {
        for (typed, per_s) in [
            ("50", 50.0),
            ("1.5k", 1500.0),
            ("50/s", 50.0),
            ("20kpps", 2e4),
        ] {
            let rate: RequestRate = typed.parse().unwrap();
            assert_eq!(rate.0, Rate::Events(per_s), "{typed}");
        }
        for wrong in ["", "-1", "50ms", "10MB", "50 apples"] {
            assert!(wrong.parse::<RequestRate>().is_err(), "{wrong}");
        }
        assert!("50".parse::<LoadRate>().is_err());
    }
}
