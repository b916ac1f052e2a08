//! Mistakes in a text: what is wrong, where, and how to mend it.

use std::fmt;

use sokudo_i18n::english;
use sokudo_model::Text;

use crate::execute::Failed;

/// Something that cannot be understood.
#[derive(Debug, Clone, PartialEq)]
pub struct Mistake {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// The mistake, and what it concerns.
    pub says: Text,
    /// Remedy for the operator.
    pub hint: Text,
    /// Host whose earlier orders are missing: the mistake may follow from another one about them.
    pub lacks: Option<u32>,
}

impl Mistake {
    /// A mistake at a column of a line that is not known yet.
    pub fn at(column: u32, says: impl Into<Text>, hint: impl Into<Text>) -> Self {
        Self {
            line: 1,
            column,
            says: says.into(),
            hint: hint.into(),
            lacks: None,
        }
    }

    /// Refusal of an executor, as a mistake at a column.
    pub(crate) fn of(column: u32, failed: Failed) -> Self {
        let hint = failed.hint.unwrap_or_else(|| Text::words(""));
        Self::at(column, failed.says, hint)
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

    /// The mistake with its place.
    pub fn text(&self) -> Text {
        placed(self.line, self.column, self.says.clone())
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&english(&self.text()))
    }
}

impl std::error::Error for Mistake {}

/// A message with its place in a text; a line or column of 0 is not known.
pub(crate) fn placed(line: u32, column: u32, says: Text) -> Text {
    match (line, column) {
        (0, _) => says,
        (line, 0) => Text::new("error-scenario-line")
            .with("line", line)
            .text("says", says),
        (line, column) => Text::new("error-scenario-place")
            .with("line", line)
            .with("column", column)
            .text("says", says),
    }
}
