//! The few numbers of bulk bytes over connections.

use sokudo_model::kinds::stream;
use sokudo_model::units::human;
use sokudo_model::{Severity, Text, Unit};

use super::{Subject, Telling};
use crate::block::{Number, Phrase};
use crate::number::count;

/// Retransmissions above this share of the segments are marked.
const MANY_AGAIN: f64 = 0.001;

/// Goodput, retransmissions, which end waited, and CPU cost.
pub const TELLING: Telling = Telling {
    numbers,
    line: super::first,
    settings: super::no_settings,
};

fn numbers(subject: &Subject) -> Vec<Number> {
    let parts = [
        goodput(subject),
        missing(subject),
        again(subject),
        waited(subject),
        cost(subject),
    ];
    parts.into_iter().flatten().collect()
}

fn part(key: &str, value: f64, unit: Unit) -> Phrase {
    Text::new(key).number("value", value, unit).into()
}

fn goodput(subject: &Subject) -> Option<Number> {
    let bits = subject.own(stream::GOODPUT_BITS_PER_SECOND)?;
    let mut number = Number::new(human(bits, Unit::BitsPerSecond), "report-number-goodput");
    subject.put_range(&mut number, stream::GOODPUT_BITS_PER_SECOND, None);
    let detail = &mut number.detail;
    if let Some(asked) = subject.own(stream::ASKED_BITS_PER_SECOND) {
        let text = Text::new("report-number-asked").number("asked", asked, Unit::BitsPerSecond);
        detail.push(text.into());
    }
    let bytes = subject.own(stream::RECEIVED_BYTES);
    detail.extend(bytes.map(|bytes| part("report-number-received", bytes, Unit::Bytes)));
    let flows = subject.phase.result.flows.len();
    if flows > 1 {
        let n = Text::new("report-number-open-connections").word("n", count(flows as f64));
        detail.push(n.into());
    }
    let index = subject.own(stream::FAIRNESS_INDEX);
    detail.extend(index.map(|index| part("report-number-fairness", index, Unit::One)));
    Some(number)
}

fn missing(subject: &Subject) -> Option<Number> {
    let bytes = subject
        .own(stream::MISSING_BYTES)
        .filter(|bytes| *bytes > 0.0)?;
    let mut number = Number::new(human(bytes, Unit::Bytes), "report-number-not-arrived");
    number.tone = Severity::Caution;
    Some(number)
}

fn again(subject: &Subject) -> Option<Number> {
    let mut number = Number::new(
        count(subject.own(stream::RETRANSMITTED_SEGMENTS)?),
        "report-number-retransmitted",
    );
    let ratio = subject.own(stream::RETRANSMITTED_RATIO);
    number
        .detail
        .extend(ratio.map(|ratio| part("report-number-of-segments", ratio, Unit::Ratio)));
    let rtt = subject.own(stream::SMOOTHED_RTT_SECONDS);
    number
        .detail
        .extend(rtt.map(|rtt| part("report-number-round-trip", rtt, Unit::Seconds)));
    if ratio.is_some_and(|ratio| ratio > MANY_AGAIN) {
        number.tone = Severity::Caution;
    }
    Some(number)
}

/// Shares of time in which each end waited for the other.
fn waited(subject: &Subject) -> Option<Number> {
    let blocked = subject.own(stream::WRITE_BLOCKED_RATIO)?;
    let mut number = Number::new(human(blocked, Unit::Ratio), "report-number-write-blocked");
    let idle = subject.own(stream::READ_IDLE_RATIO);
    number
        .detail
        .extend(idle.map(|idle| part("report-number-read-idle", idle, Unit::Ratio)));
    Some(number)
}

/// CPU time per billion bytes on both sides.
fn cost(subject: &Subject) -> Option<Number> {
    let sides = [
        (
            "report-number-sender",
            subject.own(stream::SENDER_CPU_SECONDS_PER_GIGABYTE),
        ),
        (
            "report-number-receiver",
            subject.own(stream::RECEIVER_CPU_SECONDS_PER_GIGABYTE),
        ),
    ];
    let larger = sides.iter().filter_map(|(_, value)| *value);
    let larger = larger.reduce(f64::max)?;
    let mut number = Number::new(human(larger, Unit::Seconds), "report-number-cost-gigabyte");
    let known = sides.into_iter();
    number.detail = known
        .filter_map(|(key, value)| Some(part(key, value?, Unit::Seconds)))
        .collect();
    Some(number)
}
