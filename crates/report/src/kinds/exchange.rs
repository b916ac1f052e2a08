//! Which numbers and charts tell of requests and responses (`rr`, `crr`, `http`, `jmx`)?

use sokudo_model::units::human;
use sokudo_model::{PhaseRecord, Severity, Summary, Text, Unit, load};

use super::{Kind, Subject};
use crate::block::{Number, Phrase};
use crate::number::count;

/// Round trips on connections that stay.
pub const RR: Kind = Kind {
    name: "rr",
    generator_cpu: "rr.client_cpu_ratio",
    arrived: None,
    sent: None,
    per_second: Some("rr.transactions_per_second"),
    latency: &[
        ("rr.latency_p50_seconds", "report-over-time-p50"),
        ("rr.latency_p99_seconds", "report-over-time-p99"),
    ],
    numbers,
    line,
    settings: super::no_settings,
};

/// A connection for each request.
pub const CRR: Kind = Kind {
    name: "crr",
    generator_cpu: "crr.client_cpu_ratio",
    per_second: Some("crr.connections_per_second"),
    latency: &[
        ("crr.latency_p50_seconds", "report-over-time-p50"),
        ("crr.latency_p99_seconds", "report-over-time-p99"),
    ],
    ..RR
};

/// Load on a web server.
pub const HTTP: Kind = Kind {
    name: "http",
    generator_cpu: "http.client_cpu_ratio",
    per_second: Some("http.requests_per_second"),
    latency: &[
        ("http.latency_p50_seconds", "report-over-time-p50"),
        ("http.latency_p99_seconds", "report-over-time-p99"),
    ],
    ..RR
};

/// Load on a web server as a test plan says: the same numbers. Its series have the names of
/// `http`'s, which has them charted.
pub const JMX: Kind = Kind {
    name: "jmx",
    per_second: None,
    latency: &[],
    ..HTTP
};

/// Beginning of the names of a workload's numbers.
fn source_of(workload: &str) -> &str {
    match workload {
        "jmx" => "http",
        own => own,
    }
}

fn per_second(source: &str) -> &'static str {
    match source {
        "crr" => "crr.connections_per_second",
        "http" => "http.requests_per_second",
        _ => "rr.transactions_per_second",
    }
}

fn numbers(subject: &Subject) -> Vec<Number> {
    let Subject {
        summary, totals, ..
    } = subject;
    let source = source_of(&subject.phase.workload);
    let own = |what: &str| summary.get(&format!("{source}.{what}")).copied();
    let mut out = Vec::new();
    let best = totals.get(&format!("{source}.best_rate_per_second"));
    out.extend(best.map(|best| Number::new(human(*best, Unit::PerSecond), "report-number-best")));
    out.extend(latency(source, &own));
    out.extend(rate(source, summary, &own));
    out.extend(set_up(&own));
    out.extend(errors(&own));
    out
}

/// From so many bytes on, of a request and its response, one wants to know how much was carried, too.
const BULK_BYTES: f64 = 16_384.0;

/// How soon requests were answered, how many, and what they carried when they are large.
fn line(subject: &Subject) -> Option<Number> {
    let source = source_of(&subject.phase.workload);
    let own = |what: &str| subject.summary.get(&format!("{source}.{what}")).copied();
    let mut number = latency(source, &own)?;
    let rate = subject.summary.get(per_second(source))?;
    number.detail.truncate(1);
    let carried = bulk_bits_per_second(subject.phase, source);
    let more = carried.map(|bits| human(bits, Unit::BitsPerSecond).into());
    let rate = human(*rate, Unit::PerSecond).into();
    number
        .detail
        .splice(0..0, std::iter::once(rate).chain(more));
    Some(number)
}

/// What all flows of a phase carried together; `None` when their messages are small.
fn bulk_bits_per_second(phase: &PhaseRecord, source: &str) -> Option<f64> {
    let flows = &phase.result.flows;
    let of_one = |what: &str| {
        let name = format!("{source}.{what}");
        flows
            .iter()
            .find_map(|flow| flow.metrics.get(&name).copied())
    };
    let is_bulk = of_one("request_bytes")? + of_one("response_bytes")? >= BULK_BYTES;
    let carried = load::totals(flows).filter(|_| is_bulk)?;
    Some(carried.bits_per_second())
}

fn seconds(key: &str, value: f64) -> Phrase {
    Text::new(key).number("value", value, Unit::Seconds).into()
}

fn latency(source: &str, own: &impl Fn(&str) -> Option<f64>) -> Option<Number> {
    let p50 = own("latency_seconds.p50")?;
    let label = match source {
        "crr" => "report-number-latency-crr",
        _ => "report-number-latency",
    };
    let mut number = Number::new(human(p50, Unit::Seconds), label);
    for (key, what) in [
        ("report-number-p99", "latency_seconds.p99"),
        ("report-number-p999", "latency_seconds.p999"),
        ("report-number-max", "latency_seconds.max"),
    ] {
        number
            .detail
            .extend(own(what).map(|value| seconds(key, value)));
    }
    if own("asked_per_second").is_some() {
        let service = own("service_seconds.p99");
        number
            .detail
            .extend(service.map(|value| seconds("report-number-service", value)));
    }
    Some(number)
}

fn rate(source: &str, summary: &Summary, own: &impl Fn(&str) -> Option<f64>) -> Option<Number> {
    let rate = summary.get(per_second(source))?;
    let label = match source {
        "crr" => "report-number-connections",
        _ => "report-number-transactions",
    };
    let mut number = Number::new(human(*rate, Unit::PerSecond), label);
    number.detail.push(match own("asked_per_second") {
        Some(asked) => Text::new("report-number-asked")
            .number("asked", asked, Unit::PerSecond)
            .into(),
        None => Text::new("report-number-closed").into(),
    });
    let held = own("open_connections").filter(|n| *n > 1.0);
    number.detail.extend(held.map(|n| {
        Text::new("report-number-open-connections")
            .word("n", count(n))
            .into()
    }));
    Some(number)
}

/// Parts of a connection's set-up, for the workload that makes one per request.
fn set_up(own: &impl Fn(&str) -> Option<f64>) -> Option<Number> {
    let p50 = own("connect_seconds.p50").or_else(|| own("handshake_seconds.p50"))?;
    let mut number = Number::new(human(p50, Unit::Seconds), "report-number-connect");
    let p99 = own("connect_seconds.p99");
    number
        .detail
        .extend(p99.map(|value| seconds("report-number-p99", value)));
    let handshake = own("handshake_seconds.p50");
    number
        .detail
        .extend(handshake.map(|value| seconds("report-number-handshake", value)));
    Some(number)
}

fn errors(own: &impl Fn(&str) -> Option<f64>) -> Option<Number> {
    let failed = own("errors")? + own("unstarted_requests").unwrap_or(0.0);
    let mut number = Number::new(count(failed), "report-number-errors");
    for class in ["status_3xx", "status_4xx", "status_5xx", "status_other"] {
        let key = format!("report-number-http-{}", class.replace('_', "-"));
        let some = own(class).filter(|n| *n > 0.0);
        number
            .detail
            .extend(some.map(|n| Text::new(key).word("n", count(n)).into()));
    }
    let ratio = own("error_ratio").unwrap_or(0.0);
    if failed > 0.0 || ratio > 0.0 {
        number.tone = Severity::Caution;
        let share = Text::new("report-number-error-ratio").number("ratio", ratio, Unit::Ratio);
        number.detail.push(share.into());
    }
    let lost = own("lost_connections").filter(|n| *n > 0.0);
    number.detail.extend(lost.map(|n| {
        Text::new("report-number-lost-connections")
            .word("n", count(n))
            .into()
    }));
    Some(number)
}
