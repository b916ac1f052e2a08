//! What is wrong with a plan, where, and how is it mended?
//!
//! Reading goes on after a problem, so that one reading tells all of them. Sentences live in the
//! message files; here a problem is the name of a message, its values and a place.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use sokudo_model::{Arg, Text};

/// Most problems that are kept; further ones are counted.
const MOST: usize = 1_000;

/// A place in a file: line and column count from 1, columns count characters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The file as the operator or an include named it.
    pub file: Arc<str>,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

impl Serialize for Place {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

/// How much a problem weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The plan cannot be executed as it is.
    Error,
    /// The plan runs, but probably not as its author believes.
    Warning,
}

/// One problem of a plan.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Problem {
    /// How much it weighs.
    pub severity: Severity,
    /// Where it stands; `None` when it concerns the plan as a whole.
    pub place: Option<Place>,
    /// What is wrong.
    #[serde(skip)]
    pub says: Text,
    /// How to mend it.
    #[serde(skip)]
    pub hint: Option<Text>,
}

impl Problem {
    /// Name of the message, for tests and for programs that read the output.
    pub fn key(&self) -> &str {
        &self.says.key
    }
}

/// Key and values, without a language: what a test or a log shows.
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

/// All problems found so far, at most 1000 of them.
#[derive(Debug, Clone, Default)]
pub struct Problems {
    list: Vec<Problem>,
    errors: usize,
    dropped: usize,
}

impl Problems {
    /// Notes an error.
    pub fn error(&mut self, place: impl Into<Option<Place>>, says: Text) {
        self.errors += 1;
        self.add(Severity::Error, place.into(), says, None);
    }

    /// Notes an error and how to mend it.
    pub fn error_with(&mut self, place: impl Into<Option<Place>>, says: Text, hint: Text) {
        self.errors += 1;
        self.add(Severity::Error, place.into(), says, Some(hint));
    }

    /// Notes a warning.
    pub fn warning(&mut self, place: impl Into<Option<Place>>, says: Text) {
        self.add(Severity::Warning, place.into(), says, None);
    }

    /// Notes a warning and how to mend it.
    pub fn warning_with(&mut self, place: impl Into<Option<Place>>, says: Text, hint: Text) {
        self.add(Severity::Warning, place.into(), says, Some(hint));
    }

    /// Errors noted so far, kept or only counted.
    pub fn errors(&self) -> usize {
        self.errors
    }

    /// Problems that were counted and not kept.
    pub fn dropped(&self) -> usize {
        self.dropped
    }

    /// The kept problems: errors first, each kind in the order of the places.
    pub fn into_sorted(mut self) -> Vec<Problem> {
        self.list
            .sort_by(|a, b| (a.severity, &a.place).cmp(&(b.severity, &b.place)));
        self.list
    }

    fn add(&mut self, severity: Severity, place: Option<Place>, says: Text, hint: Option<Text>) {
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
