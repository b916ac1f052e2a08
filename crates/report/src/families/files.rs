//! The few numbers of trees of files.

use sokudo_model::kinds::replicate as numbers;
use sokudo_model::units::human;
use sokudo_model::{Severity, Stat, Text, Unit};

use super::{Subject, Telling};
use crate::block::Number;
use crate::number::count;

/// Rate, files, what went over the wire, CPU time, failures.
pub const TELLING: Telling = Telling {
    numbers: telling,
    line: super::first,
    settings: super::no_settings,
};

fn telling(subject: &Subject) -> Vec<Number> {
    let parts = [
        rate(subject),
        files(subject),
        wire(subject),
        cpu(subject),
        lag(subject),
        failed(subject),
    ];
    parts.into_iter().flatten().collect()
}

fn detail(number: &mut Number, key: &str, value: Option<f64>, unit: Unit) {
    let text = value.map(|value| Text::new(key).number("value", value, unit));
    number.detail.extend(text.map(Into::into));
}

fn rate(subject: &Subject) -> Option<Number> {
    let rate = subject.own(numbers::USER_BYTES_PER_SECOND)?;
    let mut number = Number::new(
        human(rate, Unit::BytesPerSecond),
        "report-number-user-bytes",
    );
    subject.put_range(&mut number, numbers::USER_BYTES_PER_SECOND, None);
    let elapsed = subject.own(numbers::ELAPSED_SECONDS);
    detail(&mut number, "report-number-elapsed", elapsed, Unit::Seconds);
    let predicted = subject.own(numbers::PREDICTED_SECONDS);
    detail(
        &mut number,
        "report-number-predicted",
        predicted,
        Unit::Seconds,
    );
    Some(number)
}

fn files(subject: &Subject) -> Option<Number> {
    let written = subject.own(numbers::FILES_WRITTEN)?;
    let mut number = Number::new(count(written), "report-number-files-written");
    let equal = subject
        .own(numbers::FILES_EQUAL)
        .filter(|equal| *equal > 0.0);
    detail(&mut number, "report-number-files-equal", equal, Unit::One);
    let removed = subject
        .own(numbers::REMOVED)
        .filter(|removed| *removed > 0.0);
    detail(&mut number, "report-number-removed", removed, Unit::One);
    Some(number)
}

fn wire(subject: &Subject) -> Option<Number> {
    let wire = subject.own(numbers::WIRE_BYTES)?;
    let mut number = Number::new(human(wire, Unit::Bytes), "report-number-on-the-wire");
    let bytes = subject.own(numbers::RECEIVED_BYTES);
    detail(&mut number, "report-number-content", bytes, Unit::Bytes);
    Some(number)
}

fn cpu(subject: &Subject) -> Option<Number> {
    let seconds = subject.own(numbers::CPU_SECONDS)?;
    let seconds = human(seconds, Unit::Seconds);
    Some(Number::new(seconds, "report-number-cpu-both-ends"))
}

fn lag(subject: &Subject) -> Option<Number> {
    let lag = subject.stat(numbers::LAG_SECONDS, Stat::P50)?;
    let mut number = Number::new(human(lag, Unit::Seconds), "report-number-lag");
    let max = subject.stat(numbers::LAG_SECONDS, Stat::Max);
    detail(&mut number, "report-number-lag-max", max, Unit::Seconds);
    Some(number)
}

fn failed(subject: &Subject) -> Option<Number> {
    let failed = subject
        .own(numbers::FAILED)
        .filter(|failed| *failed > 0.0)?;
    let mut number = Number::new(count(failed), "report-number-not-replicated");
    number.tone = Severity::Caution;
    Some(number)
}
