//! One core spent all its time on received packets.
//!
//! The kernel handles what a queue of a device brings on one core, outside of any program
//! (softirq). When that core is full, packets wait or are dropped although the others are idle and
//! every thread looks at leisure.

use sokudo_model::metric::Metric;
use sokudo_model::metrics::host;
use sokudo_model::{Finding, Severity, Text, Unit};

use crate::rule::{Look, Purpose, Rule, Standing};
use crate::view::{PhaseView, name_what_lacks};

/// Share of a core's time from which it is full.
const FULL: f64 = 0.9;

/// The finding `softirq_core`.
pub const RULE: Rule = Rule {
    name: "softirq_core",
    purpose: Purpose::Limit(Standing::General),
    suspects: &[],
    bounds: &[("full", FULL, Unit::Ratio)],
    look: Look::Phase(look),
};

fn look(view: &PhaseView<'_>) -> Option<Finding> {
    const CPU: Metric = host::CPU_RATIO;
    let softirq = [("state", "softirq")];
    let means = view.series(None, CPU, &softirq).filter_map(|series| {
        let core = series
            .key
            .labels
            .get("core")
            .filter(|core| *core != "all")?;
        let labels = [("core", core.as_str()), ("state", "irq")];
        let interrupts = view.highest_mean(Some(&series.key.host), CPU, &labels);
        let share = view.mean(series)? + interrupts.map_or(0.0, |(_, share)| share);
        Some((series, core, share.min(1.0)))
    });
    let (series, core, share) = means.max_by(|a, b| a.2.total_cmp(&b.2))?;
    let host = series.key.host.as_str();
    if share < FULL {
        return None;
    }
    let says = Text::new("rule-softirq-core-says")
        .word("host", host)
        .word("core", core)
        .number("share", share, Unit::Ratio);
    let mut finding = view.finding(RULE.name, Severity::Caution, 0.3 + 0.65 * share, says);
    let evidence = &mut finding.evidence;
    let mut row = view.evidence("evidence-softirq", CPU, host, share);
    row.says = row.says.word("core", core);
    row.labels = series.key.labels.clone();
    evidence.push(row);
    for (key, metric) in [
        ("evidence-softnet-drops", host::SOFTNET_DROPS),
        ("evidence-time-squeezes", host::SOFTNET_TIME_SQUEEZES),
    ] {
        evidence.extend(view.grown(key, metric, host));
    }
    let all = [("core", "all"), ("state", "idle")];
    let idle = view.highest_mean(Some(host), CPU, &all);
    evidence.extend(idle.map(|(_, idle)| view.evidence("evidence-cores-idle", CPU, host, idle)));
    name_what_lacks(
        evidence,
        &[host::SOFTNET_DROPS, host::SOFTNET_TIME_SQUEEZES],
    );
    finding.next = Some(Text::new("rule-softirq-core-next").word("host", host));
    Some(finding)
}

#[cfg(test)]
mod tests {
    use crate::tests::scene::*;
    use crate::tests::*;

    #[test]
    fn a_core_full_of_packets_is_named() {
        let mut scene = between();
        for (core, share) in [("0", 0.05), ("1", 0.97)] {
            let labels = [("core", core), ("state", "softirq")];
            add_series(
                &mut scene.record,
                "hostb",
                "host.cpu_ratio",
                &labels,
                0.0,
                share,
            );
        }
        let squeezes = "host.softnet_time_squeezes";
        add_series(
            &mut scene.record,
            "hostb",
            squeezes,
            &[("core", "1")],
            0.0,
            900.0,
        );
        let finding = scene.limited_by("softirq_core");
        assert_eq!(finding.says.args["core"], Arg::Word("1".into()));
        has_metric(&finding, squeezes);
    }
}
