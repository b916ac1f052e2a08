//! Carries out a JavaScript scenario over the hosts of a [`Lab`].

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use sokudo_model::{Refusal, Text};
use sokudo_scenario::script::{self, Limits, Outside, ScriptError};
use sokudo_workload::refusal::operator;

use crate::{Ended, Lab, Left};

/// Carries a script out; `file` is what it is called. The error says where it ended early.
pub fn carry_out(
    lab: Lab,
    source: String,
    file: &Path,
    set: Vec<(String, String)>,
) -> (Left, Option<ScriptError>) {
    let begun = Instant::now();
    let stop = Arc::clone(&lab.stop);
    let outside = Outside {
        now_ns: Box::new(move || u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX)),
        stop: Box::new(move || stop.load(Ordering::Relaxed)),
        seed: lab.seed,
        parameters: set,
    };
    let over = script::run(&source, lab, outside, Limits::default());
    let ended = match &over.outcome {
        Ok(()) => Ended::Well,
        Err(error) if error.interrupted => Ended::Interrupted,
        Err(error) => Ended::Early(refusal(error, file)),
    };
    let left = Left {
        lab: Some(over.executor),
        ended,
        files: vec![
            ("plan/scenario.js", source),
            ("plan/journal.jsonl", over.journal),
        ],
    };
    (left, over.outcome.err())
}

fn refusal(error: &ScriptError, file: &Path) -> Refusal {
    let says = Text::new("error-scenario-file")
        .with("file", file.display())
        .text("says", error.text());
    let hint = error.hint.clone();
    operator(says, hint.unwrap_or_else(|| Text::words("")))
}
