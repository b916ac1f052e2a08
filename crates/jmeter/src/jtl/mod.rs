//! What did the requests of a test say, row by row?
//!
//! ```text
//! file ─► first bytes: `<`? ─► xml: elements     ┐
//!                       else ─► csv: lines, cells ┴─► Request, Request, … and an Outcome
//! ```
//!
//! JTL is what JMeter writes per finished request: CSV with any columns in any order, or XML. Rows
//! stream: memory stays small however long the file is. A row that cannot be read is counted and
//! named with its line, and reading goes on: a file whose writer was killed is still worth reading.

mod columns;
mod csv;
mod element;
mod quotes;
mod read;
mod time;
mod write;
mod xml;

pub use columns::DEFAULT_COLUMNS;
pub use read::{Format, JtlError, Outcome, read};
pub use write::{Holds, JtlFormat, listener_properties};

/// Longest row that is read, bytes; a longer one is broken.
pub const MOST_ROW_BYTES: usize = 1 << 20;
/// Broken rows that are kept with line and reason; further ones are counted.
pub const MOST_BROKEN: usize = 20;

/// Why one row could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokenRow {
    /// Line at which it starts, from 1.
    pub line: u64,
    /// What is wrong with it.
    pub why: Why,
}

/// What is wrong with a row.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Why {
    /// It has more or fewer cells than there are columns.
    #[error("{got} cells instead of {wanted}")]
    Cells {
        /// Cells of the row.
        got: usize,
        /// Columns of the file.
        wanted: usize,
    },
    /// A cell does not hold what its column promises.
    #[error("`{column}` is `{value}`")]
    Value {
        /// The column.
        column: &'static str,
        /// What stands there, cut to a few characters.
        value: String,
    },
    /// A quoted cell does not end within [`MOST_ROW_BYTES`].
    #[error("a quoted cell does not end")]
    OpenQuote,
    /// The row is longer than [`MOST_ROW_BYTES`].
    #[error("longer than 1 MiB")]
    TooLong,
    /// The file ends inside the row.
    #[error("the file ends inside this row")]
    Cut,
    /// The XML is not well formed from here on.
    #[error("the XML is broken: {0}")]
    Xml(String),
}

/// How many rows could not be read, and the first of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Broken {
    /// All of them.
    pub n: u64,
    /// The first, in the order of the file; at most [`MOST_BROKEN`].
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
