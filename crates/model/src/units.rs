//! Parses and formats sizes, rates and durations.
//!
//! Inside the program: bytes as `u64`, nanoseconds as `u64`, events per second as `f64`.
//! Text is parsed here, once, and numbers are written here, once.
//!
//! `k M G T` are powers of 1000, `Ki Mi Gi Ti` powers of 1024; `b` is bits, `B` bytes.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::text::Text;

/// Name of a size in bytes where a rate is wanted.
const BYTES_NOT_RATE: &str = "a rate (this is a number of bytes, not a number per second)";
/// The same for one in bits.
const BITS_NOT_RATE: &str = "a rate (this is a number of bits, not a number per second)";

/// The error of a text that is not a valid quantity.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnitError {
    /// The text does not start with a number.
    #[error("`{0}` does not start with a number")]
    NoNumber(String),
    /// The text behind the number is not a unit of this kind of quantity.
    #[error("`{text}` has no unit known for {quantity}; write for example {example}")]
    UnknownUnit {
        /// Text as typed.
        text: String,
        /// Kind of quantity.
        quantity: &'static str,
        /// Something that would have been understood.
        example: &'static str,
    },
    /// Bits were given where bytes are meant, or the other way round.
    #[error(
        "`{text}` is {got}, but {wanted} is wanted; `b` is bits and `B` is bytes, so write {instead}"
    )]
    BitsAndBytes {
        /// Text as typed.
        text: String,
        /// Quantity that the text has.
        got: &'static str,
        /// Quantity that was expected.
        wanted: &'static str,
        /// The same amount in the wanted unit.
        instead: String,
    },
    /// The number is negative, not finite, or does not fit.
    #[error("`{0}` is out of range")]
    OutOfRange(String),
}

impl UnitError {
    /// The same as a message.
    pub fn text(&self) -> Text {
        match self {
            UnitError::NoNumber(text) => Text::new("error-unit-no-number").word("text", text),
            UnitError::OutOfRange(text) => Text::new("error-unit-out-of-range").word("text", text),
            UnitError::UnknownUnit { text, quantity, .. } => {
                let key = match *quantity {
                    "a size" => "error-unit-size",
                    "a time" => "error-unit-time",
                    "a count" => "error-unit-count",
                    "a rate" => "error-unit-rate",
                    BYTES_NOT_RATE => "error-unit-rate-bytes",
                    _ => "error-unit-rate-bits",
                };
                Text::new(key).word("text", text)
            }
            UnitError::BitsAndBytes { text, instead, .. } => {
                let instead = instead.as_str();
                Text::new("error-unit-bits")
                    .word("text", text)
                    .word("instead", instead)
            }
        }
    }
}

/// A number of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Bytes(pub u64);

/// A length of time in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Nanos(pub u64);

/// A number of things.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Count(pub u64);

/// An amount of load per second, in the unit the operator thought in.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Rate {
    /// Bits per second: `1Gb/s`, `940Mbit/s`, `940Mbps`.
    Bits(f64),
    /// Bytes per second: `100MB/s`, `100MiB/s`.
    Bytes(f64),
    /// Datagrams, messages or requests per second: `20000/s`, `20kpps`.
    Events(f64),
}

impl Rate {
    /// Events per second when each event carries `size_bytes`.
    pub fn events_per_s(self, size_bytes: f64) -> f64 {
        match self {
            Rate::Bits(bits) => bits / 8.0 / size_bytes,
            Rate::Bytes(bytes) => bytes / size_bytes,
            Rate::Events(events) => events,
        }
    }
}

/// Splits `12.5MiB/s` into 12.5 and `MiB/s`.
fn split(text: &str) -> Result<(f64, &str), UnitError> {
    let trimmed = text.trim();
    let end = trimmed
        .char_indices()
        .find(|(i, c)| {
            let exponent = matches!(c, 'e' | 'E')
                && trimmed[i + 1..].starts_with(|n: char| n.is_ascii_digit() || n == '-');
            !(c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | '_') || exponent)
        })
        .map_or(trimmed.len(), |(i, _)| i);
    let number = trimmed[..end].replace('_', "");
    let value: f64 = number
        .parse()
        .map_err(|_| UnitError::NoNumber(text.into()))?;
    if !value.is_finite() || value < 0.0 {
        return Err(UnitError::OutOfRange(text.into()));
    }
    Ok((value, trimmed[end..].trim()))
}

/// Factor of an SI or binary prefix at the start of `unit`, and the rest.
fn prefix(unit: &str) -> (f64, &str) {
    const BINARY: &[(&str, f64)] = &[
        ("Ki", 1024.0),
        ("Mi", 1_048_576.0),
        ("Gi", 1_073_741_824.0),
        ("Ti", 1_099_511_627_776.0),
    ];
    const DECIMAL: &[(&str, f64)] = &[("k", 1e3), ("K", 1e3), ("M", 1e6), ("G", 1e9), ("T", 1e12)];
    BINARY
        .iter()
        .chain(DECIMAL)
        .find_map(|(sign, factor)| unit.strip_prefix(sign).map(|rest| (*factor, rest)))
        .unwrap_or((1.0, unit))
}

/// A number of things in an English sentence: `1 host`, `2 hosts`.
pub fn counted(n: impl Into<u64>, thing: &str) -> String {
    match n.into() {
        1 => format!("1 {thing}"),
        n => format!("{n} {thing}s"),
    }
}

/// An amount of whatever kind as a number in its base unit, and the unit: `2.5kpps` is 2500 and
/// `pps`. Times are nanoseconds. `None` for words.
pub fn amount(text: &str) -> Option<(f64, &str)> {
    let (value, rest) = split(text).ok()?;
    if let (false, Ok(time)) = (rest.is_empty(), text.parse::<Nanos>()) {
        return Some((time.0 as f64, "ns"));
    }
    let (factor, unit) = prefix(rest);
    Some((value * factor, unit))
}

fn whole(value: f64, text: &str) -> Result<u64, UnitError> {
    if value > 9.0e18 {
        return Err(UnitError::OutOfRange(text.into()));
    }
    Ok(value.round() as u64)
}

impl FromStr for Bytes {
    type Err = UnitError;

    /// `1468`, `64KiB`, `4MB`. A bare number is bytes.
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let (value, unit) = split(text)?;
        let (factor, rest) = prefix(unit);
        match rest {
            "" | "B" => Ok(Bytes(whole(value * factor, text)?)),
            "b" | "bit" | "bits" => Err(UnitError::BitsAndBytes {
                text: text.into(),
                got: "a number of bits",
                wanted: "a number of bytes",
                instead: format!("`{}`", Bytes(whole(value * factor / 8.0, text)?).exact()),
            }),
            _ => Err(UnitError::UnknownUnit {
                text: text.into(),
                quantity: "a size",
                example: "`1468`, `64KiB` or `4MB`",
            }),
        }
    }
}

impl Bytes {
    /// Shortest text that parses back to the same number: `64KiB`, `4MB`, `1468B`.
    pub fn exact(self) -> String {
        const STEPS: &[(u64, &str)] = &[
            (1 << 30, "GiB"),
            (1_000_000_000, "GB"),
            (1 << 20, "MiB"),
            (1_000_000, "MB"),
            (1 << 10, "KiB"),
            (1_000, "kB"),
        ];
        STEPS
            .iter()
            .find(|(step, _)| self.0 >= *step && self.0.is_multiple_of(*step))
            .map_or_else(
                || format!("{}B", self.0),
                |(step, sign)| format!("{}{sign}", self.0 / step),
            )
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&binary_bytes(self.0 as f64))
    }
}

impl FromStr for Rate {
    type Err = UnitError;

    /// `1Gb/s`, `940Mbps`, `100MB/s`, `20000/s`, `20kpps`.
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let (value, unit) = split(text)?;
        if matches!(unit, "pps" | "/s" | "rps") {
            return Ok(Rate::Events(value));
        }
        let (factor, rest) = prefix(unit);
        let amount = value * factor;
        match rest {
            "b/s" | "bps" | "bit/s" | "bits/s" => Ok(Rate::Bits(amount)),
            "B/s" => Ok(Rate::Bytes(amount)),
            "/s" | "pps" | "rps" => Ok(Rate::Events(amount)),
            "B" | "b" | "bit" => Err(UnitError::UnknownUnit {
                text: text.into(),
                quantity: if rest == "B" {
                    BYTES_NOT_RATE
                } else {
                    BITS_NOT_RATE
                },
                example: "`10MB/s` for megabytes or `10Mb/s` for megabits per second",
            }),
            _ => Err(UnitError::UnknownUnit {
                text: text.into(),
                quantity: "a rate",
                example: "`20k/s` (datagrams, messages, requests), `1Gb/s` (bits) or `125MB/s` (bytes)",
            }),
        }
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rate::Bits(v) => f.write_str(&si(*v, "b/s")),
            Rate::Bytes(v) => f.write_str(&si(*v, "B/s")),
            Rate::Events(v) => f.write_str(&si(*v, "/s")),
        }
    }
}

impl FromStr for Nanos {
    type Err = UnitError;

    /// `10s`, `500ms`, `50us`, `2min`, `1h`, `90d`. A bare number is seconds.
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let (value, unit) = split(text)?;
        let factor = match unit {
            "" | "s" | "sec" => 1e9,
            "ms" => 1e6,
            "us" | "µs" => 1e3,
            "ns" => 1.0,
            "m" | "min" => 60e9,
            "h" => 3600e9,
            "d" => 86_400e9,
            _ => {
                return Err(UnitError::UnknownUnit {
                    text: text.into(),
                    quantity: "a time",
                    example: "`10s`, `500ms` or `2min`",
                });
            }
        };
        Ok(Nanos(whole(value * factor, text)?))
    }
}

impl Nanos {
    /// Length in seconds.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Text in the largest of `s`, `ms`, `us` and `ns` that parses back to the same number: `5s`.
    pub fn exact(self) -> String {
        const STEPS: &[(u64, &str)] = &[(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")];
        let step = STEPS.iter().find(|(step, _)| self.0.is_multiple_of(*step));
        let (step, sign) = step.unwrap_or(&(1, "ns"));
        format!("{}{sign}", self.0 / step)
    }
}

impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&duration(self.seconds()))
    }
}

impl FromStr for Count {
    type Err = UnitError;

    /// `100000`, `100k`, `1M`.
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let (value, unit) = split(text)?;
        let (factor, rest) = prefix(unit);
        if !rest.is_empty() {
            return Err(UnitError::UnknownUnit {
                text: text.into(),
                quantity: "a count",
                example: "`100000` or `100k`",
            });
        }
        Ok(Count(whole(value * factor, text)?))
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&grouped(self.0))
    }
}

/// Three significant digits: `6.41`, `75.3`, `712`, `0.15`; `–` for a value that is not finite.
pub fn three_digits(value: f64) -> String {
    let magnitude = value.abs();
    if !magnitude.is_finite() {
        return "–".into();
    }
    // Below this the scale itself would overflow; no quantity is that small.
    if magnitude < 1e-300 {
        return "0".into();
    }
    let digits = 2 - magnitude.log10().floor() as i32;
    let scale = 10f64.powi(digits);
    let rounded = (value * scale).round() / scale;
    // Rounding 9.999 up gives one digit more than asked for: take it off again.
    let digits = if rounded.abs() >= 10f64.powi(3 - digits) {
        digits - 1
    } else {
        digits
    };
    let text = format!("{rounded:.*}", digits.clamp(0, 12) as usize);
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text,
    }
}

/// A number with an SI prefix and its unit: `75.3 Gb/s`, `712 k`.
pub fn si(value: f64, unit: &str) -> String {
    const STEPS: &[(f64, &str)] = &[(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
    let (scaled, sign) = STEPS
        .iter()
        .find(|(step, _)| value.abs() >= step * 0.9995)
        .map_or((value, ""), |(step, sign)| (value / step, *sign));
    match (sign, unit) {
        ("", "") => three_digits(scaled),
        ("", "/s") => format!("{}/s", three_digits(scaled)),
        _ => format!("{} {sign}{unit}", three_digits(scaled)),
    }
}

/// A number of bytes with a binary prefix: `416 KiB`.
pub fn binary_bytes(value: f64) -> String {
    const STEPS: &[(f64, &str)] = &[
        (1_099_511_627_776.0, "TiB"),
        (1_073_741_824.0, "GiB"),
        (1_048_576.0, "MiB"),
        (1024.0, "KiB"),
    ];
    let (scaled, sign) = STEPS
        .iter()
        .find(|(step, _)| value.abs() >= *step)
        .map_or((value, "B"), |(step, sign)| (value / step, *sign));
    format!("{} {sign}", three_digits(scaled))
}

/// A length of time in seconds as people write it: `10 s`, `1.25 ms`, `140 ns`.
pub fn duration(seconds: f64) -> String {
    const STEPS: &[(f64, &str)] = &[(1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")];
    if seconds == 0.0 {
        return "0 s".into();
    }
    let (step, sign) = STEPS
        .iter()
        .find(|(step, _)| seconds.abs() >= step * 0.9995)
        .unwrap_or(&(1e-9, "ns"));
    format!("{} {sign}", three_digits(seconds / step))
}

/// A ratio in percent: `1.1 %`, `0.0004 %`.
pub fn percent(ratio: f64) -> String {
    format!("{} %", three_digits(ratio * 100.0))
}

/// A share as it is typed, `5%` or `0.05`; `None` for anything else, and from ten times on.
pub fn ratio(text: &str) -> Option<f64> {
    let (number, divisor) = match text.strip_suffix('%') {
        Some(number) => (number, 100.0),
        None => (text, 1.0),
    };
    let ratio = number.trim().parse::<f64>().map(|value| value / divisor);
    ratio.ok().filter(|ratio| (0.0..10.0).contains(ratio))
}

/// A whole number with thin groups: `1 234 567`.
pub fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(' ');
        }
        out.push(c);
    }
    out
}

/// A value in its metric's unit, as shown in sentences.
pub fn human(value: f64, unit: crate::Unit) -> String {
    use crate::Unit;
    match unit {
        Unit::Ratio => percent(value),
        Unit::Seconds => duration(value),
        Unit::Bytes => binary_bytes(value),
        Unit::One | Unit::Packets => si(value, ""),
        Unit::PacketsPerSecond | Unit::PerSecond => si(value, "/s"),
        Unit::BytesPerSecond | Unit::BitsPerSecond | Unit::Hertz => si(value, unit.symbol()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sizes_know_both_families() {
        assert_eq!("1468".parse(), Ok(Bytes(1468)));
        assert_eq!("64KiB".parse(), Ok(Bytes(65_536)));
        assert_eq!("4 MB".parse(), Ok(Bytes(4_000_000)));
    }

    #[test]
    fn bits_for_bytes_is_explained() {
        let error = "10Mb".parse::<Bytes>().unwrap_err().to_string();
        assert!(error.contains("`b` is bits"), "{error}");
        assert!(error.contains("`1250kB`"), "{error}");
    }

    #[test]
    fn rates_keep_the_unit_they_were_given_in() {
        assert_eq!("1Gb/s".parse(), Ok(Rate::Bits(1e9)));
        assert_eq!("125MB/s".parse(), Ok(Rate::Bytes(125e6)));
        assert_eq!("100MiB/s".parse(), Ok(Rate::Bytes(104_857_600.0)));
        assert_eq!("20k/s".parse(), Ok(Rate::Events(20_000.0)));
        assert_eq!("20kpps".parse(), Ok(Rate::Events(20_000.0)));
        assert_eq!(Rate::Bits(8e6).events_per_s(1000.0), 1000.0);
    }

    #[test]
    fn a_size_is_not_a_rate() {
        let error = "10MB".parse::<Rate>().unwrap_err().to_string();
        assert!(
            error.contains("`10MB/s` for megabytes or `10Mb/s` for megabits"),
            "{error}"
        );
    }

    #[test]
    fn times() {
        assert_eq!("10".parse(), Ok(Nanos(10_000_000_000)));
        assert_eq!("50us".parse(), Ok(Nanos(50_000)));
        assert_eq!("2min".parse(), Ok(Nanos(120_000_000_000)));
        assert!("-1s".parse::<Nanos>().is_err());
        assert!("".parse::<Nanos>().is_err());
        assert_eq!(Nanos(5_000_000_000).exact(), "5s");
        assert_eq!(Nanos(1_500_000_000).exact(), "1500ms");
        assert_eq!(Nanos(7).exact(), "7ns");
    }

    #[test]
    fn people_read_three_digits() {
        assert_eq!(si(75_312_000_000.0, "b/s"), "75.3 Gb/s");
        assert_eq!(si(999_960.0, "b/s"), "1 Mb/s");
        assert_eq!(si(712_345.0, ""), "712 k");
        assert_eq!(three_digits(9.999), "10");
        assert_eq!(three_digits(f64::INFINITY), "–");
        assert_eq!(three_digits(5e-324), "0");
        assert_eq!(duration(0.000_000_14), "140 ns");
        assert_eq!(percent(0.011), "1.1 %");
        assert_eq!(binary_bytes(425_984.0), "416 KiB");
        assert_eq!(grouped(1_234_567), "1 234 567");
    }

    proptest! {
        #[test]
        fn sizes_and_times_survive_writing_and_parsing(n in 0u64..1 << 50) {
            prop_assert_eq!(Bytes(n).exact().parse(), Ok(Bytes(n)));
            prop_assert_eq!(Nanos(n).exact().parse(), Ok(Nanos(n)));
        }

        #[test]
        fn no_text_panics(text in "\\PC{0,12}") {
            let _ = text.parse::<Bytes>();
            let _ = text.parse::<Rate>();
            let _ = text.parse::<Nanos>();
            let _ = text.parse::<Count>();
        }
    }
}
