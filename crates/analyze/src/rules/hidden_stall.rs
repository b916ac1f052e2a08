//! The server stalled, and the closed loop hid it from the percentiles.
//!
//! Users who wait for their answers ask nothing meanwhile: of a stall only the request of each user
//! is late, however many would have come. Percentiles over what was asked then look fine. Tene, "How
//! not to measure latency": coordinated omission.

use sokudo_model::kinds::http;
use sokudo_model::metric::Metric;
use sokudo_model::{Finding, FlowResult, Severity, Text, Unit};

use crate::rule::{Look, Purpose, Rule};
use crate::view::PhaseView;

/// Times the median that a stall takes at least.
const MUCH: f64 = 20.0;
/// Shortest stall that is told, seconds.
const SHORTEST_S: f64 = 0.25;
/// Times the 99th percentile of the answers from which the percentile does not show it.
const UNSEEN: f64 = 5.0;

const SERVICE: Metric = http::SERVICE_SECONDS;

/// The finding `hidden_stall`.
pub const RULE: Rule = Rule {
    name: "hidden_stall",
    purpose: Purpose::Describes,
    suspects: &[],
    bounds: &[
        ("shortest", SHORTEST_S, Unit::Seconds),
        ("median", MUCH, Unit::One),
        ("p99", UNSEEN, Unit::One),
    ],
    look: Look::Phase(look),
};

fn look(view: &PhaseView<'_>) -> Option<Finding> {
    if view.total(http::ASKED_PER_SECOND).is_some() {
        return None;
    }
    let hit = view
        .flows()
        .iter()
        .filter_map(|flow| Some((flow, stall(flow)?)));
    let (flow, (stall_s, p99_s)) = hit.max_by(|a, b| a.1.0.total_cmp(&b.1.0))?;
    let rate = http::REQUESTS_PER_SECOND.of(&flow.metrics);
    let rate = rate.filter(|rate| rate.is_finite() && *rate > 0.0)?;
    // Callers at the mean rate come evenly: half of the stall each.
    let late = rate * stall_s;
    let says = Text::new("rule-hidden-stall-says")
        .word("label", &flow.to)
        .number("stall", stall_s, Unit::Seconds)
        .number("p99", p99_s, Unit::Seconds)
        .number("late", late.floor(), Unit::One)
        .number("wait", stall_s / 2.0, Unit::Seconds);
    let mut finding = view.finding(RULE.name, Severity::Caution, 0.5, says);
    for (key, value) in [
        ("evidence-service-longest", stall_s),
        ("evidence-service-p99", p99_s),
    ] {
        let row = view.evidence(key, SERVICE, &flow.from, value);
        finding.evidence.push(row);
    }
    finding.next = Some(Text::new("rule-hidden-stall-next"));
    Some(finding)
}

/// The longest answer and the 99th percentile of a flow that the percentile does not show.
fn stall(flow: &FlowResult) -> Option<(f64, f64)> {
    let service = flow.histograms.get(SERVICE.name)?;
    let is_stall = service.max >= SHORTEST_S
        && service.max > service.p50 * MUCH
        && service.max > service.p99 * UNSEEN;
    is_stall.then_some((service.max, service.p99))
}

#[cfg(test)]
mod tests {
    use crate::tests::requests::*;

    #[test]
    fn a_stall_that_percentiles_do_not_show_is_told_for_users_who_wait() {
        let stalled = [0.010, 0.020, 2.0];
        let metrics = [("requests", 1_000.0), ("requests_per_second", 100.0)];
        let record = of_labels(&[("/a", &metrics, stalled, 0.003)]);
        check(&record, "hidden_stall", "rule-hidden-stall-says");
        let open = [metrics.as_slice(), &[("asked_per_second", 100.0)]].concat();
        assert!(is_quiet(
            &of_labels(&[("/a", &open, stalled, 0.003)]),
            "hidden_stall"
        ));
    }
}
