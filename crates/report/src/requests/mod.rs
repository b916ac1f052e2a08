//! The report of a test of requests that is known by its rows alone.
//!
//! One page of its own, in the order of every report: verdict, few numbers, course over time,
//! statistics per label, failures, distribution, comparison, conditions. The figures are also written as
//! the file that programs read from JMeter's report, with the same keys.

mod beside;
mod budget;
mod compare;
mod failures;
mod felt;
mod figures;
mod over_time;
mod shape;
mod summary;
mod tables;
#[cfg(test)]
mod tests;
mod verdict;

pub use figures::{STATISTICS, statistics_json};
pub use summary::{ROWS, summary};
pub use verdict::judged;

use sokudo_i18n::Lang;
use sokudo_model::{Check, Record, Text, units};
use sokudo_stats::requests::Requests;

use crate::block::{Block, Phrase, Speaker};
use crate::date;
use crate::html::{self, Part, Sheet};
use crate::view::View;

/// A test and what it is compared with.
#[derive(Debug, Clone, Copy)]
pub struct Dashboard<'a> {
    /// Name of the file or the test; foreign text.
    pub name: &'a str,
    /// Counts of its rows.
    pub requests: &'a Requests,
    /// Start of its first request, RFC 3339 in the reader's zone.
    pub started: &'a str,
    /// An earlier test: its name and its figures.
    pub earlier: Option<(&'a str, &'a Requests)>,
    /// Checks of what had to be kept, with what was reached; see [`judged`].
    pub demands: &'a [Check],
    /// The run that produced the rows: what its hosts did, and what is concluded from it.
    pub record: Option<&'a Record>,
    /// Remarks about the rows: broken ones, for example.
    pub remarks: &'a [Text],
}

impl Dashboard<'_> {
    /// The verdict as a terminal shows it: one sentence per line, the first one first.
    pub fn says(&self, lang: Lang) -> Vec<String> {
        let speaker = Speaker::new();
        let sentences = verdict::sentences(self).into_iter();
        sentences
            .map(|says| speaker.say(lang, &says.into()))
            .collect()
    }

    /// The page; `lang` is the language it opens in.
    pub fn html(&self, lang: Lang) -> String {
        html::write(&self.sheet(), lang)
    }

    fn sheet(&self) -> Sheet {
        let part = |name, title: Option<&str>, blocks| Part {
            name,
            title: title.map(|key| Text::new(key).into()),
            blocks,
        };
        let parts = vec![
            part("verdict", None, verdict::blocks(self)),
            part("numbers", None, verdict::numbers(self)),
            part("why", Some("report-why"), beside::conclusions(self)),
            part(
                "over-time",
                Some("report-over-time"),
                over_time::blocks(self),
            ),
            part(
                "budget",
                Some("report-budget"),
                budget::blocks(self.requests),
            ),
            part("statistics", Some("jtl-statistics"), tables::blocks(self)),
            part("felt", Some("jtl-felt"), felt::blocks(self.requests)),
            part(
                "failures",
                Some("jtl-failures"),
                failures::blocks(self.requests),
            ),
            part("shape", Some("jtl-shape"), shape::blocks(self.requests)),
            part("comparison", Some("jtl-comparison"), compare::blocks(self)),
            part(
                "conditions",
                Some("report-environment"),
                tables::conditions(self)
                    .into_iter()
                    .chain(beside::conditions(self))
                    .collect(),
            ),
        ];
        let seconds = self.requests.total.seconds();
        let when = match date::both(self.started) {
            Some(both) => Phrase::Both(both),
            None => self.started.into(),
        };
        let footer = Text::new("jtl-footer")
            .word("name", self.name)
            .word("version", env!("CARGO_PKG_VERSION"));
        Sheet {
            title: format!("sokudo · {}", self.name),
            what: vec![self.name.into(), when, units::duration(seconds).into()],
            parts: parts.into_iter().filter(|p| !p.blocks.is_empty()).collect(),
            footer: footer.into(),
            end_ns: (seconds * 1e9) as i64,
            start_ms: date::clock_ms(self.started),
            clock_error_s: self.record.and_then(|r| View::new(r).clock_error_s()),
            spans: Vec::new(),
            events: Vec::new(),
            problems: Vec::new(),
        }
    }
}

/// The percentile that sentences use: the second one that is shown, or the only one.
fn leading_percentile(requests: &Requests) -> f64 {
    let shown = &requests.settings.percentiles;
    shown.get(1).or(shown.first()).copied().unwrap_or(95.0)
}

/// A message without values, as a paragraph under a heading.
fn how(key: &str) -> Block {
    Block::Paragraph(Text::new(key).into())
}
