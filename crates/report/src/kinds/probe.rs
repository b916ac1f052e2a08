//! Which numbers tell of probes?

use sokudo_model::units::human;
use sokudo_model::{Severity, Text, Unit};

use super::{Kind, Subject};
use crate::block::{Number, Phrase};
use crate::number::count;

/// Delays each way, their variation, losses.
pub const KIND: Kind = Kind {
    name: "probe",
    generator_cpu: "probe.sender_cpu_ratio",
    arrived: None,
    sent: None,
    per_second: None,
    latency: &[
        ("probe.rtt_p50_seconds", "report-over-time-p50"),
        ("probe.rtt_p99_seconds", "report-over-time-p99"),
    ],
    numbers,
    line: super::first,
    settings: super::no_settings,
};

fn numbers(subject: &Subject) -> Vec<Number> {
    let own = |what: &str| subject.own(what);
    let mut out = Vec::new();
    out.extend(round_trip(&own));
    out.extend(one_way(&own));
    out.extend(variation(&own));
    out.extend(lost(&own));
    out
}

fn with(key: &str, value: f64, unit: Unit) -> Phrase {
    Text::new(key).number("value", value, unit).into()
}

fn round_trip(own: &impl Fn(&str) -> Option<f64>) -> Option<Number> {
    let mut number = Number::new(
        human(own("rtt_seconds.p50")?, Unit::Seconds),
        "report-number-rtt",
    );
    for (key, what) in [
        ("report-number-p99", "rtt_seconds.p99"),
        ("report-number-max", "rtt_seconds.max"),
    ] {
        let value = own(what).map(|value| with(key, value, Unit::Seconds));
        number.detail.extend(value);
    }
    Some(number)
}

/// The way up, with the way down beside it. Which of them stand here depends on the clocks.
fn one_way(own: &impl Fn(&str) -> Option<f64>) -> Option<Number> {
    let (up, down) = (own("owd_up_seconds.p50"), own("owd_down_seconds.p50"));
    let mut number = match (up, down) {
        (Some(up), _) => Number::new(human(up, Unit::Seconds), "report-number-owd-up"),
        (None, down) => Number::new(human(down?, Unit::Seconds), "report-number-owd-down"),
    };
    let beside = up.and(down);
    number
        .detail
        .extend(beside.map(|down| with("report-number-way-down", down, Unit::Seconds)));
    let error = own("clock_error_seconds").filter(|error| *error > 0.0);
    number
        .detail
        .extend(error.map(|error| with("report-number-give-or-take", error, Unit::Seconds)));
    Some(number)
}

fn variation(own: &impl Fn(&str) -> Option<f64>) -> Option<Number> {
    let up = own("jitter_up_seconds")?;
    let mut number = Number::new(human(up, Unit::Seconds), "report-number-jitter-up");
    let down = own("jitter_down_seconds");
    number
        .detail
        .extend(down.map(|down| with("report-number-way-down", down, Unit::Seconds)));
    Some(number)
}

fn lost(own: &impl Fn(&str) -> Option<f64>) -> Option<Number> {
    let lost = own("lost_packets")?;
    let mut number = Number::new(count(lost), "report-number-probes-lost");
    if lost > 0.0 {
        number.tone = Severity::Caution;
        for (key, what) in [
            ("report-number-way-up", "loss_up_ratio"),
            ("report-number-way-down", "loss_down_ratio"),
        ] {
            let value = own(what).map(|value| with(key, value, Unit::Ratio));
            number.detail.extend(value);
        }
    }
    for (key, what) in [
        ("report-number-probes-late", "late_packets"),
        ("report-number-probes-unsent", "unsent_packets"),
    ] {
        let some = own(what).filter(|n| *n > 0.0);
        number
            .detail
            .extend(some.map(|n| Phrase::from(Text::new(key).word("n", count(n)))));
    }
    Some(number)
}
