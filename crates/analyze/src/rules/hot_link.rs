//! All slow flows or failing pairs have one host in common.
//!
//! Of many flows at once some may be slow because of one link that they share. When all slow ones send to
//! the same host at the same moment, its link, or the buffer of the switch's port before it, is the place
//! where they meet: incast (A. Phanishayee et al., "Measurement and Analysis of TCP Throughput Collapse",
//! FAST 2008).

use sokudo_model::metrics::host;
use sokudo_model::pairs::is_round;
use sokudo_model::{Finding, FlowResult, Severity, Text, Unit, kinds};
use sokudo_stats::spread;

use crate::quantities::ends::End;
use crate::quantities::pairs::{Way, common};
use crate::quantities::tcp::Connection;
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
    let (host, key) = match (common(&ends), ends.as_slice()) {
        (Some((host, Way::In)), _) => (host, "rule-hot_link-incast"),
        (Some((host, Way::Out)), _) => (host, "rule-hot_link-out"),
        (Some((host, Way::Both)), _) => (host, "rule-hot_link-both"),
        (None, [(_, to)]) => (*to, "rule-hot_link-pair"),
        // What is slow one way delays the acknowledgements of the other.
        (None, [(a, b), (c, d)]) if (a, b) == (d, c) => (*b, "rule-hot_link-pair"),
        (None, _) => return None,
    };
    let together: f64 = slow.iter().map(|(_, bits)| bits).sum();
    let says = Text::new(key)
        .word("host", host)
        .word("count", slow.len().to_string())
        .word("pairs", speeds.len().to_string())
        .number("bits", together, Unit::BitsPerSecond)
        .number("middle", middle, Unit::BitsPerSecond)
        .word("from", ends.first()?.0)
        .word("to", ends.first()?.1);
    let mut finding = view.finding(RULE.name, Severity::Caution, 0.8, says);
    let told = slow.iter().take(TOLD);
    finding.evidence = told.map(|(flow, bits)| carries(flow, *bits)).collect();
    let (worst, _) = slow.first()?;
    let fastest = speeds.iter().max_by(|a, b| a.1.total_cmp(&b.1));
    finding
        .evidence
        .extend(fastest.map(|(flow, bits)| carries(flow, *bits)));
    let connection = Connection::of(*view, worst, End::Sender);
    finding.evidence.extend(connection.round_trip_evidence());
    finding
        .evidence
        .extend(connection.retransmission_evidence());
    finding.evidence.extend(view.missing_evidence(host));
    let rate = host::NIC_RECEIVE_BYTES_PER_SECOND;
    let at_device = view.highest_mean(Some(host), rate, &[]);
    finding.evidence.extend(
        at_device.map(|(_, mean)| view.evidence("evidence-device-received", rate, host, mean)),
    );
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
    fn one_slow_pair_of_many_is_named() {
        let fast = 9e8;
        let hosts = ["a", "b", "c", "d"];
        let pairs = hosts.iter().flat_map(|from| hosts.map(|to| (*from, to)));
        let pairs = pairs.filter(|(from, to)| from != to);
        let flows: Vec<(&str, &str, f64)> = pairs
            .map(|(from, to)| (from, to, if (from, to) == ("a", "c") { 1e8 } else { fast }))
            .collect();
        let finding = one(&carrying(&flows), "hot_link");
        check_texts(&finding);
        assert_eq!(finding.says.key, "rule-hot_link-pair");
        assert_eq!(crate::view::word(&finding.says, "from"), Some("a"));
        // The acknowledgements of the other way wait behind the slow one.
        let both = flows.into_iter().map(|(from, to, bits)| match (from, to) {
            ("c", "a") => (from, to, 2e8),
            _ => (from, to, bits),
        });
        let finding = one(&carrying(&both.collect::<Vec<_>>()), "hot_link");
        assert_eq!(finding.says.key, "rule-hot_link-pair");
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
