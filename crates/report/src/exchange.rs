//! Which numbers and charts tell of requests and responses (`rr`, `crr`)?

use sokudo_model::units::human;
use sokudo_model::{PhaseRecord, Severity, Summary, Text, Unit};

use crate::block::{Number, Phrase};
use crate::number::count;

/// Workloads of this kind.
pub const SOURCES: [&str; 2] = ["rr", "crr"];

/// Ends of the catalogue names whose series are charts of their own.
const CHARTED: [&str; 2] = ["latency_p50_seconds", "latency_p99_seconds"];

/// `rr` or `crr` for a phase of that kind.
pub fn source(phase: &PhaseRecord) -> Option<&'static str> {
    let own = |source: &&&str| phase.workload == ***source;
    SOURCES.iter().find(own).copied()
}

/// Catalogue name of the rate of answers.
pub fn per_second(source: &str) -> &'static str {
    match source {
        "crr" => "crr.connections_per_second",
        _ => "rr.transactions_per_second",
    }
}

/// True for series that have a place among the main charts.
pub fn is_charted(metric: &str) -> bool {
    SOURCES.iter().any(|source| {
        let own = metric
            .strip_prefix(source)
            .and_then(|m| m.strip_prefix('.'));
        metric == per_second(source) || own.is_some_and(|own| CHARTED.contains(&own))
    })
}

/// Names of the latency series of both kinds: median and 99th percentile.
pub fn latency_series() -> impl Iterator<Item = (String, &'static str)> {
    SOURCES.iter().flat_map(|source| {
        let name = move |end: &str| format!("{source}.{end}");
        [
            (name(CHARTED[0]), "report-over-time-p50"),
            (name(CHARTED[1]), "report-over-time-p99"),
        ]
    })
}

/// The numbers that matter of a phase of this kind, without the generator's health.
pub fn numbers(source: &str, summary: &Summary, totals: &Summary) -> Vec<Number> {
    let own = |what: &str| summary.get(&format!("{source}.{what}")).copied();
    let mut out = Vec::new();
    let best = totals.get(&format!("{source}.best_rate_per_second"));
    out.extend(best.map(|best| plain(human(*best, Unit::PerSecond), "report-number-best")));
    out.extend(latency(source, &own));
    out.extend(rate(source, summary, &own));
    out.extend(set_up(&own));
    out.extend(errors(&own));
    out
}

fn plain(value: impl Into<Phrase>, label: &str) -> Number {
    Number {
        value: value.into(),
        label: Text::new(label).into(),
        detail: Vec::new(),
        tone: Severity::Info,
    }
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
    let mut number = plain(human(p50, Unit::Seconds), label);
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
    let mut number = plain(human(*rate, Unit::PerSecond), label);
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
    let mut number = plain(human(p50, Unit::Seconds), "report-number-connect");
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
    let mut number = plain(count(failed), "report-number-errors");
    if failed > 0.0 {
        number.tone = Severity::Caution;
        let ratio = own("error_ratio").unwrap_or(0.0);
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
