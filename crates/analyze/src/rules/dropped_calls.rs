//! Connection attempts were dropped, probably by a full accept queue.
//!
//! A call that finds the queue of not yet accepted connections full is dropped without a word; the
//! caller's system calls again: after 1 s, then 2 s and 4 s later (RFC 6298, Linux's
//! `TCP_TIMEOUT_INIT`), or five times a second apart, then 2 s and 4 s later (Linux from 6.5 on,
//! `tcp_syn_linear_timeouts`). Connecting that took so long is such a call; on the way between hosts
//! it may also have been lost. The kernel counts both ends of it: calls that were made again on the
//! calling host, and queues that were full on a server which is a host of the run. Where none was full and other
//! segments were lost, too, [`loss_limited`] tells the calls' loss with theirs.

use sokudo_model::kinds::http;
use sokudo_model::metric::Metric;
use sokudo_model::metrics::host;
use std::collections::BTreeSet;

use sokudo_model::{Evidence, Finding, FlowResult, HistogramSummary, Severity, Text, Unit};

use super::loss_limited;
use crate::quantities::exchange::Exchange;
use crate::quantities::requests::Requests;
use crate::rule::{Look, Purpose, Rule, Standing};
use crate::view::PhaseView;

/// Times at which a call is made again that was dropped, by either plan, seconds.
const STEPS_S: [f64; 8] = [1.0, 2.0, 3.0, 4.0, 5.0, 7.0, 11.0, 15.0];
/// By how much such a call may be answered early, for the clocks' sake, and late, seconds.
const EARLY_S: f64 = 0.02;
const LATE_S: f64 = 0.6;
/// Times the usual connect from which such a connect stands out.
const STANDS_OUT: f64 = 10.0;

const MADE_AGAIN: Metric = host::TCP_SYN_RETRANSMITS;
const QUEUE_FULL: Metric = host::TCP_LISTEN_OVERFLOWS;

/// Share of a request in connecting, or of all time in repeated calls where stages are not timed, at which dropped
/// calls weigh in full, as its inverse, and the least weight.
const MATTERS: f64 = 4.0;
/// See [`MATTERS`].
const LITTLE: f64 = 0.2;

/// Certainty of the rule: by the time alone, with calls that the kernel made again, when it made
/// none, and with a queue that was full.
const BY_TIME: f64 = 0.6;
const BY_CALLS: f64 = 0.8;
const AGAINST_CALLS: f64 = 0.3;
const BY_QUEUE: f64 = 0.95;

/// The finding `dropped_calls`.
pub const RULE: Rule = Rule {
    name: "dropped_calls",
    purpose: Purpose::Limit(Standing::Specific),
    suspects: &[],
    bounds: &[("times", STANDS_OUT, Unit::One)],
    look: Look::Phase(look),
};

/// The conclusion about a phase.
pub fn look(view: &PhaseView<'_>) -> Option<Finding> {
    let exchange = Exchange::of(*view);
    // A phase without an answer has no rate, and only web servers' loads tell of their connects then.
    let metric = exchange.map_or(http::CONNECT_SECONDS, |all| all.numbers.connect);
    let hit = view
        .flows()
        .iter()
        .filter_map(|flow| Some((flow, step(flow, metric)?)));
    let (flow, seconds) = hit.max_by(|a, b| a.1.total_cmp(&b.1))?;
    let again = view.grown("evidence-calls-made-again", MADE_AGAIN, &flow.from);
    let full = fullest_queue(view);
    // Where no queue was full, and segments of connections that stood were lost as well, the way lost the calls.
    if full.is_none() && queues_are_read(view, &flow.to) && loss_limited::is_counted(view, flow) {
        return None;
    }
    let text = |key: &str| {
        Text::new(key)
            .word("to", &flow.to)
            .number("connect", seconds, Unit::Seconds)
    };
    let (says, weight, next) = match (&full, &again) {
        (Some((host, _)), _) => {
            let says = text("rule-dropped-calls-queue-says").word("host", *host);
            (says, BY_QUEUE, "rule-dropped-calls-queue-next")
        }
        (None, again) => {
            let weight = match again.as_ref().and_then(|again| again.value) {
                None => BY_TIME,
                Some(calls) if calls > 0.0 => BY_CALLS,
                Some(_) => AGAINST_CALLS,
            };
            (
                text("rule-dropped-calls-says"),
                weight,
                "rule-dropped-calls-next",
            )
        }
    };
    // A few among many requests are worth a word and limit nothing.
    let stage = Requests::of(view).and_then(|requests| requests.stage("connect"));
    let repeated = || exchange.and_then(|all| repeating(flow, &all));
    let share = stage.map(|stage| stage.share).or_else(repeated);
    let matters = share.map_or(1.0, |share| (share * MATTERS).clamp(LITTLE, 1.0));
    let mut finding = view.finding(RULE.name, Severity::Caution, weight * matters, says);
    let row = view.evidence("evidence-longest-connect", metric, &flow.from, seconds);
    finding.evidence.push(row);
    finding.evidence.extend(again);
    finding.evidence.extend(full.map(|(_, row)| row));
    finding.next = Some(Text::new(next));
    Some(finding)
}

/// True where the counter of full queues of calls was read on this host.
fn queues_are_read(view: &PhaseView<'_>, host: &str) -> bool {
    view.increase(host, QUEUE_FULL).is_some()
}

/// The host of the run whose queues of calls were full most often meanwhile, with that number.
fn fullest_queue<'a>(view: &PhaseView<'a>) -> Option<(&'a str, Evidence)> {
    let series = view.series(None, QUEUE_FULL, &[]);
    let hosts: BTreeSet<&str> = series.map(|series| series.key.host.as_str()).collect();
    let rows = hosts.into_iter().filter_map(|host| {
        let row = view.grown("evidence-queue-of-calls-full", QUEUE_FULL, host)?;
        Some((host, row))
    });
    let full = rows.filter(|(_, row)| row.value.is_some_and(|calls| calls > 0.0));
    full.max_by(|(_, a), (_, b)| a.value.unwrap_or(0.0).total_cmp(&b.value.unwrap_or(0.0)))
}

/// The longest connect of a flow, where it has the length of a call made again.
fn step(flow: &FlowResult, metric: Metric) -> Option<f64> {
    let connect = flow.histograms.get(metric.name)?;
    let stands_out = connect.max > STANDS_OUT * usual(connect);
    (is_repeated(connect.max) && stands_out).then_some(connect.max)
}

fn is_repeated(seconds: f64) -> bool {
    STEPS_S
        .iter()
        .any(|step| (step - EARLY_S..step + LATE_S).contains(&seconds))
}

/// Time of a connect whose call was not dropped: the median, or the shortest where most calls were dropped.
fn usual(connect: &HistogramSummary) -> f64 {
    match is_repeated(connect.p50) {
        true => connect.min,
        false => connect.p50,
    }
}

/// Share of the time of a flow's requests that repeated calls took, where every request makes a connection.
fn repeating(flow: &FlowResult, exchange: &Exchange<'_>) -> Option<f64> {
    let of = |metric: Metric| flow.histograms.get(metric.name);
    let (connect, service) = (of(exchange.numbers.connect)?, of(exchange.numbers.service)?);
    let share = (connect.mean - usual(connect)) / service.mean;
    (exchange.numbers.connects_each_time && share.is_finite()).then_some(share)
}

#[cfg(test)]
mod tests {
    use crate::tests::requests::*;
    use crate::tests::scene::Scene;
    use crate::tests::*;

    #[test]
    fn calls_that_were_made_again_show_in_the_longest_connect() {
        let metrics = [("requests", 1_000.0)];
        for longest in [1.01, 2.06, 3.05, 4.1, 5.02, 7.2] {
            let record = of_labels(&[("/a", &metrics, EVEN, longest)]);
            check(&record, "dropped_calls", "rule-dropped-calls-says");
        }
        for longest in [0.5, 1.7, 0.003] {
            let record = of_labels(&[("/a", &metrics, EVEN, longest)]);
            assert!(is_quiet(&record, "dropped_calls"), "{longest}");
        }
    }

    #[test]
    fn what_the_kernels_counted_says_where_calls_were_dropped() {
        let metrics = [("requests", 1_000.0)];
        let told = |counters: &[(&str, &str, f64)]| {
            let mut record = of_labels(&[("/a", &metrics, EVEN, 3.05)]);
            for (host, metric, grown) in counters {
                let key = SeriesKey {
                    host: (*host).into(),
                    source: "host".into(),
                    metric: (*metric).into(),
                    labels: Labels::new(),
                };
                let points = vec![
                    (record.manifest.phases[0].t0_ns, 5.0),
                    (record.manifest.phases[0].t1_ns, 5.0 + grown),
                ];
                record.series.push(Series { key, points });
            }
            let findings = crate::findings(&record);
            let found = findings.into_iter().find(|one| one.rule == "dropped_calls");
            let found = found.expect("the longest connect says it");
            (found.says.key, found.weight, found.evidence.len())
        };
        let (again, full) = ("host.tcp_syn_retransmits", "host.tcp_listen_overflows");
        let (time_alone, queue) = ("rule-dropped-calls-says", "rule-dropped-calls-queue-says");
        assert_eq!(told(&[]), (time_alone.into(), 0.6, 1));
        assert_eq!(told(&[("hosta", again, 7.0)]), (time_alone.into(), 0.8, 2));
        assert_eq!(told(&[("hosta", again, 0.0)]), (time_alone.into(), 0.3, 2));
        let both = [
            ("hosta", again, 7.0),
            ("hosta", full, 0.0),
            ("hostb", full, 7.0),
        ];
        assert_eq!(told(&both), (queue.into(), 0.95, 3));
    }

    /// 1000 connections for one request each, of which `dropped` were called again after a second.
    fn connecting(dropped: u64) -> Scene {
        let of = |quick, again| [(1_000 - dropped, quick), (dropped, again)];
        Scene::of("crr")
            .total("connections_per_second", 100.0)
            .answers("crr.connect_seconds", &of(0.000_1, 1.03))
            .answers("crr.service_seconds", &of(0.000_2, 1.04))
    }

    #[test]
    fn calls_of_every_kind_that_connects_are_looked_at() {
        let weight = |dropped| {
            let all = findings(&connecting(dropped).record);
            let found = all.into_iter().find(|one| one.rule == "dropped_calls")?;
            check_texts(&found);
            has_metric(&found, "crr.connect_seconds");
            Some(found.weight)
        };
        assert_eq!(weight(0), None);
        assert_eq!(weight(400), Some(0.6));
        // Where most calls are dropped, the median is one of a call made again.
        assert_eq!(weight(900), Some(0.6));
        // A call in a thousand takes all the time of such short requests, one in a million would not.
        assert_eq!(weight(1), Some(0.6));
    }

    #[test]
    fn a_median_between_two_calls_is_the_way_and_no_dropped_call() {
        let slow = Scene::of("crr")
            .total("connections_per_second", 100.0)
            .answers("crr.connect_seconds", &[(900, 0.2), (100, 1.03)]);
        slow.without("dropped_calls");
    }

    #[test]
    fn a_few_dropped_calls_among_long_requests_limit_nothing() {
        let scene = Scene::of("crr")
            .total("connections_per_second", 100.0)
            .answers("crr.connect_seconds", &[(999, 0.000_1), (1, 1.03)])
            .answers("crr.service_seconds", &[(1_000, 0.2)]);
        let all = findings(&scene.record);
        let found = all.iter().find(|one| one.rule == "dropped_calls");
        assert_eq!(found.map(|one| one.weight), Some(0.6 * 0.2));
    }
}
