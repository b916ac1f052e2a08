//! A thread used its CPU time for waiting.
//!
//! A thread that spins uses a whole core whatever the load is: its CPU time says nothing about how
//! much more it could do, and on a host with few cores it takes them from the far end.

use sokudo_model::{Finding, Severity, Text, Unit};

use crate::quantities::exchange::Exchange;
use crate::rule::{Look, Purpose, Rule};
use crate::view::PhaseView;

/// From this share of a core on, the thread never slept.
const WHOLE_CORE: f64 = 0.8;

/// The finding `spinning`.
pub const RULE: Rule = Rule {
    name: "spinning",
    purpose: Purpose::Describes,
    suspects: &[],
    bounds: &[("whole", WHOLE_CORE, Unit::Ratio)],
    look: Look::Phase(look),
};

fn look(view: &PhaseView<'_>) -> Option<Finding> {
    let spins = view.flows().iter().any(|flow| {
        let wait = flow.labels.get("wait");
        wait.is_some_and(|wait| wait.starts_with("spin"))
    });
    let exchange = Exchange::of(*view).filter(|_| spins)?;
    let ends = exchange.kind.ends;
    let metric = ends.near.cpu;
    let (flow, cpu) = view.highest(metric).filter(|(_, cpu)| *cpu >= WHOLE_CORE)?;
    let says = Text::new("rule-spinning-says")
        .word("host", &flow.from)
        .number("cpu", cpu, Unit::Ratio);
    let mut finding = view.finding(RULE.name, Severity::Info, 0.2, says);
    let evidence = &mut finding.evidence;
    evidence.push(view.evidence("evidence-client-cpu", metric, &flow.from, cpu));
    evidence.extend(ends.far.and_then(|far| {
        let cpu = view.highest_at_receiver(&flow.to, far.cpu)?;
        Some(view.evidence("evidence-server-cpu", far.cpu, &flow.to, cpu))
    }));
    finding.next = Some(Text::new("rule-spinning-next"));
    Some(finding)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::scene::*;
    use crate::tests::*;

    #[test]
    fn the_cpu_time_of_a_thread_that_spins_is_told_as_waiting() {
        let of = |wait: &str| {
            let mut scene = Scene::of("rr")
                .sender([1.0, 0.0, 0.0])
                .receiver([1.0, 0.0, 0.0])
                .total("transactions_per_second", 500.0);
            scene.flow().labels.insert("wait".into(), wait.into());
            scene.record
        };
        let finding = one(&of("spin"), RULE.name);
        has_metric(&finding, "rr.client_cpu_ratio");
        has_metric(&finding, "rr.server_cpu_ratio");
        none(&of("block"), RULE.name);
    }
}
