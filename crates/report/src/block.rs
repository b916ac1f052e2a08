//! Blocks: the parts of a report's section, independent of the output format.
//!
//! A section turns the record into blocks; the HTML and Markdown writers turn blocks into text.
//! A section that is written once therefore appears in every format and both languages.

use sokudo_i18n::{I18n, Lang};
use sokudo_model::{Severity, Text, Unit};
use sokudo_stats::Curve;

use crate::bars::Bars;
use crate::chart::Chart;
use crate::demands::DemandLine;
use crate::knee::Knee;
use crate::plane::Plane;

/// A text that people read.
#[derive(Debug, Clone, PartialEq)]
pub enum Phrase {
    /// A message: differs between the languages.
    Text(Text),
    /// The same in every language: a host name, a number with its unit. May be foreign text.
    Word(String),
    /// Words of either language, where no message holds them: a date. In the order of `Lang::ALL`.
    Both([String; 2]),
}

impl From<Text> for Phrase {
    fn from(text: Text) -> Self {
        Phrase::Text(text)
    }
}

impl From<String> for Phrase {
    fn from(word: String) -> Self {
        Phrase::Word(word)
    }
}

impl From<&str> for Phrase {
    fn from(word: &str) -> Self {
        Phrase::Word(word.into())
    }
}

/// One of the few numbers that matter.
#[derive(Debug, Clone, PartialEq)]
pub struct Number {
    /// The number with its unit, or the text in place of it.
    pub value: Phrase,
    /// Name of the number.
    pub label: Phrase,
    /// Sample count, spread, split: how far it can be trusted.
    pub detail: Vec<Phrase>,
    /// Its tone; `Info` is neutral.
    pub tone: Severity,
}

impl Number {
    /// A number that is neutral and has no detail yet; `label` is a key of the catalogue.
    pub fn new(value: impl Into<Phrase>, label: &str) -> Self {
        Self {
            value: value.into(),
            label: Text::new(label).into(),
            detail: Vec::new(),
            tone: Severity::Info,
        }
    }

    /// Adds a detail `{ $value }`, where it is known.
    pub fn also(&mut self, key: &str, value: Option<f64>, unit: Unit) {
        let text = value.map(|value| Text::new(key).number("value", value, unit));
        self.detail.extend(text.map(Phrase::from));
    }
}

/// One cell of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// Its text.
    pub says: Phrase,
    /// The number behind it, for sorting and for CSV; `None` for words.
    pub value: Option<f64>,
    /// 0 to 1: how strongly a heat map cell is coloured.
    pub heat: Option<f64>,
}

impl Cell {
    /// A cell of words.
    pub fn word(says: impl Into<Phrase>) -> Self {
        Self {
            says: says.into(),
            value: None,
            heat: None,
        }
    }

    /// A cell for a missing number.
    pub fn missing() -> Self {
        Self::word("–")
    }

    /// A cell with a number, already formatted.
    pub fn number(says: String, value: f64) -> Self {
        Self {
            says: says.into(),
            value: Some(value),
            heat: None,
        }
    }
}

/// One column of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Content of the column.
    pub title: Phrase,
    /// Unit of its numbers, shown in the header; empty for words and plain counts.
    pub unit: String,
    /// True when its cells are numbers: aligned right.
    pub numeric: bool,
}

/// A table; every row has as many cells as there are columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Content of the table.
    pub title: Phrase,
    /// Columns from left to right.
    pub columns: Vec<Column>,
    /// Rows from top to bottom.
    pub rows: Vec<Vec<Cell>>,
    /// Row that the text describes.
    pub marked: Option<usize>,
    /// Whether a reader may sort and copy it.
    pub tools: bool,
}

/// One observation under a finding.
#[derive(Debug, Clone, PartialEq)]
pub struct Proof {
    /// The observation in words.
    pub says: Phrase,
    /// Source of the reading.
    pub source: String,
    /// Its course over the phase, 0 to 1, `None` where there is no data; empty when there is none.
    pub spark: Vec<Option<f64>>,
    /// Highest value of the course, with its unit.
    pub peak: String,
}

/// One finding as it is shown.
#[derive(Debug, Clone, PartialEq)]
pub struct Conclusion {
    /// Importance.
    pub severity: Severity,
    /// Phase it is about; empty for the whole run.
    pub phase: String,
    /// Rule that drew it.
    pub rule: String,
    /// The conclusion.
    pub says: Phrase,
    /// Its evidence.
    pub proofs: Vec<Proof>,
    /// The next thing to try.
    pub next: Option<Phrase>,
}

/// A part of a section.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// The sentences that a person acts on.
    Lead(Vec<Phrase>),
    /// A sentence that must not be missed, with its weight.
    Notice(Severity, Phrase),
    /// Demands of the operator, and whether each was kept.
    Demands(Vec<DemandLine>),
    /// The few numbers that matter.
    Numbers(Vec<Number>),
    /// A heading inside a section.
    Heading(Phrase),
    /// Running text.
    Paragraph(Phrase),
    /// Conclusions, strongest first.
    Conclusions(Vec<Conclusion>),
    /// A table.
    Table(Table),
    /// A chart over time.
    Chart(Box<Chart>),
    /// The curve of a sweep.
    Curve(Box<Curve>),
    /// The trials of a search.
    Knee(Box<Knee>),
    /// Bars made up of parts.
    Bars(Box<Bars>),
    /// A drawing whose horizontal axis is not time.
    Plane(Box<Plane>),
    /// Something to type.
    Command(String),
    /// Blocks that are folded away until wanted.
    Details {
        /// Title of the content.
        title: Phrase,
        /// Whether it starts unfolded.
        open: bool,
        /// The content.
        blocks: Vec<Block>,
    },
}

/// Renders messages in both languages.
#[derive(Debug)]
pub struct Speaker {
    languages: [I18n; 2],
}

impl Speaker {
    /// Loads the messages of both languages.
    pub fn new() -> Self {
        Self {
            languages: Lang::ALL.map(I18n::new),
        }
    }

    /// The messages of one language.
    pub fn i18n(&self, lang: Lang) -> &I18n {
        match lang {
            Lang::En => &self.languages[0],
            Lang::Ja => &self.languages[1],
        }
    }

    /// The phrase in one language.
    pub fn say(&self, lang: Lang, phrase: &Phrase) -> String {
        match phrase {
            Phrase::Text(text) => self.i18n(lang).text(text),
            Phrase::Word(word) => word.clone(),
            Phrase::Both([en, ja]) => match lang {
                Lang::En => en.clone(),
                Lang::Ja => ja.clone(),
            },
        }
    }
}

impl Default for Speaker {
    fn default() -> Self {
        Self::new()
    }
}
