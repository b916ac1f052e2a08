//! The outcome of a run in the sentences that a page shows.

use sokudo_model::{Record, Refusal, RunStatus};
use sokudo_report::View;
use sokudo_web::Feed;
use sokudo_web::feed::Outcome;

/// Outcome of a refusal: its message and remedy; nothing was measured.
pub fn of_refusal(feed: &Feed, why: &Refusal) -> Outcome {
    let hint = why.hint.iter().filter(|hint| !hint.is_empty());
    let sentences = std::iter::once(&why.says).chain(hint);
    Outcome {
        record: None,
        status: "failed".into(),
        verdict: sentences.map(|text| feed.both(text)).collect(),
    }
}

/// The verdict of a record; without one, nothing was measured.
pub fn of(feed: &Feed, record: Option<&Record>) -> Outcome {
    let Some(record) = record else {
        return Outcome {
            record: None,
            status: "failed".into(),
            verdict: Vec::new(),
        };
    };
    let is_passed = record.checks.iter().all(|check| check.passed);
    let status = match record.manifest.status {
        RunStatus::Running => RunStatus::Failed,
        status => status,
    };
    let verdict = View::new(record).verdict;
    Outcome {
        record: Some(record.manifest.id.0.clone()),
        status: status.word(is_passed).into(),
        verdict: verdict.iter().map(|text| feed.both(text)).collect(),
    }
}
