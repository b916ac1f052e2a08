//! Placement of the threads of a load, in few words.

use sokudo_analyze::placement::{self, Placed};
use sokudo_model::{PhaseRecord, Record};

/// Threads that are named at most.
const MOST: usize = 6;

/// `ask hosta 0, answer hostb 1 0`: each busy thread with its cores, the most frequent first. `None`
/// where no core was observed.
pub fn words(record: &Record, phase: &PhaseRecord) -> Option<String> {
    let placed = placement::of(record, phase);
    let shown: Vec<String> = placed.iter().take(MOST).map(one).collect();
    let more = placed.len().saturating_sub(MOST);
    match more {
        0 if shown.is_empty() => None,
        0 => Some(shown.join(", ")),
        more => Some(format!("{} (+{more})", shown.join(", "))),
    }
}

fn one(placed: &Placed) -> String {
    let cores: Vec<String> = placed
        .cores
        .iter()
        .map(|(core, _)| core.to_string())
        .collect();
    format!("{} {}", placed.thread, cores.join("/"))
}
