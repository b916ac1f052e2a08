//! Requests were held up on the way: segments of their connections were lost, or came in another order.
//!
//! A lost segment of a short exchange is found missing by a timeout of at least 200 ms, as nothing follows
//! that would tell of it. A few in a hundred make the slowest requests, and in a closed loop the rate.

use sokudo_model::kinds::http;
use sokudo_model::metric::{Metric, Stat};
use sokudo_model::metrics::host;
use sokudo_model::{Finding, Severity, Text, Unit};

use crate::quantities::requests::{BEYOND_DELAYED_S, GROWN, Requests};
use crate::quantities::service_times;
use crate::rule::{Look, Purpose, Rule, Standing};
use crate::view::PhaseView;

/// Share of the segments from which losses show.
const LOSSY: f64 = 0.002;
/// Segments that the host must have sent again.
const FEW: f64 = 5.0;
/// Segments that were observed from which their shares say something, and of them the fewest with a fault.
const ENOUGH: f64 = 200.0;
/// See [`ENOUGH`].
const SEEN: f64 = 4.0;
/// Share of a request in connecting from which repeated segments are calls.
const CONNECTING: f64 = 0.3;
/// Shortest timeout of a retransmission, less the tick of its timer, seconds.
const TIMEOUT_S: f64 = 0.19;
/// Share of the requests that took at least as long, from which it shapes the result.
const SLOW: f64 = 0.002;

/// The finding `request_path`.
pub const RULE: Rule = Rule {
    name: "request_path",
    purpose: Purpose::Limit(Standing::Specific),
    suspects: &[],
    bounds: &[
        ("lossy", LOSSY, Unit::Ratio),
        ("timeout", TIMEOUT_S, Unit::Seconds),
        ("grown", GROWN, Unit::One),
        ("delayed", BEYOND_DELAYED_S, Unit::Seconds),
    ],
    look: Look::Phase(look),
};

fn look(view: &PhaseView<'_>) -> Option<Finding> {
    let requests = Requests::of(view)?;
    let of = |metric: Metric| view.total(metric).unwrap_or(0.0);
    let (resent, disordered) = (
        of(http::PATH_RESENT_RATIO),
        of(http::PATH_OUT_OF_ORDER_RATIO),
    );
    let again = view
        .increase(requests.host(), host::TCP_RETRANSMITS)
        .unwrap_or(0.0);
    let (sent, received) = (
        of(http::PATH_SENT_SEGMENTS),
        of(http::PATH_RECEIVED_SEGMENTS),
    );
    let enough = |share: f64, of: f64| share >= LOSSY && of >= ENOUGH && share * of >= SEEN;
    let there = enough(resent, sent) && again >= FEW;
    let back = enough(disordered, received);
    // Calls that a full queue dropped are made again, too.
    let connects = requests.stage("connect").map_or(0.0, |stage| stage.share);
    if connects >= CONNECTING || !there && !back {
        return None;
    }
    // Loss at a full queue is how a narrow link says that it is full.
    if requests.has_queue_on_the_way() {
        return None;
    }
    let slow = service_times::longer_than(view, TIMEOUT_S).unwrap_or(0.0);
    let share = slow / view.total(requests.exchange.numbers.answered)?.max(1.0);
    let key = match (there, back) {
        (true, true) => "rule-request-path-both-says",
        (true, false) => "rule-request-path-there-says",
        _ => "rule-request-path-back-says",
    };
    let lossy = resent.max(disordered);
    let says = Text::new(key)
        .number("resent", resent, Unit::Ratio)
        .number("disordered", disordered, Unit::Ratio)
        .number("slow", share, Unit::Ratio);
    let weight = 0.45 + 0.5 * (lossy * 20.0).min(1.0);
    let mut finding = view.finding(RULE.name, Severity::Caution, weight, says);
    let evidence = &mut finding.evidence;
    evidence.extend(requests.row("evidence-path-resent", http::PATH_RESENT_RATIO));
    evidence.extend(requests.row("evidence-path-disordered", http::PATH_OUT_OF_ORDER_RATIO));
    evidence.extend(view.grown(
        "evidence-host-resent",
        host::TCP_RETRANSMITS,
        requests.host(),
    ));
    if share >= SLOW {
        let metric = requests.exchange.numbers.service;
        let mut row = view.evidence("evidence-slow-by-timeout", metric, requests.host(), share);
        row = crate::quantities::ends::as_share(row, share);
        evidence.push(row);
    }
    evidence.extend(view.stat_evidence(
        "evidence-service-p99",
        requests.exchange.numbers.service,
        Stat::P99,
        requests.host(),
    ));
    evidence.extend(requests.row("evidence-path-lowest", http::PATH_LOWEST_SECONDS));
    finding.next = Some(Text::new("rule-request-path-next"));
    Some(finding)
}

#[cfg(test)]
mod tests {
    use crate::tests::requests::*;

    #[test]
    fn lost_segments_are_told_by_direction() {
        const WAITING: [f64; 6] = [0.0, 0.0, 0.0, 0.0, 0.01, 0.0];
        let told = |resent: f64, disordered: f64, again: f64| {
            let totals = [
                ("path_sent_segments", 5_000.0),
                ("path_resent_ratio", resent),
                ("path_received_segments", 5_000.0),
                ("path_out_of_order_ratio", disordered),
            ];
            let mut record = of_stages(WAITING, &totals);
            grow(&mut record, "host.tcp_retransmits", again);
            record
        };
        let there = told(0.02, 0.0, 100.0);
        check(&there, "request_path", "rule-request-path-there-says");
        let back = told(0.0, 0.02, 0.0);
        check(&back, "request_path", "rule-request-path-back-says");
        assert!(is_quiet(&told(0.0, 0.0, 100.0), "request_path"));
        assert!(
            is_quiet(&told(0.02, 0.0, 0.0), "request_path"),
            "the host counts none"
        );
        let mut full = told(0.02, 0.02, 100.0);
        let trips = [("path_lowest_seconds", 0.002), ("path_mean_seconds", 0.09)];
        let trips = trips.map(|(name, seconds)| (format!("http.{name}"), seconds));
        full.manifest.phases[0].result.summary.extend(trips);
        assert!(is_quiet(&full, "request_path"), "a queue stands on the way");
    }
}
