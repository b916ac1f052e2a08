//! The sentence about a measurement with and without a change.

use sokudo_model::{PhaseRecord, Record, Text, Unit};
use sokudo_stats::versus::{ARM, Versus, WITHOUT, median, versus_of};

/// The measurement, and the run without the change whose rate lies in the middle.
pub fn of(record: &Record) -> Option<(Versus, &PhaseRecord)> {
    let found = versus_of(&record.manifest.phases)?;
    let middle = median(&found.without);
    let phases = record.manifest.phases.iter();
    let without = phases.filter(|p| p.labels.get(ARM).is_some_and(|arm| arm == WITHOUT));
    let measured = without.filter_map(|phase| {
        let carried = found.metric.of(&phase.result.summary)?;
        Some(((carried - middle).abs(), phase))
    });
    let (_, subject) = measured.min_by(|a, b| a.0.total_cmp(&b.0))?;
    Some((found, subject))
}

/// Volume carried with and without the change, and the ratio with its interval.
pub fn says(found: &Versus) -> Text {
    let effect = found.effect();
    let key = match (effect.low > 1.0, effect.high < 1.0) {
        (true, _) => "verdict-versus-more",
        (_, true) => "verdict-versus-less",
        _ => "verdict-versus-same",
    };
    let setting = match found.value.as_str() {
        "" => Text::new("versus-left-out").word("option", &found.option),
        value => Text::new("versus-set")
            .word("option", &found.option)
            .word("setting", value),
    };
    Text::new(key)
        .text("change", setting)
        .number("with", median(&found.with), found.metric.unit)
        .number("without", median(&found.without), found.metric.unit)
        .number("ratio", effect.ratio, Unit::One)
        .number("low", effect.low, Unit::One)
        .number("high", effect.high, Unit::One)
        .number(
            "runs",
            (found.with.len() + found.without.len()) as f64,
            Unit::One,
        )
}
