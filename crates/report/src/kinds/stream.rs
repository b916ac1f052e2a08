//! Which numbers tell of bulk bytes over connections (`stream`)?

use sokudo_model::units::human;
use sokudo_model::{Severity, Text, Unit};

use super::{Kind, Subject};
use crate::block::{Number, Phrase};
use crate::number::count;

/// Retransmissions above this share of the segments are worth a look.
const MANY_AGAIN: f64 = 0.001;

/// Goodput, what was sent again, who waited, what it cost.
pub const KIND: Kind = Kind {
    name: "stream",
    generator_cpu: "stream.sender_cpu_ratio",
    arrived: Some("stream.goodput_bits_per_second"),
    sent: Some("stream.sent_bits_per_second"),
    per_second: None,
    latency: &[],
    numbers,
    line: super::first,
    settings: super::no_settings,
};

fn numbers(subject: &Subject) -> Vec<Number> {
    let own = |what: &str| subject.own(what);
    let mut out = Vec::new();
    out.extend(goodput(&own, subject.phase.result.flows.len()));
    out.extend(missing(&own));
    out.extend(again(&own));
    out.extend(waited(&own));
    out.extend(cost(&own));
    out
}

fn part(key: &str, value: f64, unit: Unit) -> Phrase {
    Text::new(key).number("value", value, unit).into()
}

fn goodput(own: &impl Fn(&str) -> Option<f64>, flows: usize) -> Option<Number> {
    let bits = own("goodput_bits_per_second")?;
    let mut number = Number::new(human(bits, Unit::BitsPerSecond), "report-number-goodput");
    let detail = &mut number.detail;
    if let Some(asked) = own("asked_bits_per_second") {
        let text = Text::new("report-number-asked").number("asked", asked, Unit::BitsPerSecond);
        detail.push(text.into());
    }
    let bytes = own("received_bytes");
    detail.extend(bytes.map(|bytes| part("report-number-received", bytes, Unit::Bytes)));
    if flows > 1 {
        let n = Text::new("report-number-open-connections").word("n", count(flows as f64));
        detail.push(n.into());
    }
    let index = own("fairness_index");
    detail.extend(index.map(|index| part("report-number-fairness", index, Unit::One)));
    Some(number)
}

fn missing(own: &impl Fn(&str) -> Option<f64>) -> Option<Number> {
    let bytes = own("missing_bytes").filter(|bytes| *bytes > 0.0)?;
    let mut number = Number::new(human(bytes, Unit::Bytes), "report-number-not-arrived");
    number.tone = Severity::Caution;
    Some(number)
}

fn again(own: &impl Fn(&str) -> Option<f64>) -> Option<Number> {
    let mut number = Number::new(
        count(own("retransmitted_segments")?),
        "report-number-retransmitted",
    );
    let ratio = own("retransmitted_ratio");
    number
        .detail
        .extend(ratio.map(|ratio| part("report-number-of-segments", ratio, Unit::Ratio)));
    let rtt = own("smoothed_rtt_seconds");
    number
        .detail
        .extend(rtt.map(|rtt| part("report-number-round-trip", rtt, Unit::Seconds)));
    if ratio.is_some_and(|ratio| ratio > MANY_AGAIN) {
        number.tone = Severity::Caution;
    }
    Some(number)
}

/// Which end waited for the other.
fn waited(own: &impl Fn(&str) -> Option<f64>) -> Option<Number> {
    let blocked = own("write_blocked_ratio")?;
    let mut number = Number::new(human(blocked, Unit::Ratio), "report-number-write-blocked");
    let idle = own("read_idle_ratio");
    number
        .detail
        .extend(idle.map(|idle| part("report-number-read-idle", idle, Unit::Ratio)));
    Some(number)
}

/// CPU time per billion bytes on both sides.
fn cost(own: &impl Fn(&str) -> Option<f64>) -> Option<Number> {
    let sides = [
        (
            "report-number-sender",
            own("sender_cpu_seconds_per_gigabyte"),
        ),
        (
            "report-number-receiver",
            own("receiver_cpu_seconds_per_gigabyte"),
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
