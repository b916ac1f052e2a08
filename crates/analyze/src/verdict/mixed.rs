//! Sentences about loads that ran at the same moment: one per load, for they do not add up.

use sokudo_model::{PhaseRecord, Record, Text, Unit};

use super::about::{about, limit_of};
use super::failing::is_failing;
use crate::view::PhaseView;

/// Loads that have a sentence of their own at most; the table of phases has all of them.
const MAX_LOADS: usize = 6;

/// Sentences on the number of loads, the outcome of each (failed ones first), and the strongest limit.
pub fn sentences(record: &Record, loads: &[PhaseRecord]) -> Vec<Text> {
    let mut views: Vec<PhaseView<'_>> = loads
        .iter()
        .map(|load| PhaseView::new(record, load))
        .collect();
    views.sort_by_key(|view| !is_failing(view));
    let count = views.len() as f64;
    let told = views.iter().take(MAX_LOADS).filter_map(|view| {
        let says = about(view).into_iter().next()?;
        let load = Text::new("verdict-together-load").word("load", &view.phase.workload);
        Some(load.text("says", says))
    });
    let mut out: Vec<Text> = told.collect();
    let more = views.len().saturating_sub(MAX_LOADS) as f64;
    let key = match views.iter().any(is_failing) {
        true => "verdict-together-failing",
        false => "verdict-together",
    };
    out.insert(0, Text::new(key).number("count", count, Unit::One));
    if more > 0.0 {
        out.push(Text::new("verdict-together-more").number("more", more, Unit::One));
    }
    let limits = views
        .iter()
        .filter_map(|view| Some((view.phase, limit_of(view)?)));
    let strongest = limits.max_by(|a, b| a.1.weight.total_cmp(&b.1.weight));
    if let Some((phase, limit)) = strongest {
        let load = Text::new("verdict-together-load").word("load", &phase.workload);
        out.push(load.text("says", limit.says));
        out.extend(limit.next);
    }
    out
}
