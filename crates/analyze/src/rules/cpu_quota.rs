//! A bound on CPU time kept sokudo from running.
//!
//! A control group may get a quota of CPU time per period; when it is used up, all its threads stand still until
//! the next period (`cpu.max`, cpu.stat's `nr_throttled`). The threads look as if neighbours had taken their time.

use sokudo_model::metrics::own;
use sokudo_model::{Finding, Severity, Text, Unit};

use crate::quantities::ends::End;
use crate::rule::{Look, Purpose, Rule, Standing, Suspect};
use crate::view::PhaseView;

/// Share of the periods in which the quota was used up, from which it shapes the result.
const SHAPES: f64 = 0.1;

/// The finding `cpu_quota`.
pub const RULE: Rule = Rule {
    name: "cpu_quota",
    purpose: Purpose::Limit(Standing::Specific),
    suspects: &[Suspect::tighten("rate")],
    bounds: &[("shapes", SHAPES, Unit::Ratio)],
    look: Look::Phase(look),
};

fn look(view: &PhaseView<'_>) -> Option<Finding> {
    let hosts = view.hosts().into_iter();
    let bound = hosts.filter_map(|host| {
        let (_, share) = view.highest_mean(Some(host), own::THROTTLED_RATIO, &[])?;
        (share >= SHAPES).then_some((host, share.min(1.0)))
    });
    let (host, share) = bound.max_by(|a, b| a.1.total_cmp(&b.1))?;
    let says =
        Text::new("rule-cpu-quota-says")
            .word("host", host)
            .number("share", share, Unit::Ratio);
    let weight = 0.4 + 0.55 * share;
    let mut finding = view.finding(RULE.name, Severity::Caution, weight, says);
    let evidence = &mut finding.evidence;
    evidence.push(view.evidence("evidence-throttled", own::THROTTLED_RATIO, host, share));
    let kind = view.kind()?;
    for end in [End::Sender, End::Receiver] {
        let Some(wait) = end.wait(kind) else { continue };
        let value = match end {
            End::Sender => view.highest_at_sender(host, wait),
            End::Receiver => view.highest_at_receiver(host, wait),
        };
        let key = end.wait_key(kind);
        evidence.extend(value.map(|value| view.evidence(key, wait, host, value.min(1.0))));
    }
    let own_cpu = view.highest_mean(Some(host), own::CPU_RATIO, &[]);
    evidence.extend(own_cpu.map(|(series, used)| {
        let mut row = view.evidence("evidence-self-cpu", own::CPU_RATIO, host, used);
        row.labels = series.key.labels.clone();
        row
    }));
    finding.next = Some(Text::new("rule-cpu-quota-next").word("host", host));
    Some(finding)
}

#[cfg(test)]
mod tests {
    use crate::tests::scene::*;
    use crate::tests::*;

    #[test]
    fn a_bound_on_cpu_time_is_no_neighbour() {
        let mut scene = Scene::of("stream")
            .sender([0.3, 0.6, 0.02])
            .receiver([0.3, 0.02, 0.65])
            .machine("hosta", 1.9, 0.8, 0.6);
        scene.limited_by("neighbour_interference");
        let throttled = "self.throttled_ratio";
        add_series(&mut scene.record, "hosta", throttled, &[], 0.0, 0.9);
        let finding = scene.limited_by("cpu_quota");
        check_texts(&finding);
        scene.without("neighbour_interference").without("host_busy");
        has_metric(&finding, "stream.sender_wait_ratio");
    }
}
