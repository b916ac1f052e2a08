//! Which numbers tell of framed messages (`bus`)?

use sokudo_model::units::human;
use sokudo_model::{Severity, Text, Unit};

use super::{Kind, Subject};
use crate::block::{Number, Phrase};
use crate::number::count;

/// Messages that arrived, how long they took, what waited, what came to nothing.
pub const KIND: Kind = Kind {
    name: "bus",
    generator_cpu: "bus.sender_cpu_ratio",
    arrived: Some("bus.bits_per_second"),
    sent: None,
    per_second: Some("bus.messages_per_second"),
    latency: &[
        ("bus.response_p50_seconds", "report-over-time-p50"),
        ("bus.response_p99_seconds", "report-over-time-p99"),
    ],
    numbers,
    line: super::first,
    settings: super::no_settings,
};

fn numbers(subject: &Subject) -> Vec<Number> {
    let best = subject.totals.get("bus.best_rate_per_second");
    let best = best.map(|best| Number::new(human(*best, Unit::PerSecond), "report-number-best"));
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
    let rate = subject.own("messages_per_second")?;
    let mut number = Number::new(human(rate, Unit::PerSecond), "report-number-messages");
    let bits = subject.own("bits_per_second");
    number.also("report-number-bits", bits, Unit::BitsPerSecond);
    if let Some(asked) = subject.own("asked_per_second") {
        let text = Text::new("report-number-asked").number("asked", asked, Unit::PerSecond);
        number.detail.push(text.into());
    }
    if let Some(n) = subject.own("connections").filter(|n| *n > 1.0) {
        let text = Text::new("report-number-open-connections").word("n", count(n));
        number.detail.push(text.into());
    }
    Some(number)
}

/// From the intended time to the answer.
fn latency(subject: &Subject) -> Option<Number> {
    let p50 = subject.own("response_latency_seconds.p50")?;
    let mut number = Number::new(human(p50, Unit::Seconds), "report-number-response");
    for (key, what) in [
        ("report-number-p99", "response_latency_seconds.p99"),
        ("report-number-p999", "response_latency_seconds.p999"),
        ("report-number-max", "response_latency_seconds.max"),
    ] {
        number.also(key, subject.own(what), Unit::Seconds);
    }
    Some(number)
}

/// How much was under way, and how long a sender waited for room.
fn backlog(subject: &Subject) -> Option<Number> {
    let bytes = subject.own("backlog_peak_bytes")?;
    let mut number = Number::new(human(bytes, Unit::Bytes), "report-number-under-way");
    let waited = subject.own("backlog_ratio");
    number.also("report-number-waited-for-room", waited, Unit::Ratio);
    let idle = subject.own("read_idle_ratio");
    number.also("report-number-read-idle", idle, Unit::Ratio);
    Some(number)
}

fn errors(subject: &Subject) -> Option<Number> {
    let errors = subject.own("errors")?;
    let mut number = Number::new(count(errors), "report-number-came-to-nothing");
    if errors > 0.0 {
        number.tone = Severity::Caution;
        let ratio = subject.own("error_ratio").unwrap_or(0.0);
        let share = Text::new("report-number-error-ratio").number("ratio", ratio, Unit::Ratio);
        number.detail.push(Phrase::from(share));
    }
    Some(number)
}
