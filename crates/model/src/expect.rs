//! Expectations of the path between two hosts.
//!
//! `1Gb/s,p99<1ms,loss<0.1%`: a line rate, and bounds on latency and shares. The same text stands on
//! the command line and in the labels of a recorded phase.

use std::fmt;
use std::str::FromStr;

use crate::bounds::{Bound, Bounds};
use crate::text::Text;
use crate::units::Rate;

/// Share of a line's rate that one connection must carry as payload to count as that line.
///
/// Framing, IP and TCP headers take 5 to 6 % of an Ethernet link at 1500 B; the rest is for the ramp
/// at the begin of a connection.
pub const PAYLOAD_SHARE: f64 = 0.9;

/// Expectations of one direction of a path; never empty.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Expectation {
    /// Rate of the line, bits per second.
    line_bits_per_s: Option<f64>,
    bounds: Option<Bounds>,
}

/// A text that is not a valid expectation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a valid expectation: write a line rate in bits or bytes per second, bounds, or both: `1Gb/s`, `p99<1ms,loss<0.1%`, `1Gb/s,p99<1ms`"
)]
pub struct NoExpectation(String);

impl NoExpectation {
    /// The sentence for the operator.
    pub fn text(&self) -> Text {
        Text::new("error-value-expectation").word("text", &self.0)
    }
}

impl Expectation {
    /// Rate of the line, bits per second; `None` when no rate is expected.
    pub fn line_bits_per_s(&self) -> Option<f64> {
        self.line_bits_per_s
    }

    /// The rate of the line as it is typed.
    pub fn line_typed(&self) -> Option<String> {
        self.line_bits_per_s.map(exact)
    }

    /// Least payload that one connection must carry, bits per second.
    pub fn payload_bits_per_s(&self) -> Option<f64> {
        self.line_bits_per_s.map(|line| line * PAYLOAD_SHARE)
    }

    /// Bounds on latency and shares, in the order in which they were typed.
    pub fn bounds(&self) -> impl Iterator<Item = &Bound> {
        self.bounds.iter().flat_map(Bounds::iter)
    }
}

/// A line rate in bits per second; events per second are none.
fn line(text: &str) -> Option<f64> {
    let bits = match text.parse().ok()? {
        Rate::Bits(bits) => bits,
        Rate::Bytes(bytes) => bytes * 8.0,
        Rate::Events(_) => return None,
    };
    (bits > 0.0).then_some(bits)
}

/// A rate in the largest unit in which it is a whole number, so that it can be read back.
fn exact(bits_per_s: f64) -> String {
    const UNITS: [(f64, &str); 3] = [(1e9, "G"), (1e6, "M"), (1e3, "k")];
    let whole = |unit: &&(f64, &str)| (bits_per_s / unit.0).fract() == 0.0;
    let (unit, sign) = UNITS.iter().find(whole).unwrap_or(&(1.0, ""));
    format!("{}{sign}b/s", bits_per_s / unit)
}

impl FromStr for Expectation {
    type Err = NoExpectation;

    fn from_str(text: &str) -> Result<Self, NoExpectation> {
        let wrong = || NoExpectation(text.into());
        let (bounds, rates): (Vec<&str>, Vec<&str>) =
            text.split(',').partition(|part| part.contains('<'));
        let bounds = match bounds.as_slice() {
            [] => None,
            some => Some(some.join(",").parse().map_err(|_| wrong())?),
        };
        let line_bits_per_s = match rates.as_slice() {
            [] => None,
            [rate] => Some(line(rate).ok_or_else(wrong)?),
            _ => return Err(wrong()),
        };
        Ok(Self {
            line_bits_per_s,
            bounds,
        })
    }
}

impl fmt::Display for Expectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rate = self.line_typed();
        let bounds = self.bounds.as_ref().map(Bounds::to_string);
        let parts: Vec<String> = rate.into_iter().chain(bounds).collect();
        f.write_str(&parts.join(","))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_rate_and_bounds_stand_in_any_order() {
        let both: Expectation = "p99<1ms, 1Gb/s ,loss<0.1%".parse().unwrap();
        assert_eq!(both.line_bits_per_s(), Some(1e9));
        assert_eq!(both.payload_bits_per_s(), Some(9e8));
        assert_eq!(both.bounds().count(), 2);
        assert_eq!(both.to_string().parse(), Ok(both));
        let bytes: Expectation = "125MB/s".parse().unwrap();
        assert_eq!(
            (bytes.line_bits_per_s(), bytes.bounds().count()),
            (Some(1e9), 0)
        );
    }

    #[test]
    fn what_is_no_expectation_is_refused() {
        for wrong in [
            "",
            "20k/s",
            "1Gb",
            "0b/s",
            "p99",
            "p98<1ms",
            "1Gb/s,2Gb/s",
            "1Gb/s,",
        ] {
            assert!(wrong.parse::<Expectation>().is_err(), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_an_expectation_or_refused(text in "\\PC{0,60}") {
            if let Ok(read) = text.parse::<Expectation>() {
                let again: Expectation = read.to_string().parse().unwrap();
                prop_assert_eq!(again.bounds().count(), read.bounds().count());
            }
        }

        #[test]
        fn rates_come_back(mbits in 1u32..1_000_000) {
            let read: Expectation = format!("{mbits}Mb/s").parse().unwrap();
            let again: Expectation = read.to_string().parse().unwrap();
            let (one, other) = (read.line_bits_per_s().unwrap(), again.line_bits_per_s().unwrap());
            prop_assert_eq!(one, other);
        }
    }
}
