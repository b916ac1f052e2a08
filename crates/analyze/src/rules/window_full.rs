//! Did requests have to wait because those before them were not answered?
//!
//! Only an open loop can tell: its requests have their times. When many of them find as many
//! unanswered as `--window` allows, the far end or the way to it is slower than the rate asked for,
//! or it stood still for a while. The latency counts that waiting, the service time does not.

use sokudo_model::{Finding, Severity, Text, Unit};

use super::{Kind, Rule};
use crate::exchange::Exchange;
use crate::phase::PhaseView;

/// Share of requests from which the waiting shapes the result.
const MANY: f64 = 0.05;

/// See the module.
pub struct WindowFull;

impl Rule for WindowFull {
    fn name(&self) -> &'static str {
        "window_full"
    }

    fn question(&self) -> &'static str {
        "did requests have to wait because those before them were not answered?"
    }

    fn kind(&self) -> Kind {
        Kind::Limit
    }

    fn diagnose(&self, view: &PhaseView<'_>, out: &mut Vec<Finding>) {
        out.extend(Exchange::of(*view).and_then(|exchange| self.conclude(view, &exchange)));
    }
}

impl WindowFull {
    fn conclude(&self, view: &PhaseView<'_>, exchange: &Exchange<'_>) -> Option<Finding> {
        let metric = exchange.name("window_full_ratio");
        let (flow, share) = view.highest(&metric).filter(|(_, share)| *share > MANY)?;
        // Requests that queue up behind a stall of the asking end are its own doing.
        if exchange.far_end_made_them_wait() == Some(false) {
            return None;
        }
        let says = Text::new("rule-window-full-says")
            .word("host", &flow.to)
            .number("share", share, Unit::Ratio);
        let weight = 0.4 + 0.5 * share;
        let mut finding = view.finding(self.name(), Severity::Caution, weight, says);
        let evidence = &mut finding.evidence;
        evidence.push(view.evidence("evidence-window-full", &metric, &flow.to, share));
        for (key, what) in [
            ("evidence-latency-p99", "latency_seconds.p99"),
            ("evidence-service-p99", "service_seconds.p99"),
        ] {
            let value = exchange.total(what);
            let metric = exchange.name(what);
            evidence.extend(value.map(|value| view.evidence(key, &metric, &flow.to, value)));
        }
        let server = exchange.name("server_cpu_ratio");
        if let Some(cpu) = view.highest_at_receiver(&flow.to, &server) {
            evidence.push(view.evidence("evidence-server-cpu", &server, &flow.to, cpu));
        }
        finding.next = Some(Text::new("rule-window-full-next").word("host", &flow.to));
        Some(finding)
    }
}
