//! JMeter result files (JTL): reading and writing.
//!
//! ```text
//! file ─► first bytes: `<`? ─► xml: elements     ┐
//!                       else ─► csv: lines, cells ┴─► Request, Request, … and an Outcome
//! ```
//!
//! JTL is what JMeter writes per finished request: CSV with any columns in any order, or XML. Rows
//! are streamed: memory use does not depend on the length of the file. A row that cannot be read is
//! counted and reported with its line, and reading continues: the file of a killed generator is
//! still usable.

mod columns;
mod csv;
mod quotes;
mod read;
mod remarks;
mod settings;
mod time;
mod write;
mod xml;

use sokudo_model::Text;

pub use columns::DEFAULT_COLUMNS;
pub use read::{Format, JtlError, ReadOutcome, read};
pub use remarks::remarks;
pub use settings::{NotAbove0, settings_of};
pub use write::{JtlFormat, SavedDetails, listener_properties};

/// Longest row that is read, bytes; a longer one is invalid.
pub const MOST_ROW_BYTES: usize = 1 << 20;
/// Invalid rows that are kept with line and reason; further ones are only counted.
pub const MOST_BROKEN: usize = 20;

/// A row that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokenRow {
    /// Line of its beginning, from 1.
    pub line: u64,
    /// Reason.
    pub why: Why,
}

/// Reason why a row could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Why {
    /// The number of cells differs from the number of columns.
    #[error("{got} cells instead of {wanted}")]
    Cells {
        /// Number of cells in the row.
        got: usize,
        /// Number of columns in the file.
        wanted: usize,
    },
    /// A cell has an invalid value.
    #[error("`{column}` is `{value}`")]
    Value {
        /// Name of the column.
        column: &'static str,
        /// The value, shortened.
        value: String,
    },
    /// The closing quote of a cell is missing within [`MOST_ROW_BYTES`].
    #[error("a quoted cell is not closed")]
    OpenQuote,
    /// The row is longer than [`MOST_ROW_BYTES`].
    #[error("longer than 1 MiB")]
    TooLong,
    /// The file ends within the row.
    #[error("the file ends within this row")]
    Cut,
    /// The XML is not well-formed from here on.
    #[error("the XML is not well-formed: {0}")]
    Xml(String),
}

impl Why {
    /// The reason as a message.
    pub fn text(&self) -> Text {
        match self {
            Self::Cells { got, wanted } => Text::new("jtl-why-cells")
                .with("got", got)
                .with("wanted", wanted),
            Self::Value { column, value } => Text::new("jtl-why-value")
                .word("column", *column)
                .word("value", value),
            Self::OpenQuote => Text::new("jtl-why-quote"),
            Self::TooLong => Text::new("jtl-why-long"),
            Self::Cut => Text::new("jtl-why-cut"),
            Self::Xml(error) => Text::new("jtl-why-xml").word("error", error),
        }
    }
}

/// Number of rows that could not be read, and the first of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Broken {
    /// Number of rows.
    pub n: u64,
    /// The first rows in file order; at most [`MOST_BROKEN`].
    pub first: Vec<BrokenRow>,
}

impl Broken {
    fn add(&mut self, line: u64, why: Why) {
        self.n += 1;
        if self.first.len() < MOST_BROKEN {
            self.first.push(BrokenRow { line, why });
        }
    }
}

#[cfg(test)]
mod tests;
