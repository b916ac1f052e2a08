//! Values that statements take and rows hold.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// A decimal number of so many places: `units / 10^places`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decimal {
    /// The number without its point.
    pub units: i128,
    /// Places behind the point.
    pub places: u8,
}

impl Decimal {
    /// A number of hundredths, as amounts of money are written.
    pub fn hundredths(units: i64) -> Self {
        Self {
            units: units.into(),
            places: 2,
        }
    }

    /// The number in units of `10^-places`, rounded towards zero.
    pub fn at(self, places: u8) -> i128 {
        let power = |n: u8| 10_i128.pow(u32::from(n));
        match places >= self.places {
            true => self.units.saturating_mul(power(places - self.places)),
            false => self.units / power(self.places - places),
        }
    }

    /// The nearest floating-point number.
    pub fn to_f64(self) -> f64 {
        self.units as f64 / 10_f64.powi(self.places.into())
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let places = usize::from(self.places);
        let sign = if self.units < 0 { "-" } else { "" };
        let digits = format!("{:0>1$}", self.units.unsigned_abs(), places + 1);
        let (whole, part) = digits.split_at(digits.len() - places);
        match places {
            0 => write!(f, "{sign}{whole}"),
            _ => write!(f, "{sign}{whole}.{part}"),
        }
    }
}

/// A text that is not a decimal number, or one with more digits than are kept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a decimal number of at most 38 digits")]
pub struct NotDecimal(String);

impl FromStr for Decimal {
    type Err = NotDecimal;

    fn from_str(text: &str) -> Result<Self, NotDecimal> {
        let wrong = || NotDecimal(text.into());
        let (whole, part) = text.split_once('.').unwrap_or((text, ""));
        let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let bare = whole.strip_prefix(['-', '+']).unwrap_or(whole);
        let fits = is_digits(bare) && is_digits(part) && bare.len() + part.len() <= 38;
        if !fits || bare.len() + part.len() == 0 {
            return Err(wrong());
        }
        let digits: i128 = format!("{bare}{part}").parse().map_err(|_| wrong())?;
        Ok(Self {
            units: if text.starts_with('-') {
                -digits
            } else {
                digits
            },
            places: part.len() as u8,
        })
    }
}

/// A value of a statement's parameter or of a row's column.
#[derive(Debug, Clone, PartialEq)]
pub enum Value<'a> {
    /// No value.
    Null,
    /// A whole number.
    Int(i64),
    /// A floating-point number.
    Float(f64),
    /// A decimal number.
    Decimal(Decimal),
    /// A text.
    Text(Cow<'a, str>),
    /// A moment, microseconds since 1970 UTC.
    Time(i64),
}

impl Value<'_> {
    /// The same value with its text owned.
    pub fn into_owned(self) -> Value<'static> {
        match self {
            Value::Null => Value::Null,
            Value::Int(v) => Value::Int(v),
            Value::Float(v) => Value::Float(v),
            Value::Decimal(v) => Value::Decimal(v),
            Value::Text(v) => Value::Text(Cow::Owned(v.into_owned())),
            Value::Time(v) => Value::Time(v),
        }
    }
}

impl From<i64> for Value<'_> {
    fn from(value: i64) -> Self {
        Value::Int(value)
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(value: &'a str) -> Self {
        Value::Text(Cow::Borrowed(value))
    }
}

impl From<String> for Value<'_> {
    fn from(value: String) -> Self {
        Value::Text(Cow::Owned(value))
    }
}

impl From<Decimal> for Value<'_> {
    fn from(value: Decimal) -> Self {
        Value::Decimal(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_read_and_written_digit_by_digit() {
        for text in ["0.00", "12.34", "-0.05", "300000.00", "7", "-7"] {
            let number: Decimal = text.parse().expect("a number");
            assert_eq!(number.to_string(), text);
        }
        assert_eq!("-0.5".parse::<Decimal>().map(|d| d.at(2)), Ok(-50));
        for wrong in ["", ".", "1e5", "NaN", "1.2.3", "- 1"] {
            assert!(wrong.parse::<Decimal>().is_err(), "{wrong}");
        }
    }
}
