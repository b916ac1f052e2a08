//! One row of a result, whichever engine gave it.

use std::borrow::Cow;

#[cfg(feature = "duckdb")]
use crate::duckdb::DuckRow;
use crate::error::SqlError;
use crate::postgres::PostgresRow;
use crate::value::{Decimal, Value};
use crate::{mysql, postgres, sqlite};

/// One row of a result, while it is being read.
pub struct Row<'r>(pub(crate) Inner<'r>);

pub(crate) enum Inner<'r> {
    Postgres(&'r PostgresRow<'r>),
    MySql(&'r mysql_common::Row),
    Sqlite(&'r rusqlite::Row<'r>),
    #[cfg(feature = "duckdb")]
    DuckDb(&'r DuckRow<'r>),
}

/// Consumer of the rows of a statement, one by one; its error ends the reading.
pub(crate) type EachRow<'a> = &'a mut dyn FnMut(&Row<'_>) -> Result<(), SqlError>;

impl Row<'_> {
    /// Columns of the row.
    pub fn columns(&self) -> usize {
        match &self.0 {
            Inner::Postgres(row) => row.columns.len(),
            Inner::MySql(row) => row.len(),
            Inner::Sqlite(row) => row.as_ref().column_count(),
            #[cfg(feature = "duckdb")]
            Inner::DuckDb(row) => row.columns(),
        }
    }

    /// The name of a column, from 0, as the server gives it; `None` where there is no such column.
    pub fn name(&self, column: usize) -> Option<Cow<'_, str>> {
        match &self.0 {
            Inner::Postgres(row) => row.columns.get(column).map(|it| it.name.as_str().into()),
            Inner::MySql(row) => row
                .columns_ref()
                .get(column)
                .map(mysql_common::packets::Column::name_str),
            Inner::Sqlite(row) => row.as_ref().column_name(column).ok().map(Into::into),
            #[cfg(feature = "duckdb")]
            Inner::DuckDb(row) => row.name(column),
        }
    }

    /// The value of a column, from 0.
    ///
    /// Errors: there is no such column, or its type is none that is known.
    pub fn value(&self, column: usize) -> Result<Value<'_>, SqlError> {
        if column >= self.columns() {
            return Err(SqlError::unreadable(format!(
                "a row has no column {}",
                column + 1
            )));
        }
        match &self.0 {
            Inner::Postgres(row) => postgres::read(row, column),
            Inner::MySql(row) => mysql::value(row, column),
            Inner::Sqlite(row) => sqlite::value(row, column),
            #[cfg(feature = "duckdb")]
            Inner::DuckDb(row) => row.value(column),
        }
    }

    /// True for a column without a value.
    pub fn is_null(&self, column: usize) -> Result<bool, SqlError> {
        Ok(self.value(column)? == Value::Null)
    }

    /// A whole number. Errors: the value is none.
    pub fn int(&self, column: usize) -> Result<i64, SqlError> {
        match self.value(column)? {
            Value::Int(value) => Ok(value),
            Value::Decimal(value) => i64::try_from(value.at(0)).map_err(|_| wrong(column)),
            Value::Float(value) if value.fract() == 0.0 && value.abs() < 9e15 => Ok(value as i64),
            _ => Err(wrong(column)),
        }
    }

    /// A number. Errors: the value is none.
    pub fn float(&self, column: usize) -> Result<f64, SqlError> {
        match self.value(column)? {
            Value::Int(value) => Ok(value as f64),
            Value::Float(value) => Ok(value),
            Value::Decimal(value) => Ok(value.to_f64()),
            _ => Err(wrong(column)),
        }
    }

    /// An amount in hundredths. Errors: the value is not a number.
    pub fn hundredths(&self, column: usize) -> Result<i64, SqlError> {
        match self.value(column)? {
            Value::Int(value) => Ok(value.saturating_mul(100)),
            Value::Float(value) => Ok((value * 100.0).round() as i64),
            Value::Decimal(value) => i64::try_from(value.at(2)).map_err(|_| wrong(column)),
            _ => Err(wrong(column)),
        }
    }

    /// A text. Errors: the value has no text of its own.
    pub fn text(&self, column: usize) -> Result<Cow<'_, str>, SqlError> {
        match self.value(column)? {
            Value::Text(text) => Ok(text),
            Value::Int(value) => Ok(value.to_string().into()),
            Value::Decimal(value) => Ok(value.to_string().into()),
            Value::Float(value) => Ok(value.to_string().into()),
            Value::Time(value) => Ok(crate::text_of_time(value).into()),
            Value::Null => Err(wrong(column)),
        }
    }
}

#[cold]
fn wrong(column: usize) -> SqlError {
    SqlError::unreadable(format!("column {} holds another type", column + 1))
}

/// A decimal number from its text; a floating-point one where it has too many digits.
pub(crate) fn number(text: &str) -> Result<Value<'static>, SqlError> {
    if let Ok(decimal) = text.parse::<Decimal>() {
        return Ok(Value::Decimal(decimal));
    }
    let float = text.parse().map(Value::Float);
    float.map_err(|_| SqlError::unreadable(format!("`{text}` is not a number")))
}
