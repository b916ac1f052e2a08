//! Section: the verdict, and what to try next.

use sokudo_model::{RunStatus, Severity, Text};

use crate::block::{Block, Phrase};
use crate::demands;
use crate::view::View;

/// The verdict's sentences, how the run ended when it did not end well, what is missing, and the
/// notes that must be read with the numbers.
pub fn blocks(view: &View) -> Vec<Block> {
    let mut out = Vec::new();
    out.extend(view.unwell().map(|status| {
        let severity = match status {
            RunStatus::Failed => Severity::Bad,
            _ => Severity::Caution,
        };
        Block::Notice(severity, status_words(status))
    }));
    let sentences: Vec<Phrase> = match view.verdict.is_empty() {
        true => vec![Text::new("report-verdict-none").into()],
        false => view.verdict.iter().cloned().map(Phrase::Text).collect(),
    };
    out.push(Block::Lead(sentences));
    out.extend(demands::block(&view.record.checks));
    for problem in &view.record.manifest.problems {
        out.push(Block::Notice(Severity::Bad, problem_words(problem)));
    }
    for check in view.unasked_failures() {
        let says = Text::new("report-verdict-check-failed")
            .word("name", check.name.clone())
            .text("says", check.says.clone());
        out.push(Block::Notice(Severity::Bad, says.into()));
    }
    let notes = view.record.manifest.notes.iter().cloned();
    out.extend(notes.map(|note| Block::Notice(Severity::Info, note.into())));
    out
}

/// Status of a run, as a sentence.
pub fn status_words(status: RunStatus) -> Phrase {
    Text::new(match status {
        RunStatus::Running => "report-status-running",
        RunStatus::Ok => "report-status-ok",
        RunStatus::Partial => "report-status-partial",
        RunStatus::Failed => "report-status-failed",
    })
    .into()
}

fn problem_words(problem: &sokudo_model::Problem) -> Phrase {
    let seconds = problem.t_ns as f64 / 1e9;
    let whole = match &problem.missing {
        Some(missing) => {
            Text::new("report-verdict-problem-missing").text("missing", missing.clone())
        }
        None => Text::new("report-verdict-problem"),
    };
    let whole = whole
        .number("time", seconds, sokudo_model::Unit::Seconds)
        .text("says", problem.says.clone());
    whole.into()
}
