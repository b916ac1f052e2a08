//! Problems of a plan: place, message and hint.
//!
//! Reading continues after a problem, so that one reading reports all of them. The texts are in the
//! message files; here a problem is a message key with values and a place.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use sokudo_model::{Arg, Text};

/// Most problems that are kept; further ones are only counted.
const MOST: usize = 1_000;

/// A place in a file. Line and column count from 1; columns count characters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FilePosition {
    /// File name as the operator or an include states it.
    pub file: Arc<str>,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

impl fmt::Display for FilePosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

impl Serialize for FilePosition {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

/// Severity of a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The plan cannot be executed.
    Error,
    /// The plan can be executed, but probably does not do what its author intended.
    Warning,
}

/// One problem of a plan.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Problem {
    /// Severity.
    pub severity: Severity,
    /// Place; `None`: the plan as a whole.
    pub place: Option<FilePosition>,
    /// Message.
    #[serde(skip)]
    pub says: Text,
    /// Hint.
    #[serde(skip)]
    pub hint: Option<Text>,
}

impl Problem {
    /// Message key, for tests and for programs that read the output.
    pub fn key(&self) -> &str {
        &self.says.key
    }
}

/// Key and values without a language, as tests and logs show them.
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{place}: ")?;
        }
        f.write_str(&self.says.key)?;
        for (name, arg) in &self.says.args {
            match arg {
                Arg::Word(word) => write!(f, " {name}=`{word}`")?,
                Arg::Number(value, _) => write!(f, " {name}={value}")?,
                Arg::Text(text) => write!(f, " {name}=[{}]", text.key)?,
            }
        }
        Ok(())
    }
}

/// All problems so far, of which at most 1000 are kept.
#[derive(Debug, Clone, Default)]
pub struct Problems {
    list: Vec<Problem>,
    errors: usize,
    dropped: usize,
}

impl Problems {
    /// Adds an error.
    pub fn error(&mut self, place: impl Into<Option<FilePosition>>, says: Text) {
        self.errors += 1;
        self.add(Severity::Error, place.into(), says, None);
    }

    /// Adds an error with a hint.
    pub fn error_with(&mut self, place: impl Into<Option<FilePosition>>, says: Text, hint: Text) {
        self.errors += 1;
        self.add(Severity::Error, place.into(), says, Some(hint));
    }

    /// Adds a warning.
    pub fn warning(&mut self, place: impl Into<Option<FilePosition>>, says: Text) {
        self.add(Severity::Warning, place.into(), says, None);
    }

    /// Adds a warning with a hint.
    pub fn warning_with(&mut self, place: impl Into<Option<FilePosition>>, says: Text, hint: Text) {
        self.add(Severity::Warning, place.into(), says, Some(hint));
    }

    /// Number of errors, kept or only counted.
    pub fn errors(&self) -> usize {
        self.errors
    }

    /// Number of problems that were only counted.
    pub fn dropped(&self) -> usize {
        self.dropped
    }

    /// The kept problems: errors before warnings, each in the order of their places.
    pub fn into_sorted(mut self) -> Vec<Problem> {
        self.list
            .sort_by(|a, b| (a.severity, &a.place).cmp(&(b.severity, &b.place)));
        self.list
    }

    fn add(
        &mut self,
        severity: Severity,
        place: Option<FilePosition>,
        says: Text,
        hint: Option<Text>,
    ) {
        if self.list.len() == MOST {
            self.dropped += 1;
            return;
        }
        self.list.push(Problem {
            severity,
            place,
            says,
            hint,
        });
    }
}
