//! Did the server stand still for a while, and did the way of asking hide it?
//!
//! Users who wait for their answers ask nothing meanwhile: of a stall only the request of each user
//! is late, however many would have come. Percentiles over what was asked then look fine. Tene, "How
//! not to measure latency": coordinated omission.

use sokudo_model::{Finding, FlowResult, Severity, Text, Unit};

use crate::rule::{Kind, Rule};
use crate::view::PhaseView;

/// Times the median that a stall takes at least.
const MUCH: f64 = 20.0;
/// Shortest stall that is told, seconds.
const SHORTEST_S: f64 = 0.25;
/// Times the 99th percentile of the answers from which the percentile does not show it.
const UNSEEN: f64 = 5.0;

/// See the module.
pub struct HiddenStall;

const SERVICE: &str = "http.service_seconds";

impl Rule for HiddenStall {
    fn name(&self) -> &'static str {
        "hidden_stall"
    }

    fn question(&self) -> &'static str {
        "did the server stand still for a while, and did the way of asking hide it?"
    }

    fn kind(&self) -> Kind {
        Kind::Describes
    }

    fn diagnose(&self, view: &PhaseView<'_>, out: &mut Vec<Finding>) {
        if view.total("http.asked_per_second").is_some() {
            return;
        }
        let hit = view
            .flows()
            .iter()
            .filter_map(|flow| Some((flow, stall(flow)?)));
        let Some((flow, (stall_s, p99_s))) = hit.max_by(|a, b| a.1.0.total_cmp(&b.1.0)) else {
            return;
        };
        let rate = flow.metrics.get("http.requests_per_second").copied();
        let Some(rate) = rate.filter(|rate| rate.is_finite() && *rate > 0.0) else {
            return;
        };
        // Callers at the mean rate come evenly: half of the stall each.
        let late = rate * stall_s;
        let says = Text::new("rule-hidden-stall-says")
            .word("label", &flow.to)
            .number("stall", stall_s, Unit::Seconds)
            .number("p99", p99_s, Unit::Seconds)
            .number("late", late.floor(), Unit::One)
            .number("wait", stall_s / 2.0, Unit::Seconds);
        let mut finding = view.finding(self.name(), Severity::Caution, 0.5, says);
        for (key, value) in [
            ("evidence-service-longest", stall_s),
            ("evidence-service-p99", p99_s),
        ] {
            let row = view.evidence(key, SERVICE, &flow.from, value);
            finding.evidence.push(row);
        }
        finding.next = Some(Text::new("rule-hidden-stall-next"));
        out.push(finding);
    }
}

/// The longest answer and the 99th percentile of a flow that the percentile does not show.
fn stall(flow: &FlowResult) -> Option<(f64, f64)> {
    let service = flow.histograms.get(SERVICE)?;
    let is_stall = service.max >= SHORTEST_S
        && service.max > service.p50 * MUCH
        && service.max > service.p99 * UNSEEN;
    is_stall.then_some((service.max, service.p99))
}
