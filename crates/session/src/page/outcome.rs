//! The outcome of a run in the sentences that a page shows.

use sokudo_model::{Record, RunStatus};
use sokudo_report::View;
use sokudo_web::Feed;
use sokudo_web::feed::Outcome;

/// The verdict of a record; without one, nothing was measured.
pub fn of(feed: &Feed, record: Option<&Record>) -> Outcome {
    let Some(record) = record else {
        return Outcome {
            record: None,
            status: "failed".into(),
            verdict: Vec::new(),
        };
    };
    let status = match record.manifest.status {
        RunStatus::Ok => "ok",
        RunStatus::Partial => "partial",
        RunStatus::Failed | RunStatus::Running => "failed",
    };
    let verdict = View::new(record).verdict;
    Outcome {
        record: Some(record.manifest.id.0.clone()),
        status: status.into(),
        verdict: verdict.iter().map(|text| feed.both(text)).collect(),
    }
}
