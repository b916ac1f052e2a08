//! Rows on their way into a table, in the form that the engine loads fastest.

use std::io::Write as _;

use rusqlite::types::Value as LiteValue;

use crate::value::Value;

/// The form of the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Text of PostgreSQL's COPY.
    Copy,
    /// Tuples of a multi-row INSERT.
    Insert,
    /// Values of a prepared INSERT.
    Values,
}

/// Takes the values of rows, column by column.
#[derive(Debug)]
pub struct RowWriter {
    form: Form,
    pub(crate) text: Vec<u8>,
    pub(crate) values: Vec<LiteValue>,
    is_first_value: bool,
    /// Rows since the last [`RowWriter::begin_chunk`].
    pub(crate) rows: u64,
}

/// Producer of the next rows of a table; it says whether more follow.
pub(crate) type NextRow<'a> = &'a mut dyn FnMut(&mut RowWriter) -> bool;

impl RowWriter {
    pub(crate) fn new(form: Form) -> Self {
        Self {
            form,
            text: Vec::new(),
            values: Vec::new(),
            is_first_value: true,
            rows: 0,
        }
    }

    /// Forgets what was written, and begins with this text.
    pub(crate) fn begin_chunk(&mut self, text: &str) {
        self.text.clear();
        self.text.extend_from_slice(text.as_bytes());
        self.values.clear();
        self.rows = 0;
    }

    /// The next column.
    pub fn put(&mut self, value: Value<'_>) -> &mut Self {
        match self.form {
            Form::Copy => self.put_copy(&value),
            Form::Insert => self.put_literal(&value),
            Form::Values => self.values.push(crate::sqlite::owned(&value)),
        }
        self.is_first_value = false;
        self
    }

    /// The next column, a whole number.
    pub fn int(&mut self, value: i64) -> &mut Self {
        match (self.form, self.is_first_value) {
            (Form::Copy, false) => {
                self.text.push(b'\t');
                digits(&mut self.text, value);
                self
            }
            _ => self.put(Value::Int(value)),
        }
    }

    /// The next column, a text.
    pub fn text(&mut self, value: &str) -> &mut Self {
        self.put(value.into())
    }

    /// Ends the row.
    pub fn end(&mut self) {
        match self.form {
            Form::Copy => self.text.push(b'\n'),
            Form::Insert => self.text.push(b')'),
            Form::Values => {}
        }
        self.is_first_value = true;
        self.rows += 1;
    }

    fn put_copy(&mut self, value: &Value<'_>) {
        if !self.is_first_value {
            self.text.push(b'\t');
        }
        match value {
            Value::Null => self.text.extend_from_slice(b"\\N"),
            Value::Text(text) => escape(&mut self.text, text, |byte| match byte {
                b'\\' => Some(b"\\\\"),
                b'\t' => Some(b"\\t"),
                b'\n' => Some(b"\\n"),
                b'\r' => Some(b"\\r"),
                _ => None,
            }),
            Value::Time(micros) => self.plain(format_args!("{}", crate::text_of_time(*micros))),
            _ => self.put_number(value),
        }
    }

    fn put_literal(&mut self, value: &Value<'_>) {
        let begin: &[u8] = match (self.is_first_value, self.rows) {
            (true, 0) => b"(",
            (true, _) => b",(",
            (false, _) => b",",
        };
        self.text.extend_from_slice(begin);
        match value {
            Value::Null => self.text.extend_from_slice(b"NULL"),
            Value::Text(text) => {
                self.text.push(b'\'');
                escape(&mut self.text, text, |byte| match byte {
                    b'\\' => Some(b"\\\\"),
                    b'\'' => Some(b"''"),
                    0 => Some(b"\\0"),
                    _ => None,
                });
                self.text.push(b'\'');
            }
            Value::Time(micros) => self.plain(format_args!("'{}'", crate::text_of_time(*micros))),
            _ => self.put_number(value),
        }
    }

    fn put_number(&mut self, value: &Value<'_>) {
        match value {
            Value::Int(value) => digits(&mut self.text, *value),
            Value::Float(value) => self.plain(format_args!("{value:?}")),
            Value::Decimal(value) => self.plain(format_args!("{value}")),
            Value::Null | Value::Text(_) | Value::Time(_) => {}
        }
    }

    fn plain(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing to memory cannot fail.
        let _ = self.text.write_fmt(text);
    }
}

/// Copies a text with some of its bytes replaced; those of longer characters are never among them.
fn escape(out: &mut Vec<u8>, text: &str, special: impl Fn(u8) -> Option<&'static [u8]>) {
    let bytes = text.as_bytes();
    // Most texts have none of them. Without an early end the search takes many bytes at a time.
    if !bytes
        .iter()
        .fold(false, |any, byte| any | special(*byte).is_some())
    {
        out.extend_from_slice(bytes);
        return;
    }
    let mut copied = 0;
    for (at, byte) in bytes.iter().enumerate() {
        if let Some(written) = special(*byte) {
            out.extend_from_slice(&bytes[copied..at]);
            out.extend_from_slice(written);
            copied = at + 1;
        }
    }
    out.extend_from_slice(&bytes[copied..]);
}

/// Writes a whole number: most columns of a load are one, and formatting takes several times as long.
fn digits(out: &mut Vec<u8>, value: i64) {
    // As many as the least number has.
    let mut digits = [0; 19];
    let (mut at, mut rest) = (digits.len(), value.unsigned_abs());
    while at == digits.len() || rest > 0 {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    if value < 0 {
        out.push(b'-');
    }
    out.extend_from_slice(&digits[at..]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Decimal;

    fn written(form: Form) -> String {
        let mut writer = RowWriter::new(form);
        for text in ["a\tb\\", "x'y\n"] {
            writer
                .int(-7)
                .text(text)
                .put(Value::Null)
                .put(Decimal::hundredths(1234).into())
                .put(Value::Time(0))
                .end();
        }
        assert_eq!(writer.rows, 2);
        String::from_utf8(writer.text).expect("text")
    }

    #[test]
    fn whole_numbers_are_written_as_they_are() {
        for value in [0, 7, -7, 10, 999, 1000, i64::MAX, i64::MIN] {
            let mut written = Vec::new();
            digits(&mut written, value);
            assert_eq!(String::from_utf8_lossy(&written), value.to_string());
        }
    }

    #[test]
    fn hostile_text_stays_within_its_column() {
        assert_eq!(
            written(Form::Copy),
            "-7\ta\\tb\\\\\t\\N\t12.34\t1970-01-01 00:00:00.000000\n\
             -7\tx'y\\n\t\\N\t12.34\t1970-01-01 00:00:00.000000\n"
        );
        assert_eq!(
            written(Form::Insert),
            "(-7,'a\tb\\\\',NULL,12.34,'1970-01-01 00:00:00.000000'),\
             (-7,'x''y\n',NULL,12.34,'1970-01-01 00:00:00.000000')"
        );
    }
}
