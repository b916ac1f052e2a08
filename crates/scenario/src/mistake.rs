//! Mistakes in a text: what is wrong, where, and how to mend it.

use std::fmt;

/// Something that cannot be understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// The mistake, and what it concerns.
    pub says: String,
    /// Remedy for the operator.
    pub hint: String,
    /// Host whose earlier orders are missing: the mistake may follow from another one about them.
    pub lacks: Option<u32>,
}

impl Mistake {
    /// A mistake at a column of a line that is not known yet.
    pub fn at(column: u32, says: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            line: 1,
            column,
            says: says.into(),
            hint: hint.into(),
            lacks: None,
        }
    }

    /// The same, because earlier orders of this host are missing.
    pub fn for_lack_of_orders(mut self, host: u32) -> Self {
        self.lacks = Some(host);
        self
    }

    /// The same on another line.
    pub fn on_line(mut self, line: u32) -> Self {
        self.line = line;
        self
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "line {}, column {}: {}",
            self.line, self.column, self.says
        )
    }
}

impl std::error::Error for Mistake {}
