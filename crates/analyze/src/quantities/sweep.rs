//! Sentences about a sweep.

use sokudo_model::{PhaseRecord, Record, Text, Unit};
use sokudo_stats::{Curve, CurveStep, Knee, curve_of};

/// The sweep of a record, and the phase that its few numbers describe: the step at the knee, or
/// the one that carried most. `None` when the record holds no sweep that gave numbers.
pub fn of(record: &Record) -> Option<(Curve, &PhaseRecord)> {
    let curve = curve_of(&record.manifest.phases)?;
    let name = curve.subject()?.phase.clone();
    let mut phases = record.manifest.phases.iter();
    let subject = phases.rfind(|phase| phase.name == name)?;
    Some((curve, subject))
}

/// The phase of the step above the knee: what it ran into limits the system.
pub fn above<'a>(record: &'a Record, curve: &Curve) -> Option<&'a PhaseRecord> {
    let at = match curve.knee {
        Knee::At(at, _) => at + 1,
        Knee::Below => 0,
        Knee::Above | Knee::Unknown => return None,
    };
    let name = &curve.steps.get(at)?.phase;
    let mut phases = record.manifest.phases.iter();
    phases.rfind(|phase| phase.name == *name)
}

/// The knee, or the reason why there is none, with the figures that show it.
pub fn says(curve: &Curve) -> Option<Text> {
    let subject = curve.subject()?;
    let unit = curve.names.delivered.unit;
    let key = match (curve.knee, curve.is_rate()) {
        (Knee::At(..), true) => "verdict-sweep-knee",
        (Knee::At(..), false) => "verdict-sweep-knee-option",
        (Knee::Above, true) => "verdict-sweep-above",
        (Knee::Below, _) => "verdict-sweep-below",
        (Knee::Unknown, true) => "verdict-sweep-unknown",
        (Knee::Above | Knee::Unknown, false) => "verdict-sweep-most",
    };
    let text = Text::new(key)
        .word("option", &curve.option)
        .word("value", &subject.value);
    let text = figures(text, "", subject, unit);
    match curve.knee {
        Knee::At(at, _) => {
            let next = curve.steps.get(at + 1)?;
            Some(figures(text.word("next", &next.value), "next-", next, unit))
        }
        Knee::Below => {
            let lowest = curve.steps.first()?;
            Some(figures(text, "low-", lowest, unit))
        }
        Knee::Above | Knee::Unknown => Some(text),
    }
}

/// Adds what a step offered, carried, and how late, under names that begin with `prefix`.
fn figures(text: Text, prefix: &str, step: &CurveStep, unit: Unit) -> Text {
    let number = |value: Option<f64>| value.unwrap_or(f64::NAN);
    let latency = match step.p99_s {
        Some(p99) => Text::new("sweep-latency").number("p99", p99, Unit::Seconds),
        None => Text::new("sweep-no-latency"),
    };
    text.number(&format!("{prefix}offered"), number(step.offered), unit)
        .number(&format!("{prefix}delivered"), number(step.delivered), unit)
        .text(&format!("{prefix}latency"), latency)
}

/// Next step after a sweep.
pub fn next(curve: &Curve) -> Text {
    let key = match (curve.knee, curve.is_rate()) {
        (Knee::At(..), true) => "verdict-sweep-next-finer",
        (Knee::At(..), false) => "verdict-sweep-next-keep",
        (Knee::Below, _) => "verdict-sweep-next-lower",
        (Knee::Above, true) => "verdict-sweep-next-higher",
        _ => "verdict-sweep-next-more",
    };
    Text::new(key)
}
