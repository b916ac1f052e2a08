//! The few numbers of framed messages.

use sokudo_model::kinds::bus;
use sokudo_model::units::human;
use sokudo_model::{Metric, Severity, Stat, Text, Unit};

use super::{Subject, Telling};
use crate::block::{Number, Phrase};
use crate::number::count;

/// Messages that arrived, how long they took, what waited, what failed.
pub const TELLING: Telling = Telling {
    numbers,
    line: super::first,
    settings: super::no_settings,
};

fn numbers(subject: &Subject) -> Vec<Number> {
    let best = bus::BEST_RATE_PER_SECOND.of(subject.totals);
    let best = best.map(|best| Number::new(human(best, Unit::PerSecond), "report-number-best"));
    let parts = [
        best,
        messages(subject),
        latency(subject),
        backlog(subject),
        errors(subject),
    ];
    parts.into_iter().flatten().collect()
}

fn messages(subject: &Subject) -> Option<Number> {
    let rate = subject.own(bus::MESSAGES_PER_SECOND)?;
    let mut number = Number::new(human(rate, Unit::PerSecond), "report-number-messages");
    subject.put_range(&mut number, bus::MESSAGES_PER_SECOND, None);
    let bits = subject.own(bus::BITS_PER_SECOND);
    number.also("report-number-bits", bits, Unit::BitsPerSecond);
    if let Some(asked) = subject.own(bus::ASKED_PER_SECOND) {
        let text = Text::new("report-number-asked").number("asked", asked, Unit::PerSecond);
        number.detail.push(text.into());
    }
    if let Some(n) = subject.own(bus::CONNECTIONS).filter(|n| *n > 1.0) {
        let text = Text::new("report-number-open-connections").word("n", count(n));
        number.detail.push(text.into());
    }
    Some(number)
}

/// From the intended time to the answer.
fn latency(subject: &Subject) -> Option<Number> {
    const LATENCY: Metric = bus::RESPONSE_LATENCY_SECONDS;
    let p50 = subject.stat(LATENCY, Stat::P50)?;
    let mut number = Number::new(human(p50, Unit::Seconds), "report-number-response");
    subject.put_range(&mut number, LATENCY, Some(Stat::P50));
    for (key, stat) in [
        ("report-number-p99", Stat::P99),
        ("report-number-p999", Stat::P999),
        ("report-number-max", Stat::Max),
    ] {
        subject.put_stat(&mut number, key, LATENCY, stat);
    }
    Some(number)
}

/// Amount under way, and the time that a sender waited for room.
fn backlog(subject: &Subject) -> Option<Number> {
    let bytes = subject.own(bus::BACKLOG_PEAK_BYTES)?;
    let mut number = Number::new(human(bytes, Unit::Bytes), "report-number-under-way");
    let waited = subject.own(bus::BACKLOG_RATIO);
    number.also("report-number-waited-for-room", waited, Unit::Ratio);
    let idle = subject.own(bus::READ_IDLE_RATIO);
    number.also("report-number-read-idle", idle, Unit::Ratio);
    Some(number)
}

fn errors(subject: &Subject) -> Option<Number> {
    let errors = subject.own(bus::ERRORS)?;
    let mut number = Number::new(count(errors), "report-number-came-to-nothing");
    if errors > 0.0 {
        number.tone = Severity::Caution;
        let ratio = subject.own(bus::ERROR_RATIO).unwrap_or(0.0);
        let share = Text::new("report-number-error-ratio").number("ratio", ratio, Unit::Ratio);
        number.detail.push(Phrase::from(share));
    }
    Some(number)
}
