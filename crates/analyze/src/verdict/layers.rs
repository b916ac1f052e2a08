//! One sentence for each layer of a check, and one for all together.

use sokudo_model::metrics::target;
use sokudo_model::{PhaseRecord, Record, Text, Unit, kinds};

use sokudo_stats::repeats::is_turn;

use super::about::about;
use crate::view::PhaseView;

/// Sentences of one layer at most: what was achieved, and what limited it.
const SENTENCES: usize = 2;

/// Name of each layer and what its phase, or the turn in the middle, says; nothing for runs that are not a
/// check of one machine. The layer of datagrams has many phases, and is what the verdict is about.
pub fn of(record: &Record) -> Vec<(&str, Vec<Text>)> {
    let each = phases(record);
    each.map(|phase| {
        let mut says = about(&PhaseView::new(record, phase));
        says.truncate(SENTENCES);
        (phase.layer(), says)
    })
    .collect()
}

/// The phases that are a layer each: the turn in the middle, or the phase named as its workload.
fn phases(record: &Record) -> impl Iterator<Item = &PhaseRecord> {
    let check = record.manifest.is_check();
    let each = record.manifest.phases.iter();
    each.filter(move |phase| check && (is_turn(phase) || phase.name == phase.layer()))
        .filter(|phase| !PhaseView::new(record, phase).is_trial())
        .filter(|phase| brief(phase).is_some())
}

/// All layers in one sentence; `None` for less than two, which the verdict covers anyway.
pub(crate) fn sentence(record: &Record) -> Option<Text> {
    let first = phases(record).next()?.result.flows.first()?;
    let mut all: Vec<Text> = phases(record).filter_map(brief).collect();
    let last = all.pop().filter(|_| !all.is_empty())?;
    let layers = all.into_iter().rfold(last, |rest, first| {
        Text::new("pair-and")
            .text("first", first)
            .text("rest", rest)
    });
    Some(
        Text::new("verdict-layers")
            .word("from", &first.from)
            .word("to", &first.to)
            .text("layers", layers),
    )
}

/// The numbers that a layer is told by.
fn brief(phase: &PhaseRecord) -> Option<Text> {
    let layer = match phase.layer() {
        target::LAYER => kinds::http::TARGET_LAYER,
        _ => phase.kind()?.layer?,
    };
    let mut text = Text::new(layer.key);
    for number in layer.numbers {
        let value = number.of(&phase.result.summary)?;
        let unit = match number.metric.unit {
            // The message names what is counted.
            Unit::PerSecond => Unit::One,
            unit => unit,
        };
        text = text.number(number.name, value, unit);
    }
    Some(text)
}
