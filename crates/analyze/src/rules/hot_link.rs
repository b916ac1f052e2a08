//! All slow flows or failing pairs have one host in common.
//!
//! Of many flows at once some may be slow because of one link that they share. When all slow ones send to
//! the same host at the same moment, its link, or the buffer of the switch's port before it, is the place
//! where they meet: incast (A. Phanishayee et al., "Measurement and Analysis of TCP Throughput Collapse",
//! FAST 2008).

use sokudo_model::pairs::is_round;
use sokudo_model::{Finding, FlowResult, Severity, Text, Unit, kinds};
use sokudo_stats::spread;

use crate::quantities::pairs::{Way, common};
use crate::rule::{Look, Purpose, Rule, Standing};
use crate::view::{PhaseView, carries};

/// Fewest flows of which some can stay behind the others.
const FLOWS_MIN: usize = 4;
/// A flow that carries less than this share of what the middle one carries is slow.
const SLOW_SHARE: f64 = 0.5;
/// Flows that are told one by one.
const TOLD: usize = 3;

/// The finding `hot_link`.
pub const RULE: Rule = Rule {
    name: "hot_link",
    purpose: Purpose::Limit(Standing::Specific),
    suspects: &[],
    bounds: &[("slow", SLOW_SHARE, Unit::Ratio)],
    look: Look::Phase(look),
};

fn look(view: &PhaseView<'_>) -> Option<Finding> {
    // Of a check of a group all rounds together are looked at.
    if is_round(view.phase) {
        return None;
    }
    let carried = |flow: &FlowResult| Some(kinds::carried(&flow.metrics)?.bits_per_second());
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
    let mut finding = view.finding(RULE.name, Severity::Caution, 0.8, says);
    let told = slow.iter().take(TOLD);
    finding.evidence = told.map(|(flow, bits)| carries(flow, *bits)).collect();
    finding.next = Some(Text::new("rule-hot_link-next").word("host", host));
    Some(finding)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::*;

    /// Flows with what each carries, bits per second.
    fn carrying(flows: &[(&str, &str, f64)]) -> Record {
        let mut record = empty();
        let each = flows.iter().map(|(from, to, bits)| FlowResult {
            from: (*from).into(),
            to: (*to).into(),
            metrics: [
                ("stream.received_bytes".to_owned(), bits / 8.0),
                ("stream.goodput_bits_per_second".to_owned(), *bits),
            ]
            .into(),
            complete: true,
            ..FlowResult::default()
        });
        let mut mesh = phase("mesh", each.collect());
        mesh.workload = "stream".into();
        record.manifest.phases.push(mesh);
        record
    }

    #[test]
    fn slow_flows_to_one_host_meet_there() {
        let fast = 9e8;
        let record = carrying(&[
            ("a", "b", fast),
            ("b", "c", fast),
            ("c", "a", fast),
            ("a", "d", 2e8),
            ("b", "d", 3e8),
        ]);
        let finding = one(&record, "hot_link");
        check_texts(&finding);
        assert_eq!(finding.says.key, "rule-hot_link-incast");
        assert_eq!(crate::view::word(&finding.says, "host"), Some("d"));
    }

    #[test]
    fn flows_that_are_slow_here_and_there_have_nothing_in_common() {
        let fast = 9e8;
        let apart = [
            ("a", "b", 1e8),
            ("c", "d", 1e8),
            ("b", "c", fast),
            ("d", "a", fast),
            ("a", "c", fast),
        ];
        none(&carrying(&apart), "hot_link");
        none(
            &carrying(&[("a", "b", 1e8), ("c", "b", 1e8), ("b", "c", fast)]),
            "hot_link",
        );
    }
}
