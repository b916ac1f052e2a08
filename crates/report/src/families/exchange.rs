//! The few numbers of requests and their answers.

use sokudo_model::kinds::{self, Exchange, Family, Noun, Part};
use sokudo_model::units::human;
use sokudo_model::{PhaseRecord, Severity, Stat, Text, Unit};

use super::{Subject, Telling};
use crate::block::{Number, Phrase};
use crate::number::count;

/// Latency, rate, set-up of connections, errors.
pub const TELLING: Telling = Telling {
    numbers,
    line,
    settings: super::no_settings,
};

fn exchange_of(subject: &Subject) -> Option<&'static Exchange> {
    match subject.kind?.family {
        Family::Exchange(exchange) => Some(exchange),
        Family::Bytes(_)
        | Family::Messages(_)
        | Family::Datagram
        | Family::Probe
        | Family::Files(_) => None,
    }
}

fn numbers(subject: &Subject) -> Vec<Number> {
    let Some(exchange) = exchange_of(subject) else {
        return Vec::new();
    };
    let best = exchange.best.of(subject.totals);
    let parts = [
        best.map(|best| Number::new(human(best, Unit::PerSecond), "report-number-best")),
        latency(subject, exchange),
        rate(subject, exchange),
        set_up(subject, exchange),
        errors(subject, exchange),
    ];
    let own = exchange.own.iter().filter_map(|metric| {
        let value = subject.own(*metric)?;
        let label = format!("report-metric-{}", metric.slug());
        Some(Number::new(human(value, metric.unit), &label))
    });
    let kinds = exchange
        .parts
        .iter()
        .filter_map(|part| kind_of_request(subject, part));
    own.chain(parts.into_iter().flatten())
        .chain(kinds)
        .chain(named(subject, exchange))
        .collect()
}

/// Count and latency of one kind of request.
fn kind_of_request(subject: &Subject, part: &Part) -> Option<Number> {
    let p50 = subject.stat(part.latency, Stat::P50)?;
    let name = Text::new(format!("report-metric-{}", part.latency.slug()));
    let label = Text::new("report-number-part").text("name", name);
    let mut number = Number {
        label: label.into(),
        ..Number::new(human(p50, Unit::Seconds), "")
    };
    subject.put_stat(&mut number, "report-number-p99", part.latency, Stat::P99);
    let carried_out = subject.own(part.count).map(|n| {
        Text::new("report-number-part-count")
            .word("n", count(n))
            .into()
    });
    number.detail.extend(carried_out);
    Some(number)
}

/// Names of requests whose numbers are shown; those of the rest are in the distributions.
const MOST_NAMES: usize = 8;

/// Count and latency of the requests of each name, the most frequent ones first.
fn named(subject: &Subject, exchange: &Exchange) -> Vec<Number> {
    let Some(named) = exchange.named else {
        return Vec::new();
    };
    let flows = subject.phase.result.flows.iter();
    let each = flows.filter_map(|flow| {
        let latency = flow.histograms.get(named.latency.name)?;
        let label = Text::new("report-number-part").word("name", &flow.to);
        let mut number = Number {
            label: label.into(),
            ..Number::new(human(latency.p50, Unit::Seconds), "")
        };
        number
            .detail
            .push(seconds("report-number-p99", latency.p99));
        let n = Text::new("report-number-part-count").word("n", count(latency.n as f64));
        number.detail.push(n.into());
        Some((latency.n, number))
    });
    let mut each: Vec<(u64, Number)> = each.collect();
    each.sort_by_key(|(n, _)| std::cmp::Reverse(*n));
    each.into_iter()
        .map(|(_, number)| number)
        .take(MOST_NAMES)
        .collect()
}

/// Size of a request and its response, bytes, from which on the volume carried is shown, too.
const BULK_BYTES: f64 = 16_384.0;

/// Latency and rate of requests, and their throughput when they are large.
fn line(subject: &Subject) -> Option<Number> {
    let exchange = exchange_of(subject)?;
    let mut number = latency(subject, exchange)?;
    let rate = subject.own(exchange.per_second)?;
    number.detail.truncate(1);
    let carried = bulk_bits_per_second(subject.phase, exchange);
    let more = carried.map(|bits| human(bits, Unit::BitsPerSecond).into());
    let rate = human(rate, Unit::PerSecond).into();
    number
        .detail
        .splice(0..0, std::iter::once(rate).chain(more));
    Some(number)
}

/// Throughput of all flows of a phase; `None` when their messages are small.
fn bulk_bits_per_second(phase: &PhaseRecord, exchange: &Exchange) -> Option<f64> {
    let between = exchange.between?;
    let flows = &phase.result.flows;
    let of_one = |metric: sokudo_model::Metric| flows.iter().find_map(|f| metric.of(&f.metrics));
    let each = of_one(between.request_bytes)? + of_one(between.response_bytes)?;
    let carried = kinds::totals(flows).filter(|_| each >= BULK_BYTES)?;
    Some(carried.bits_per_second())
}

fn seconds(key: &str, value: f64) -> Phrase {
    Text::new(key).number("value", value, Unit::Seconds).into()
}

fn latency(subject: &Subject, exchange: &Exchange) -> Option<Number> {
    let p50 = subject.stat(exchange.latency, Stat::P50)?;
    let label = match (exchange.connects_each_time, exchange.noun) {
        (true, _) => "report-number-latency-crr",
        (false, Noun::Requests) => "report-number-latency",
        (false, Noun::Transactions) => "report-number-latency-sql",
    };
    let mut number = Number::new(human(p50, Unit::Seconds), label);
    subject.put_range(&mut number, exchange.latency, Some(Stat::P50));
    for (key, stat) in [
        ("report-number-p99", Stat::P99),
        ("report-number-p999", Stat::P999),
        ("report-number-max", Stat::Max),
    ] {
        subject.put_stat(&mut number, key, exchange.latency, stat);
    }
    if subject.own(exchange.asked).is_some() {
        let service = subject.stat(exchange.service, Stat::P99);
        number
            .detail
            .extend(service.map(|value| seconds("report-number-service", value)));
        let delay = subject.stat(exchange.start_delay, Stat::P99);
        number
            .detail
            .extend(delay.map(|value| seconds("report-number-start-delay", value)));
    }
    Some(number)
}

fn rate(subject: &Subject, exchange: &Exchange) -> Option<Number> {
    let rate = subject.own(exchange.per_second)?;
    let label = match (exchange.connects_each_time, exchange.noun) {
        (true, _) => "report-number-connections",
        (false, Noun::Requests) => "report-number-transactions",
        (false, Noun::Transactions) => "report-number-transactions-sql",
    };
    let mut number = Number::new(human(rate, Unit::PerSecond), label);
    subject.put_range(&mut number, exchange.per_second, None);
    // What a plan was asked for are arrivals, which make several requests each.
    let is_plan = subject.phase.kind().is_some_and(|kind| kind.is_plan);
    number.detail.push(match subject.own(exchange.asked) {
        Some(asked) if is_plan => Text::new("report-number-arrivals")
            .number("asked", asked, Unit::PerSecond)
            .into(),
        Some(asked) => Text::new("report-number-asked")
            .number("asked", asked, Unit::PerSecond)
            .into(),
        None => Text::new("report-number-closed").into(),
    });
    let held = subject.own(exchange.open_connections).filter(|n| *n > 1.0);
    number.detail.extend(held.map(|n| {
        Text::new("report-number-open-connections")
            .word("n", count(n))
            .into()
    }));
    let note = exchange.note.map(|key| Text::new(key).into());
    number.detail.extend(note);
    Some(number)
}

/// Parts of a connection's set-up, for the workload that makes one per request.
fn set_up(subject: &Subject, exchange: &Exchange) -> Option<Number> {
    let handshake = exchange.handshake;
    let handshake = handshake.and_then(|metric| subject.stat(metric, Stat::P50));
    let p50 = subject.stat(exchange.connect, Stat::P50).or(handshake)?;
    let mut number = Number::new(human(p50, Unit::Seconds), "report-number-connect");
    let p99 = subject.stat(exchange.connect, Stat::P99);
    number
        .detail
        .extend(p99.map(|value| seconds("report-number-p99", value)));
    number
        .detail
        .extend(handshake.map(|value| seconds("report-number-handshake", value)));
    Some(number)
}

fn errors(subject: &Subject, exchange: &Exchange) -> Option<Number> {
    let unstarted = subject.own(exchange.unstarted).unwrap_or(0.0);
    // A closed loop has no requests that were due: what it could not try is told apart.
    let is_open = subject.own(exchange.asked).is_some();
    let (due, untried) = if is_open {
        (unstarted, 0.0)
    } else {
        (0.0, unstarted)
    };
    let failed = subject.own(exchange.errors)? + due;
    let label = match exchange.noun {
        Noun::Requests => "report-number-errors",
        Noun::Transactions => "report-number-errors-sql",
    };
    let mut number = Number::new(count(failed), label);
    if untried > 0.0 {
        let text = Text::new("report-number-untried").word("n", count(untried));
        number.detail.push(text.into());
    }
    for class in exchange.notable_answers {
        let key = format!("report-number-{}", class.slug());
        let some = subject.own(*class).filter(|n| *n > 0.0);
        number
            .detail
            .extend(some.map(|n| Text::new(key).word("n", count(n)).into()));
    }
    let ratio = subject.own(exchange.error_ratio).unwrap_or(0.0);
    if failed > 0.0 || ratio > 0.0 {
        number.tone = Severity::Caution;
        let share = Text::new("report-number-error-ratio").number("ratio", ratio, Unit::Ratio);
        number.detail.push(share.into());
    }
    let lost = exchange
        .between
        .and_then(|between| subject.own(between.lost_connections))
        .filter(|n| *n > 0.0);
    number.detail.extend(lost.map(|n| {
        Text::new("report-number-lost-connections")
            .word("n", count(n))
            .into()
    }));
    Some(number)
}
