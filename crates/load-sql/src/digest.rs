//! Rows as numbers, so that databases and answers can be compared: the same rows in any order, on any engine, give
//! the same digest.

use std::borrow::Cow;

use sokudo_sql::{Row, SqlError, Value, text_of_time};

/// FNV-1a, 64 bits.
const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

/// A sum over rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Digest {
    /// Rows.
    pub rows: u64,
    /// Sum of their hashes.
    pub sum: u64,
    row: u64,
}

impl Default for Digest {
    fn default() -> Self {
        Self {
            rows: 0,
            sum: 0,
            row: BASIS,
        }
    }
}

impl Digest {
    /// Adds a value to the row.
    pub(crate) fn put(&mut self, text: &str) {
        let bytes = text.bytes().chain(std::iter::once(0xff));
        self.row = bytes.fold(self.row, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(PRIME)
        });
    }

    /// Ends the row.
    pub(crate) fn end_row(&mut self) {
        // Rows that differ in one bit are to differ in many: the sum of weak hashes would be a weak one.
        let mixed = (self.row ^ self.row >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
        self.sum = self.sum.wrapping_add(mixed ^ mixed >> 32);
        self.rows += 1;
        self.row = BASIS;
    }

    /// Adds a row of a result.
    ///
    /// Errors: a value of it cannot be read.
    pub(crate) fn add(&mut self, row: &Row<'_>) -> Result<(), SqlError> {
        for column in 0..row.columns() {
            let value = row.value(column)?;
            self.put(&canonical(&value));
        }
        self.end_row();
        Ok(())
    }

    /// Adds another sum, which has its place in an order.
    pub(crate) fn chain(&mut self, next: &Self) {
        self.put(&next.rows.to_string());
        self.put(&next.sum.to_string());
    }

    /// Digest of the chain: 16 hexadecimal digits.
    pub(crate) fn chained(mut self) -> String {
        self.end_row();
        format!("{:016x}", self.sum)
    }
}

/// A value as text, the same from every engine: a whole number without places, a day without a time.
fn canonical<'v>(value: &'v Value<'_>) -> Cow<'v, str> {
    match value {
        Value::Null => "\\N".into(),
        Value::Int(value) => value.to_string().into(),
        Value::Float(value) if value.fract() == 0.0 => format!("{value:.0}").into(),
        Value::Float(value) => value.to_string().into(),
        Value::Decimal(value) => {
            let text = value.to_string();
            match text.contains('.') {
                true => text
                    .trim_end_matches('0')
                    .trim_end_matches('.')
                    .to_owned()
                    .into(),
                false => text.into(),
            }
        }
        Value::Text(text) => text.as_ref().into(),
        Value::Time(micros) => {
            let text = text_of_time(*micros);
            let day = text.strip_suffix(" 00:00:00.000000").map(str::to_owned);
            day.unwrap_or(text).into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_value_is_the_same_text_from_every_engine() {
        let decimal = |text: &str| Value::Decimal(text.parse().expect("a number"));
        for (value, text) in [
            (Value::Int(120), "120"),
            (decimal("120"), "120"),
            (decimal("120.00"), "120"),
            (decimal("120.50"), "120.5"),
            (Value::Float(120.0), "120"),
            (Value::Text("1995-06-17".into()), "1995-06-17"),
            (Value::Time(803_347_200_000_000), "1995-06-17"),
            (Value::Null, "\\N"),
        ] {
            assert_eq!(canonical(&value), text);
        }
    }

    #[test]
    fn the_order_of_rows_does_not_matter_and_that_of_columns_does() {
        let of = |rows: &[[&str; 2]]| {
            let mut digest = Digest::default();
            for row in rows {
                row.iter().for_each(|text| digest.put(text));
                digest.end_row();
            }
            digest
        };
        assert_eq!(of(&[["a", "b"], ["c", "d"]]), of(&[["c", "d"], ["a", "b"]]));
        assert_ne!(of(&[["a", "b"], ["c", "d"]]), of(&[["b", "a"], ["c", "d"]]));
        assert_ne!(of(&[["a", "b"]]), of(&[["ab", ""]]));
        assert_ne!(of(&[["a", "b"]]), of(&[["a", "b"], ["a", "b"]]));
    }
}
