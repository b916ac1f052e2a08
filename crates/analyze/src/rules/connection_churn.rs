//! Nearly every request used a new connection.
//!
//! Each costs a handshake on both sides, a local port for a minute after it, and TLS its keys; a
//! server that is meant to be loaded with requests is loaded with connections. Where making them takes
//! a good part of a request, or all the time of the asking thread, they limit the rate.

use sokudo_model::kinds::http;
use sokudo_model::metric::Metric;
use sokudo_model::{Finding, Severity, Text, Unit};

use super::dropped_calls;
use crate::quantities::requests::{BUSY, Requests};
use crate::rule::{LIMITING, Look, Purpose, Rule, Standing};
use crate::view::PhaseView;

/// Connections per request from which they are made anew all the time.
const CHURN: f64 = 0.9;
/// Requests below which nothing could be kept, whatever their number on each connection.
const FEW: f64 = 20.0;
/// Requests for each place of a connection from which one could have been kept.
const EACH: f64 = 5.0;
/// Share of a request in connecting and in the TLS handshake from which they shape the rate.
const COSTS: f64 = 0.2;
/// Time per request of the load as a whole, and time of each, seconds, up to which a connection costs about as much as
/// what is asked over it: a handshake, a socket and often a thread on the server, a hundred microseconds and more.
const CHEAP_S: (f64, f64) = (0.001, 0.005);
/// Certainty where that is the reason.
const LIKELY: f64 = 0.7;
/// Certainty where they do: above that of a full event loop, whose time they take.
const LIMITS: f64 = 0.92;

const MADE: Metric = http::MADE_CONNECTIONS;

/// The finding `connection_churn`.
pub const RULE: Rule = Rule {
    name: "connection_churn",
    purpose: Purpose::Limit(Standing::Specific),
    suspects: &[],
    bounds: &[
        ("churn", CHURN, Unit::Ratio),
        ("few", FEW, Unit::One),
        ("each", EACH, Unit::One),
        ("costs", COSTS, Unit::Ratio),
        ("cheap", CHEAP_S.0, Unit::Seconds),
        ("short", CHEAP_S.1, Unit::Seconds),
        ("busy", BUSY, Unit::Ratio),
    ],
    look: Look::Phase(look),
};

/// True where nearly every request makes a connection of its own.
pub fn is_each(view: &PhaseView<'_>) -> bool {
    made_and_requests(view).is_some()
}

/// Connections that were made and requests, where nearly every request makes one.
fn made_and_requests(view: &PhaseView<'_>) -> Option<(f64, f64)> {
    let (made, requests) = (view.total(MADE)?, view.total(http::REQUESTS)?);
    // Errors take connections with them: only what was answered counts.
    let errors = view.total(http::ERRORS).unwrap_or(0.0);
    let places = view.total(http::OPEN_CONNECTIONS).unwrap_or(0.0);
    let is_many = requests >= FEW.max(places * EACH);
    (is_many && (made - errors) / requests >= CHURN).then_some((made, requests))
}

fn look(view: &PhaseView<'_>) -> Option<Finding> {
    let (made, all) = made_and_requests(view)?;
    let (flow, _) = view.highest(http::REQUESTS)?;
    let requests = Requests::of(view);
    let costs = requests.and_then(|requests| requests.connecting());
    let used = requests.map(|requests| requests.asking_thread());
    let cheap = requests.filter(are_cheap);
    let limits = match (costs, used) {
        _ if !may_limit(view, requests) => None,
        (Some(costs), _) if costs >= COSTS => {
            Some(("rule-connection-churn-time-says", costs, LIMITS))
        }
        (_, Some(used)) if used >= BUSY => Some(("rule-connection-churn-busy-says", used, LIMITS)),
        (Some(costs), _) if cheap.is_some() => {
            Some(("rule-connection-churn-cheap-says", costs, LIKELY))
        }
        _ => None,
    };
    let (key, share, weight) = limits.unwrap_or(("rule-connection-churn-says", 0.0, LIMITING));
    let severity = match limits {
        Some(_) => Severity::Caution,
        None => Severity::Info,
    };
    let says = Text::new(key)
        .number("connections", made, Unit::One)
        .number("requests", all, Unit::One)
        .number("share", share, Unit::Ratio)
        .number(
            "mean",
            requests.map_or(f64::NAN, |requests| requests.mean()),
            Unit::Seconds,
        );
    let mut finding = view.finding(RULE.name, severity, weight, says);
    let evidence = &mut finding.evidence;
    evidence.push(view.evidence("evidence-made-connections", MADE, &flow.from, made));
    if let Some(requests) = requests {
        let stages = ["connect", "tls"].into_iter();
        let stages = stages.filter_map(|name| requests.stage(name));
        evidence.extend(
            stages
                .filter(|stage| stage.mean > 0.0)
                .map(|stage| requests.stage_row(&stage)),
        );
        evidence.extend(requests.own_cpu_row());
    }
    finding.next = Some(Text::new("rule-connection-churn-next"));
    Some(finding)
}

/// True of requests that are answered so soon, and so many of them, that their connections cost about as much: what a
/// server does for a new one lies in the wait for its first answer.
fn are_cheap(requests: &Requests<'_>) -> bool {
    let rate = requests.exchange.rate().unwrap_or(0.0);
    rate * CHEAP_S.0 >= 1.0 && requests.mean() <= CHEAP_S.1
}

/// False where something else is known to set the rate: the load itself, its users' pauses, or dropped calls,
/// which make connecting long by themselves.
fn may_limit(view: &PhaseView<'_>, requests: Option<Requests<'_>>) -> bool {
    let sets_it_itself = |requests: Requests<'_>| requests.are_carried() || requests.users_pause();
    let dropped = dropped_calls::look(view).is_some_and(|found| found.weight > LIMITING);
    !requests.is_some_and(sets_it_itself) && !dropped
}

#[cfg(test)]
mod tests {
    use crate::tests::requests::*;
    use crate::tests::*;

    #[test]
    fn connections_that_are_made_for_each_request_are_told() {
        let metrics = [("requests", 1_000.0), ("made_connections", 1_000.0)];
        let record = of_labels(&[("/a", &metrics, EVEN, 0.003)]);
        check(&record, "connection_churn", "rule-connection-churn-says");
        let kept = [("requests", 1_000.0), ("made_connections", 10.0)];
        assert!(is_quiet(
            &of_labels(&[("/a", &kept, EVEN, 0.003)]),
            "connection_churn"
        ));
    }

    /// A load that connects for each request, in stages and with other totals.
    fn anew(stages: [f64; 6], totals: &[(&str, f64)]) -> Record {
        let made = [("made_connections", 1_000.0)];
        let mut record = of_stages(stages, &[&made[..], totals].concat());
        let flow = &mut record.manifest.phases[0].result.flows[0];
        flow.metrics.insert("http.requests".into(), 1_000.0);
        record
    }

    fn cause(record: &Record) -> Option<String> {
        limit(record).map(|limit| limit.says.key)
    }

    const CONNECTING: [f64; 6] = [0.0, 0.002, 0.003, 0.0, 0.01, 0.0];
    const WAITING: [f64; 6] = [0.0, 0.0005, 0.0, 0.0, 0.01, 0.0];

    #[test]
    fn connecting_that_takes_a_good_part_of_a_request_limits_the_rate() {
        let record = anew(CONNECTING, &[]);
        assert_eq!(
            cause(&record),
            Some("rule-connection-churn-time-says".into())
        );
        let found = limit(&record).expect("it was just there");
        check_texts(&found);
        has_metric(&found, "http.mean_connect_seconds");
        has_metric(&found, "http.mean_tls_seconds");
        has_metric(&found, "http.client_cpu_ratio");
        let short = anew(CONNECTING, &[("asked_per_second", 200.0)]);
        assert_eq!(
            cause(&short),
            Some("rule-connection-churn-time-says".into())
        );
    }

    #[test]
    fn a_thread_that_only_connects_is_named_by_what_it_does() {
        let mut record = anew(WAITING, &[]);
        let metrics = &mut record.manifest.phases[0].result.flows[0].metrics;
        metrics.insert("http.client_cpu_ratio".into(), 0.96);
        assert_eq!(
            cause(&record),
            Some("rule-connection-churn-busy-says".into())
        );
    }

    #[test]
    fn connections_for_requests_that_cost_as_little_limit_the_rate() {
        let stages = |wait: f64| [0.0, 0.0002, 0.0, 0.0, wait, 0.0];
        let of =
            |wait: f64, rate: f64| cause(&anew(stages(wait), &[("requests_per_second", rate)]));
        let cheap = Some("rule-connection-churn-cheap-says".to_owned());
        assert_eq!(of(0.0015, 4_000.0), cheap);
        // The server takes its time for each; it answers many at once, each after a long time.
        assert_ne!(of(0.003, 900.0), cheap);
        assert_ne!(of(0.02, 4_000.0), cheap);
    }

    #[test]
    fn connections_that_cost_little_or_belong_to_the_load_limit_nothing() {
        let says = "rule-connection-churn-says";
        for record in [
            anew(WAITING, &[]),
            anew(CONNECTING, &[("asked_per_second", 100.0)]),
        ] {
            check(&record, "connection_churn", says);
            assert_ne!(cause(&record).as_deref(), Some(says));
        }
    }

    #[test]
    fn dropped_calls_precede_the_connections_that_they_lengthen() {
        let mut record = anew([0.0, 0.1, 0.0, 0.0, 0.01, 0.0], &[]);
        let flow = &mut record.manifest.phases[0].result.flows[0];
        let connect = flow.histograms.get_mut("http.connect_seconds");
        connect.expect("it was measured").max = 1.03;
        grow(&mut record, "host.tcp_syn_retransmits", 90.0);
        assert_eq!(cause(&record), Some("rule-dropped-calls-says".into()));
        check(&record, "connection_churn", "rule-connection-churn-says");
    }
}
