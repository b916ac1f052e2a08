//! Do all flows that stay behind the others have one host in common?
//!
//! Of many flows at once some may be slow because of one link that they share. When all slow ones send to
//! the same host at the same moment, its link, or the buffer of the switch's port before it, is the place
//! where they meet: incast (A. Phanishayee et al., "Measurement and Analysis of TCP Throughput Collapse",
//! FAST 2008).

use sokudo_model::pairs::is_round;
use sokudo_model::{Evidence, Finding, FlowResult, Severity, Text, Unit, load};
use sokudo_stats::spread;

use crate::quantities::pairs::{Way, common};
use crate::rule::{Kind, Rule};
use crate::view::PhaseView;

/// Fewest flows of which some can stay behind the others.
const FLOWS_MIN: usize = 4;
/// A flow that carries less than this share of what the middle one carries is slow.
const SLOW_SHARE: f64 = 0.5;
/// Flows that are told one by one.
const TOLD: usize = 3;

/// See the module.
pub struct HotLink;

impl Rule for HotLink {
    fn name(&self) -> &'static str {
        "hot_link"
    }

    fn question(&self) -> &'static str {
        "do all flows that stay behind the others have one host in common?"
    }

    fn kind(&self) -> Kind {
        Kind::Limit
    }

    fn diagnose(&self, view: &PhaseView<'_>, out: &mut Vec<Finding>) {
        // Of a check of a group all rounds together are looked at.
        if !is_round(view.phase) {
            out.extend(self.conclude(view));
        }
    }
}

impl HotLink {
    fn conclude(&self, view: &PhaseView<'_>) -> Option<Finding> {
        let carried = |flow: &FlowResult| Some(load::carried(&flow.metrics)?.bits_per_second());
        let flows = view.flows().iter();
        let speeds: Vec<(&FlowResult, f64)> = flows
            .filter_map(|flow| Some((flow, carried(flow)?)))
            .collect();
        let values: Vec<f64> = speeds.iter().map(|(_, bits)| *bits).collect();
        let middle = spread(&values).filter(|all| all.n >= FLOWS_MIN)?.median;
        let slow: Vec<&(&FlowResult, f64)> = speeds
            .iter()
            .filter(|(_, bits)| *bits < middle * SLOW_SHARE)
            .collect();
        let ends: Vec<(&str, &str)> = slow
            .iter()
            .map(|(flow, _)| (flow.from.as_str(), flow.to.as_str()))
            .collect();
        let (host, way) = common(&ends)?;
        let key = match way {
            Way::In => "rule-hot_link-incast",
            Way::Out => "rule-hot_link-out",
            Way::Both => "rule-hot_link-both",
        };
        let together: f64 = slow.iter().map(|(_, bits)| bits).sum();
        let says = Text::new(key)
            .word("host", host)
            .word("count", slow.len().to_string())
            .word("pairs", speeds.len().to_string())
            .number("bits", together, Unit::BitsPerSecond);
        let mut finding = view.finding(self.name(), Severity::Caution, 0.8, says);
        let told = slow.iter().take(TOLD);
        finding.evidence = told.map(|(flow, bits)| evidence(flow, *bits)).collect();
        finding.next = Some(Text::new("rule-hot_link-next").word("host", host));
        Some(finding)
    }
}

fn evidence(flow: &FlowResult, bits: f64) -> Evidence {
    Evidence {
        says: Text::new("evidence-flow-carries")
            .word("from", &flow.from)
            .word("to", &flow.to)
            .number("bits", bits, Unit::BitsPerSecond),
        source: "time stamps and counts of both ends".into(),
        host: None,
        metric: None,
        labels: Default::default(),
        value: Some(bits),
        unit: Some(Unit::BitsPerSecond),
    }
}
