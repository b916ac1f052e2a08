//! The verdict on a test of requests.

use sokudo_model::units::{self, human};
use sokudo_model::{Check, Demand, Severity, Text, Unit};
use sokudo_stats::requests::goals::{Goals, Quantity};
use sokudo_stats::requests::{LabelGroup, Requests, Settings};

use super::{Dashboard, leading_percentile};
use crate::block::{Block, Number, Phrase};
use crate::demands;
use crate::number::count;

/// Quick failures are mentioned when the mean without them is this much higher.
const FLATTERED: f64 = 1.1;

/// The sentences, most important first.
pub fn sentences(dashboard: &Dashboard) -> Vec<Text> {
    let total = &dashboard.requests.total;
    if total.n == 0 {
        return vec![Text::new("jtl-verdict-nothing")];
    }
    let mut out = Vec::new();
    out.extend(sokudo_analyze::missed(dashboard.demands));
    let percent = leading_percentile(dashboard.requests);
    // What failed comes first when it is the news.
    let key = match total.error_ratio() {
        _ if total.errors == 0 => "jtl-verdict-fine",
        _ if total.errors == total.n => "jtl-verdict-none",
        share if share > sokudo_analyze::ERRORS => "jtl-verdict-failing",
        _ => "jtl-verdict-failed",
    };
    let mut first = Text::new(key)
        .number("rate", total.per_second(), Unit::PerSecond)
        .word("percent", percent.to_string())
        .number(
            "time",
            total.percentile_ms(percent) as f64 / 1e3,
            Unit::Seconds,
        )
        .word("n", units::grouped(total.n));
    if total.errors > 0 {
        first = first.number("errors", total.error_ratio(), Unit::Ratio);
    }
    out.push(first);
    out.extend(main_failure(dashboard));
    out.extend(flattered(dashboard));
    out.extend(super::compare::sentence(dashboard));
    out
}

fn main_failure(dashboard: &Dashboard) -> Option<Text> {
    let requests = dashboard.requests;
    let (kind, failure) = requests
        .failures
        .iter()
        .enumerate()
        .max_by_key(|(_, f)| f.n)?;
    let of_kind = |failures: &[(usize, u64)]| {
        let found = failures.iter().find(|(k, _)| *k == kind);
        found.map_or(0, |(_, n)| *n)
    };
    let labels = requests.labels.iter().filter(|l| !l.is_transaction);
    let most = labels.max_by_key(|l| of_kind(&l.failures))?;
    let share = failure.n as f64 / requests.total.errors.max(1) as f64;
    Some(
        Text::new("jtl-verdict-main-failure")
            .number("share", share, Unit::Ratio)
            .word("n", units::grouped(failure.n))
            .word("failure", failure.says.clone())
            .word("label", most.label.clone())
            .word("of_label", units::grouped(of_kind(&most.failures))),
    )
}

/// The remark that quick failures make the mean lower than what users got.
fn flattered(dashboard: &Dashboard) -> Option<Text> {
    let total = &dashboard.requests.total;
    let (good, failed) = (total.good_mean_ms()?, total.failed_mean_ms()?);
    (good > total.mean_ms() * FLATTERED).then(|| {
        Text::new("jtl-verdict-flattered")
            .number("mean", total.mean_ms() / 1e3, Unit::Seconds)
            .number("good", good / 1e3, Unit::Seconds)
            .number("failed", failed / 1e3, Unit::Seconds)
    })
}

/// The first screen.
pub fn blocks(dashboard: &Dashboard) -> Vec<Block> {
    let sentences = sentences(dashboard).into_iter().map(Phrase::Text);
    let mut out = vec![Block::Lead(sentences.collect())];
    out.extend(demands::block(dashboard.demands));
    let warnings = super::beside::warnings(dashboard).into_iter();
    out.extend(warnings.map(|w| Block::Notice(Severity::Bad, w)));
    let remarks = dashboard.remarks.iter();
    out.extend(remarks.map(|r| Block::Notice(Severity::Caution, r.clone().into())));
    out
}

/// The few numbers.
pub fn numbers(dashboard: &Dashboard) -> Vec<Block> {
    let requests = dashboard.requests;
    let total = &requests.total;
    if total.n == 0 {
        return Vec::new();
    }
    vec![Block::Numbers(vec![
        rate(total),
        response_time(total, leading_percentile(requests)),
        failed(total),
        apdex(total, &requests.settings),
        users(requests),
    ])]
}

fn rate(total: &LabelGroup) -> Number {
    let n = Text::new("report-count-samples").word("n", units::grouped(total.n));
    let value = human(total.per_second(), Unit::PerSecond);
    number(value, "jtl-number-rate", vec![n.into()])
}

fn response_time(total: &LabelGroup, percent: f64) -> Number {
    let at = |percent: f64| human(total.percentile_ms(percent) as f64 / 1e3, Unit::Seconds);
    let others = [50.0, 99.0].map(|p| Phrase::from(format!("p{p} {}", at(p))));
    let label = Text::new("jtl-number-percentile").word("percent", percent.to_string());
    Number {
        value: at(percent).into(),
        label: label.into(),
        detail: others.into(),
        tone: Severity::Info,
    }
}

fn failed(total: &LabelGroup) -> Number {
    let of = Text::new("jtl-number-failed-of")
        .word("n", units::grouped(total.errors))
        .word("all", units::grouped(total.n));
    let value = units::percent(total.error_ratio());
    Number {
        tone: match total.errors {
            0 => Severity::Info,
            _ => Severity::Bad,
        },
        ..number(value, "jtl-number-failed", vec![of.into()])
    }
}

fn apdex(total: &LabelGroup, settings: &Settings) -> Number {
    let seconds = |ms: u64| ms as f64 / 1e3;
    let limits = Text::new("jtl-number-apdex-limits")
        .number("satisfied", seconds(settings.satisfied_ms), Unit::Seconds)
        .number("tolerated", seconds(settings.tolerated_ms), Unit::Seconds);
    let value = format!("{:.3}", total.apdex());
    number(value, "jtl-number-apdex", vec![limits.into()])
}

/// Most users at a time, where the rows contain it, with the bytes per second.
fn users(requests: &Requests) -> Number {
    let total = &requests.total;
    let received = human(total.bytes_per_second(), Unit::BytesPerSecond);
    let sent = human(total.sent_bytes_per_second(), Unit::BytesPerSecond);
    match requests.by_threads.last() {
        Some((users, _)) => {
            let bytes = Text::new("jtl-number-bytes")
                .word("received", received)
                .word("sent", sent);
            let value = count(f64::from(*users));
            number(value, "jtl-number-users", vec![bytes.into()])
        }
        None => {
            let sent = Text::new("jtl-number-sent").word("sent", sent);
            number(received, "jtl-number-received", vec![sent.into()])
        }
    }
}

fn number(value: String, label: &str, detail: Vec<Phrase>) -> Number {
    Number {
        detail,
        ..Number::new(value, label)
    }
}

/// The goals as checks of what the operator asked for, over all rows.
pub fn judged(goals: &Goals, requests: &Requests) -> Vec<Check> {
    let total = &requests.total;
    let each = goals.iter().map(|goal| {
        let measured = (total.n > 0).then(|| goal.reached(total));
        let unit = match goal.quantity {
            Quantity::Errors => Unit::Ratio,
            Quantity::Rate => Unit::PerSecond,
            _ => Unit::Seconds,
        };
        let says = match measured {
            Some(value) => Text::new("jtl-goal-reached").number("measured", value, unit),
            None => Text::new("jtl-goal-unmeasured"),
        };
        Check {
            name: "goal".into(),
            passed: goal.is_kept(total),
            says: says.word("asked", &goal.typed),
            demand: Some(Demand {
                asked: goal.typed.clone(),
                measured,
                unit,
                on: String::new(),
            }),
        }
    });
    each.collect()
}
