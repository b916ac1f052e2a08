//! Sentences about each layer of a check, and one for all layers of a part of the system.

use sokudo_model::kinds::LayerPart;
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

/// All layers, in one sentence for each part of the system; none for less than two layers, which the verdict
/// covers anyway.
pub(crate) fn sentences(record: &Record) -> Vec<Text> {
    let first = phases(record).next();
    let Some(first) = first.and_then(|phase| phase.result.flows.first()) else {
        return Vec::new();
    };
    if phases(record).count() < 2 {
        return Vec::new();
    }
    let parts = LayerPart::ALL.into_iter();
    parts
        .filter_map(|part| {
            let layers = together(phases(record).filter_map(brief), part)?;
            let says = match part {
                LayerPart::Way => Text::new("verdict-layers")
                    .word("from", &first.from)
                    .word("to", &first.to),
                LayerPart::Messages => Text::new("verdict-layers-messages"),
                LayerPart::Services => Text::new("verdict-layers-services"),
            };
            Some(says.text("layers", layers))
        })
        .collect()
}

/// What is said about the layers of one part, one after the other.
fn together(all: impl Iterator<Item = (LayerPart, Text)>, part: LayerPart) -> Option<Text> {
    let of_part = all.filter(|(of, _)| *of == part);
    let mut says: Vec<Text> = of_part.map(|(_, says)| says).collect();
    let last = says.pop()?;
    Some(says.into_iter().rfold(last, |rest, first| {
        Text::new("pair-and")
            .text("first", first)
            .text("rest", rest)
    }))
}

/// The numbers that a layer is told by, and the part of the system that it belongs to.
fn brief(phase: &PhaseRecord) -> Option<(LayerPart, Text)> {
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
    Some((layer.part, text))
}
