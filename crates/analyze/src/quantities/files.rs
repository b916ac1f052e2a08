//! Trees of files that were replicated in one phase, and what to say of them.

use sokudo_model::kinds::{Family, FileCopy as Numbers};
use sokudo_model::{RunStatus, Stat, Text, Unit};

use crate::view::PhaseView;

/// One phase of files.
#[derive(Debug, Clone, Copy)]
pub struct FileCopy<'a> {
    view: PhaseView<'a>,
    numbers: &'static Numbers,
}

impl<'a> FileCopy<'a> {
    /// The phase as files that were replicated; `None` for any other.
    pub fn of(view: PhaseView<'a>) -> Option<Self> {
        match view.kind()?.family {
            Family::Files(numbers) => Some(Self { view, numbers }),
            _ => None,
        }
    }

    fn total(&self, metric: sokudo_model::Metric) -> f64 {
        self.view.total(metric).unwrap_or_default()
    }

    fn looks_only(&self) -> bool {
        let is_on = |option| self.view.option(option) == Some(true);
        is_on("dry_run") || is_on("verify")
    }

    /// True for a replication that went on to follow its source.
    pub fn is_mirror(&self) -> bool {
        self.view.option::<String>("mirror").is_some()
    }

    /// Sentence about how a mirror kept up; `None` for a replication that ended with its tree.
    pub fn followed(&self) -> Option<Text> {
        if !self.is_mirror() {
            return None;
        }
        let lag = |stat| self.view.stat(self.numbers.lag, stat);
        let Some(((median, p99), max)) = lag(Stat::P50).zip(lag(Stat::P99)).zip(lag(Stat::Max))
        else {
            return Some(Text::new("verdict-files-unchanged"));
        };
        let text = Text::new("verdict-files-followed")
            .number("rounds", self.total(self.numbers.rounds) - 1.0, Unit::One)
            .number("median", median, Unit::Seconds)
            .number("p99", p99, Unit::Seconds)
            .number("max", max, Unit::Seconds);
        Some(text)
    }

    /// Sentence about the result.
    pub fn achieved(&self, flows: Text) -> Text {
        let numbers = self.numbers;
        let written = self.total(numbers.written);
        // Where a host was lost, its counts are missing and not zero.
        let is_whole = self.view.phase.status != RunStatus::Partial;
        let key = match (self.looks_only(), written > 0.0) {
            (_, false) if !is_whole => "verdict-files-unfinished",
            (true, true) => "verdict-files-would",
            (true, false) => "verdict-files-same",
            (false, true) => "verdict-files",
            (false, false) => "verdict-files-nothing",
        };
        Text::new(key)
            .text("flows", flows)
            .number("written", written, Unit::One)
            .number("files", self.total(numbers.files), Unit::One)
            .number("bytes", self.total(numbers.bytes), Unit::Bytes)
            .number("elapsed", self.total(numbers.elapsed), Unit::Seconds)
            .number("rate", self.total(numbers.rate), Unit::BytesPerSecond)
            .number("wire", self.total(numbers.wire_bytes), Unit::Bytes)
    }

    /// Sentence about what could not be replicated.
    pub fn failed(&self) -> Option<Text> {
        let failed = self.total(self.numbers.failed);
        if failed <= 0.0 {
            return None;
        }
        let mut errors = self
            .view
            .flows()
            .iter()
            .filter_map(|flow| flow.labels.get("error"));
        let why = errors.next().map(String::as_str).unwrap_or_default();
        let text = Text::new("verdict-files-failed").number("failed", failed, Unit::One);
        Some(text.text("why", Text::recorded(why)))
    }
}
