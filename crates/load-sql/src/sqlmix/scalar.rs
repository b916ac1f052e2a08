//! Values of variables: what expressions compute with, and what statements take and give.

use std::sync::Arc;

use sokudo_sql::{Engine, Value, text_of_time};

/// The value of a variable.
#[derive(Debug, Clone, PartialEq)]
pub enum Scalar {
    /// A variable that nothing has set yet.
    Unset,
    /// No value.
    Null,
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A floating-point number.
    Double(f64),
    /// A text. An expression reads it as the value that it spells.
    Text(Arc<str>),
}

/// Error in the evaluation of an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// A variable that nothing has set yet.
    #[error("undefined variable")]
    Unset,
    /// A division, or a remainder, by 0.
    #[error("division by zero")]
    Division,
    /// A whole number beyond 64 bits.
    #[error("bigint out of range")]
    Range,
    /// A text that spells no value.
    #[error("malformed variable value")]
    Malformed,
    /// A value of another type than the operation takes.
    #[error("a value of the wrong type")]
    Type,
    /// Bounds or a parameter that a distribution does not have.
    #[error("the bounds or the parameter of a random distribution are wrong")]
    Distribution,
}

impl Scalar {
    /// A text as the value that it spells, as pgbench reads variables; any other value as it is.
    ///
    /// Errors: it spells none, or nothing has set it.
    pub fn read(&self) -> Result<Scalar, Fault> {
        match self {
            Self::Unset => Err(Fault::Unset),
            Self::Text(text) => spelt(text),
            other => Ok(other.clone()),
        }
    }

    /// As a whole number, rounded to the nearest one.
    ///
    /// Errors: it is none, or has no room in 64 bits.
    pub(super) fn int(&self) -> Result<i64, Fault> {
        match self.read()? {
            Self::Int(value) => Ok(value),
            Self::Double(value) => whole(value),
            _ => Err(Fault::Type),
        }
    }

    /// As a floating-point number. Errors: it is not a number.
    pub(super) fn double(&self) -> Result<f64, Fault> {
        match self.read()? {
            Self::Int(value) => Ok(value as f64),
            Self::Double(value) => Ok(value),
            _ => Err(Fault::Type),
        }
    }

    /// As a truth value of AND, OR, NOT; `None` for no value. Errors: it is a number.
    pub(super) fn truth(&self) -> Result<Option<bool>, Fault> {
        match self.read()? {
            Self::Bool(value) => Ok(Some(value)),
            Self::Null => Ok(None),
            _ => Err(Fault::Type),
        }
    }

    /// As a condition: a number other than 0 is true, no value is false.
    pub(super) fn holds(&self) -> Result<bool, Fault> {
        Ok(match self.read()? {
            Self::Unset | Self::Null | Self::Text(_) => false,
            Self::Bool(value) => value,
            Self::Int(value) => value != 0,
            Self::Double(value) => value != 0.0,
        })
    }

    /// As a parameter of a statement. Errors: nothing has set it.
    pub(super) fn parameter(&self, engine: Engine) -> Result<Value<'_>, Fault> {
        Ok(match self {
            Self::Unset => return Err(Fault::Unset),
            Self::Null => Value::Null,
            Self::Int(value) => Value::Int(*value),
            Self::Double(value) => Value::Float(*value),
            Self::Text(text) => Value::Text(text.as_ref().into()),
            Self::Bool(value) if engine == Engine::Postgres => {
                Value::Text(if *value { "true" } else { "false" }.into())
            }
            Self::Bool(value) => Value::Int((*value).into()),
        })
    }

    /// Appends it to the text of a statement. Errors: nothing has set it.
    pub(super) fn write(&self, out: &mut String) -> Result<(), Fault> {
        use std::fmt::Write as _;
        // Writing to a string cannot fail.
        let _ = match self {
            Self::Unset => return Err(Fault::Unset),
            Self::Null => write!(out, "NULL"),
            Self::Bool(value) => write!(out, "{value}"),
            Self::Int(value) => write!(out, "{value}"),
            Self::Double(value) => write!(out, "{value}"),
            Self::Text(text) => write!(out, "{text}"),
        };
        Ok(())
    }
}

/// A column of a row.
impl From<Value<'_>> for Scalar {
    fn from(value: Value<'_>) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Int(value) => Self::Int(value),
            Value::Float(value) => Self::Double(value),
            // All its digits.
            Value::Decimal(value) => Self::Text(value.to_string().into()),
            Value::Text(text) => Self::Text(text.as_ref().into()),
            Value::Time(micros) => Self::Text(text_of_time(micros).into()),
        }
    }
}

/// The nearest whole number; of two, the even one.
fn whole(value: f64) -> Result<i64, Fault> {
    let near = value.round_ties_even();
    match near >= i64::MIN as f64 && near < -(i64::MIN as f64) {
        true => Ok(near as i64),
        false => Err(Fault::Range),
    }
}

fn spelt(text: &str) -> Result<Scalar, Fault> {
    let lower = text.to_ascii_lowercase();
    let begins = |word: &str, least: usize| lower.len() >= least && word.starts_with(&lower);
    if lower == "null" {
        return Ok(Scalar::Null);
    }
    if begins("true", 1) || begins("yes", 1) || lower == "on" {
        return Ok(Scalar::Bool(true));
    }
    if begins("false", 1) || begins("no", 1) || begins("off", 2) {
        return Ok(Scalar::Bool(false));
    }
    let bare = text.trim_start();
    if let Ok(value) = bare.parse() {
        return Ok(Scalar::Int(value));
    }
    let is_number = bare.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
    let number = is_number.then(|| bare.parse().ok()).flatten();
    number.map(Scalar::Double).ok_or(Fault::Malformed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_as_the_values_that_they_spell() {
        for (text, expected) in [
            ("NULL", Ok(Scalar::Null)),
            ("t", Ok(Scalar::Bool(true))),
            ("YES", Ok(Scalar::Bool(true))),
            ("on", Ok(Scalar::Bool(true))),
            ("o", Err(Fault::Malformed)),
            ("of", Ok(Scalar::Bool(false))),
            ("n", Ok(Scalar::Bool(false))),
            ("-12", Ok(Scalar::Int(-12))),
            ("1.5", Ok(Scalar::Double(1.5))),
            (
                "9223372036854775808",
                Ok(Scalar::Double(9.223_372_036_854_776e18)),
            ),
            ("nan", Err(Fault::Malformed)),
            ("", Err(Fault::Malformed)),
        ] {
            assert_eq!(Scalar::Text(text.into()).read(), expected, "{text}");
        }
    }

    #[test]
    fn numbers_are_rounded_to_the_nearest_and_have_room() {
        assert_eq!(whole(2.5), Ok(2));
        assert_eq!(whole(-9.5), Ok(-10));
        assert_eq!(whole(1e19), Err(Fault::Range));
        assert_eq!(whole(f64::NAN), Err(Fault::Range));
        assert_eq!(whole(i64::MIN as f64), Ok(i64::MIN));
    }
}
