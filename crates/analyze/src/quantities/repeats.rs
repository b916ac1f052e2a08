//! Sentences about repeated runs, and about the trials at the answer of a search.

use sokudo_model::{PhaseRecord, Record, Text, Unit};
use sokudo_stats::repeats::{Answer, Figure, Repeats, answer_of, repeats_of};

/// The repeated runs of a record, and the phase that its few numbers describe: the run in the middle,
/// by its rate. `None` when nothing was repeated, or no run gave numbers.
pub fn of(record: &Record) -> Option<(Repeats, &PhaseRecord)> {
    let repeats = repeats_of(&record.manifest.phases)?;
    let mut phases = record.manifest.phases.iter();
    let subject = phases.rfind(|phase| phase.name == repeats.subject())?;
    Some((repeats, subject))
}

/// The median of the rate with its interval, the range of the runs, and a warning when single runs
/// say little.
pub fn says(repeats: &Repeats) -> Vec<Text> {
    let Some(rate) = repeats.rate() else {
        return Vec::new();
    };
    let spread = &rate.spread;
    let mut out = vec![median(repeats, rate)];
    let apart = rate.is_far_apart().then_some(spread.max / spread.min);
    out.extend(
        apart.map(|factor| Text::new("verdict-repeat-apart").number("factor", factor, Unit::One)),
    );
    out
}

fn median(repeats: &Repeats, rate: &Figure) -> Text {
    let (spread, unit) = (&rate.spread, rate.metric.unit);
    let key = match spread.interval {
        Some(interval) if interval.confidence >= sokudo_stats::interval::LEVEL => "verdict-repeat",
        Some(_) => "verdict-repeat-few",
        None => "verdict-repeat-one",
    };
    let mut says = Text::new(key)
        .number("runs", repeats.phases.len() as f64, Unit::One)
        .number("numbers", spread.n as f64, Unit::One)
        .number("median", spread.median, unit)
        .number("min", spread.min, unit)
        .number("max", spread.max, unit);
    if let Some(interval) = spread.interval {
        says = says
            .number("low", interval.low, unit)
            .number("high", interval.high, unit)
            .number("confidence", interval.confidence, Unit::Ratio);
    }
    says
}

/// The range of a search's answer: how many trials held it, where the median of what they carried
/// lies, and what broke a bound above it. `None` when it was tried but once.
pub fn of_search(record: &Record) -> Option<Text> {
    let answer = answer_of(&record.manifest.phases)?;
    let Answer {
        trials,
        held,
        above,
    } = &answer;
    let rate = trials.rate()?;
    let (interval, unit) = (rate.spread.interval?, rate.metric.unit);
    let above = match above {
        Some(above) => Text::new("search-range-above").number("above", *above, unit),
        None => Text::new("search-range-open"),
    };
    let says = Text::new("verdict-search-range")
        .number("held", *held as f64, Unit::One)
        .number("trials", trials.phases.len() as f64, Unit::One)
        .number("low", interval.low, unit)
        .number("high", interval.high, unit)
        .number("confidence", interval.confidence, Unit::Ratio);
    Some(says.text("above", above))
}
