//! Section: failed requests by code and message, and by label.

use std::collections::BTreeMap;

use sokudo_model::kinds::Family;
use sokudo_model::metrics::group;
use sokudo_model::{PhaseRecord, Series};

use crate::block::Block;
use crate::failures::{self, FailureCount, OfLabel};
use crate::view::View;

/// The tables of the subject phase; none where nothing failed for a reason that was told.
pub fn blocks(view: &View) -> Vec<Block> {
    let Some(phase) = view.lone_subject() else {
        return Vec::new();
    };
    let mut kinds: BTreeMap<String, u64> = BTreeMap::new();
    let mut labels: BTreeMap<&str, BTreeMap<String, u64>> = BTreeMap::new();
    for series in view.record.series_of(group::FAILURES) {
        let n = within(series, phase);
        if n == 0 {
            continue;
        }
        let says = reason(series);
        let label = series.key.labels.get("flow").map_or("", String::as_str);
        *kinds.entry(says.clone()).or_default() += n;
        *labels.entry(label).or_default().entry(says).or_default() += n;
    }
    if kinds.is_empty() {
        return Vec::new();
    }
    let told: u64 = kinds.values().sum();
    let by_label = labels.into_iter().map(|(label, kinds)| {
        let mut kinds: Vec<FailureCount> = kinds.into_iter().collect();
        kinds.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
        (label.to_owned(), kinds)
    });
    let by_label: Vec<OfLabel> = by_label.collect();
    failures::blocks(
        kinds.into_iter().collect(),
        by_label,
        (told, ended(phase).unwrap_or(told)),
    )
}

/// Failures that a series counted in a phase: its counts begin at zero with each phase.
fn within(series: &Series, phase: &PhaseRecord) -> u64 {
    let points = series.points.iter();
    let own = points.filter(|(t_ns, _)| *t_ns > phase.t0_ns && *t_ns <= phase.t1_ns);
    own.map(|(_, n)| *n as u64).max().unwrap_or(0)
}

/// `503 Service Unavailable`: code and message as far as they are known.
fn reason(series: &Series) -> String {
    let label = |name: &str| series.key.labels.get(name).map_or("", String::as_str);
    let words = [label("code"), label("message")];
    words.join(" ").trim().to_owned()
}

/// Requests that ended, well or not.
fn ended(phase: &PhaseRecord) -> Option<u64> {
    let Family::Exchange(exchange) = phase.kind()?.family else {
        return None;
    };
    let of = |metric: sokudo_model::Metric| metric.of(&phase.result.summary);
    let errors = of(exchange.errors).unwrap_or(0.0);
    Some((of(exchange.answered)? + errors) as u64)
}
