//! Choice of settings, and comparison of a prediction with the measured time.

use sokudo_model::advice::{Advice, Candidate};
use sokudo_model::kinds::replicate as numbers;
use sokudo_model::{Record, Text, Unit};

use crate::view::PhaseView;

/// A measured value so far from the predicted one explains a gap.
const EXPLAINS: f64 = 0.08;

/// Sentences about the settings that were chosen, and why; none for a record without a choice.
pub fn choice(record: &Record) -> Vec<Text> {
    let Some(advice) = &record.manifest.advice else {
        return Vec::new();
    };
    let Some(chosen) = advice.chosen.and_then(|_| advice.subject()) else {
        return Vec::new();
    };
    let mut out = vec![chose(chosen), why(advice, chosen)];
    let usual = advice.usual().filter(|usual| *usual != chosen);
    let rates = usual.and_then(|usual| {
        let (ours, theirs) = (
            chosen.measured_bytes_per_s()?,
            usual.measured_bytes_per_s()?,
        );
        Some((ours, theirs))
    });
    out.extend(rates.map(|(ours, theirs)| {
        Text::new("verdict-advice-proof")
            .number("rate", ours, Unit::BytesPerSecond)
            .number("usual", theirs, Unit::BytesPerSecond)
            .number("trials", chosen.trials.len() as f64, Unit::One)
            .number(
                "off",
                chosen.measured_over_predicted().unwrap_or(1.0) - 1.0,
                Unit::Ratio,
            )
    }));
    out
}

fn chose(chosen: &Candidate) -> Text {
    let predicted = &chosen.predicted;
    Text::new("verdict-advice-choice")
        .word("level", &chosen.level)
        .word("connections", chosen.connections.to_string())
        .number("batch", chosen.batch_bytes as f64, Unit::Bytes)
        .number("seconds", predicted.seconds, Unit::Seconds)
        .number("low", predicted.low_s, Unit::Seconds)
        .number("high", predicted.high_s, Unit::Seconds)
}

/// Compression pays only while the compressor outruns the way.
fn why(advice: &Advice, chosen: &Candidate) -> Text {
    let basis = &advice.basis;
    let (ratio, speed) = basis.levels.first().copied().unwrap_or((1.0, 0.0));
    let is_packed = !matches!(chosen.level.as_str(), "none" | "auto");
    let key = match (is_packed, basis.dense_ratio > 0.9) {
        (true, _) => "verdict-advice-packed",
        (false, true) => "verdict-advice-dense",
        (false, false) => "verdict-advice-plain",
    };
    Text::new(key)
        .number("speed", speed, Unit::BytesPerSecond)
        .number("ratio", ratio, Unit::One)
        .number("way", basis.way_bytes_per_s, Unit::BytesPerSecond)
        .number("dense", basis.dense_ratio, Unit::Ratio)
        .number("cores", basis.sender_cores, Unit::One)
        .text(
            "stage",
            Text::new(format!("advice-stage-{}", chosen.predicted.stage)),
        )
}

/// Sentences about the prediction of one replication: of a dry run the time, of a real one how far it was off and
/// why.
pub fn foreseen(view: &PhaseView<'_>) -> Option<Text> {
    let advice = view.record.manifest.advice.as_ref()?;
    let subject = advice.subject().filter(|_| advice.chosen.is_none())?;
    let predicted = &subject.predicted;
    let range = |key: &str| {
        Text::new(key)
            .number("seconds", predicted.seconds, Unit::Seconds)
            .number("low", predicted.low_s, Unit::Seconds)
            .number("high", predicted.high_s, Unit::Seconds)
    };
    if view.option("dry_run") == Some(true) {
        let key = match advice.basis.disk_is_guess {
            true => "verdict-advice-would-guess",
            false => "verdict-advice-would",
        };
        let stage = Text::new(format!("advice-stage-{}", predicted.stage));
        return Some(range(key).text("stage", stage));
    }
    let elapsed = view.total(numbers::ELAPSED_SECONDS)?;
    let key = match (predicted.low_s..=predicted.high_s).contains(&elapsed) {
        true => "verdict-advice-within",
        false if elapsed > predicted.high_s => "verdict-advice-longer",
        false => "verdict-advice-shorter",
    };
    let gap = range(key).number("elapsed", elapsed, Unit::Seconds).number(
        "off",
        (elapsed / predicted.seconds - 1.0).abs(),
        Unit::Ratio,
    );
    Some(gap.text("why", explanation(view, subject)))
}

/// Name, measured and predicted value of a quantity.
type Compared = (&'static str, f64, f64, Unit);

/// The measured value that lies farthest from its prediction.
fn explanation(view: &PhaseView<'_>, subject: &Candidate) -> Text {
    let predicted = &subject.predicted;
    let of = |metric| view.total(metric).unwrap_or(0.0);
    let rate = |wire: f64, seconds: f64| wire / seconds.max(1e-9);
    let wire = of(numbers::WIRE_BYTES);
    let pairs: [Compared; 3] = [
        ("wire", wire, predicted.wire_bytes, Unit::Bytes),
        (
            "cpu",
            of(numbers::CPU_SECONDS),
            predicted.cpu_s,
            Unit::Seconds,
        ),
        (
            "rate",
            rate(wire, of(numbers::ELAPSED_SECONDS)),
            rate(predicted.wire_bytes, predicted.seconds),
            Unit::BytesPerSecond,
        ),
    ];
    let distance = |measured: f64, expected: f64| match measured > 0.0 && expected > 0.0 {
        true => (measured / expected).ln().abs(),
        false => 0.0,
    };
    let farthest = |a: &&Compared, b: &&Compared| distance(a.1, a.2).total_cmp(&distance(b.1, b.2));
    let told = pairs.iter().max_by(farthest);
    let told = told.filter(|(_, measured, expected, _)| distance(*measured, *expected) > EXPLAINS);
    let Some((name, measured, expected, unit)) = told else {
        return Text::words("");
    };
    Text::new(format!("verdict-advice-gap-{name}"))
        .number("measured", *measured, *unit)
        .number("expected", *expected, *unit)
}
