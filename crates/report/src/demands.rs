//! Bounds that the operator asked for, each with its outcome and the measured value.
//!
//! The only place that turns such checks into lines. Terminal, page, Markdown, the dashboard of a
//! result file and JSON take them from here.

use serde_json::{Value, json};
use sokudo_i18n::{I18n, Lang};
use sokudo_model::units::human;
use sokudo_model::{Check, Text, harmless};

use crate::block::{Block, Phrase, Speaker};

/// One bound that the operator set.
#[derive(Debug, Clone, PartialEq)]
pub struct DemandLine {
    /// Whether it was kept.
    pub passed: bool,
    /// The bound, as it is typed.
    pub asked: String,
    /// The measured value, or that there is none.
    pub measured: Phrase,
    /// Phase, rate or pair that it was measured on; may be empty.
    pub on: String,
}

impl DemandLine {
    /// The sign before it.
    pub fn sign(&self) -> &'static str {
        match self.passed {
            true => "✓",
            false => "✗",
        }
    }
}

/// The lines of those checks that the operator asked for, missed ones first.
pub fn lines<'a>(checks: impl IntoIterator<Item = &'a Check>) -> Vec<DemandLine> {
    let demands = checks.into_iter().filter_map(|check| {
        let demand = check.demand.as_ref()?;
        Some(DemandLine {
            passed: check.passed,
            asked: demand.asked.clone(),
            measured: match demand.measured {
                Some(value) => human(value, demand.unit).into(),
                None => Text::new("report-demand-unmeasured").into(),
            },
            on: demand.on.clone(),
        })
    });
    let mut lines: Vec<DemandLine> = demands.collect();
    lines.sort_by_key(|line| line.passed);
    lines
}

/// The same as a block; none where nothing was asked for.
pub fn block<'a>(checks: impl IntoIterator<Item = &'a Check>) -> Option<Block> {
    let lines = lines(checks);
    (!lines.is_empty()).then_some(Block::Demands(lines))
}

/// The same as plain lines for a terminal, with whether each was kept.
pub fn plain<'a>(checks: impl IntoIterator<Item = &'a Check>, lang: Lang) -> Vec<(bool, String)> {
    let speaker = Speaker::new();
    let lines = lines(checks);
    let width = lines.iter().map(|line| crate::text_columns(&line.asked));
    let width = width.max().unwrap_or(0);
    let plain = lines.into_iter().map(|line| {
        let pad = " ".repeat(width - crate::text_columns(&line.asked));
        let measured = speaker.say(lang, &line.measured);
        let text = format!("{} {}{pad}  {measured}", line.sign(), line.asked);
        let text = match line.on.as_str() {
            "" => text,
            on => format!("{text}  ({on})"),
        };
        (line.passed, harmless(&text).into_owned())
    });
    plain.collect()
}

/// A check as JSON: an element of `checks`.
pub fn json(check: &Check, i18n: &I18n) -> Value {
    let demand = check.demand.as_ref();
    json!({
        "name": check.name,
        "passed": check.passed,
        "says": i18n.text(&check.says),
        "asked": demand.map(|demand| &demand.asked),
        "measured": demand.and_then(|demand| demand.measured).filter(|v| v.is_finite()),
        "unit": demand.map(|demand| demand.unit.name()),
        "on": demand.map(|demand| &demand.on),
    })
}
