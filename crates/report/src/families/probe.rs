//! The few numbers of probes.

use sokudo_model::kinds::probe;
use sokudo_model::units::human;
use sokudo_model::{Severity, Stat, Text, Unit};

use super::{Subject, Telling};
use crate::block::{Number, Phrase};
use crate::number::count;

/// Delays each way, their variation, losses.
pub const TELLING: Telling = Telling {
    numbers,
    line: super::first,
    settings: super::no_settings,
};

fn numbers(subject: &Subject) -> Vec<Number> {
    let parts = [
        round_trip(subject),
        one_way(subject),
        variation(subject),
        lost(subject),
    ];
    parts.into_iter().flatten().collect()
}

fn with(key: &str, value: f64, unit: Unit) -> Phrase {
    Text::new(key).number("value", value, unit).into()
}

fn round_trip(subject: &Subject) -> Option<Number> {
    let mut number = Number::new(
        human(subject.stat(probe::RTT_SECONDS, Stat::P50)?, Unit::Seconds),
        "report-number-rtt",
    );
    subject.put_range(&mut number, probe::RTT_SECONDS, Some(Stat::P50));
    for (key, stat) in [
        ("report-number-p99", Stat::P99),
        ("report-number-max", Stat::Max),
    ] {
        subject.put_stat(&mut number, key, probe::RTT_SECONDS, stat);
    }
    Some(number)
}

/// The delay up, with the delay down as its detail. The error of the clocks decides which are shown.
fn one_way(subject: &Subject) -> Option<Number> {
    let (up, down) = (
        subject.stat(probe::OWD_UP_SECONDS, Stat::P50),
        subject.stat(probe::OWD_DOWN_SECONDS, Stat::P50),
    );
    let mut number = match (up, down) {
        (Some(up), _) => Number::new(human(up, Unit::Seconds), "report-number-owd-up"),
        (None, down) => Number::new(human(down?, Unit::Seconds), "report-number-owd-down"),
    };
    let beside = up.and(down);
    number
        .detail
        .extend(beside.map(|down| with("report-number-way-down", down, Unit::Seconds)));
    let error = subject
        .own(probe::CLOCK_ERROR_SECONDS)
        .filter(|error| *error > 0.0);
    number
        .detail
        .extend(error.map(|error| with("report-number-give-or-take", error, Unit::Seconds)));
    Some(number)
}

fn variation(subject: &Subject) -> Option<Number> {
    let up = subject.own(probe::JITTER_UP_SECONDS)?;
    let mut number = Number::new(human(up, Unit::Seconds), "report-number-jitter-up");
    let down = subject.own(probe::JITTER_DOWN_SECONDS);
    number
        .detail
        .extend(down.map(|down| with("report-number-way-down", down, Unit::Seconds)));
    Some(number)
}

fn lost(subject: &Subject) -> Option<Number> {
    let lost = subject.own(probe::LOST_PACKETS)?;
    let mut number = Number::new(count(lost), "report-number-probes-lost");
    if lost > 0.0 {
        number.tone = Severity::Caution;
        for (key, what) in [
            ("report-number-way-up", probe::LOSS_UP_RATIO),
            ("report-number-way-down", probe::LOSS_DOWN_RATIO),
        ] {
            let value = subject.own(what).map(|value| with(key, value, Unit::Ratio));
            number.detail.extend(value);
        }
    }
    for (key, what) in [
        ("report-number-probes-late", probe::LATE_PACKETS),
        ("report-number-probes-unsent", probe::UNSENT_PACKETS),
    ] {
        let some = subject.own(what).filter(|n| *n > 0.0);
        number
            .detail
            .extend(some.map(|n| Phrase::from(Text::new(key).word("n", count(n)))));
    }
    Some(number)
}
