//! Did one core spend all its time on received packets?
//!
//! The kernel handles what a queue of a device brings on one core, outside of any program
//! (softirq). When that core is full, packets wait or are dropped although the others are idle and
//! every thread looks at leisure.

use sokudo_model::{Finding, Severity, Text, Unit};

use crate::rule::{Kind, Rule};
use crate::view::{PhaseView, name_what_lacks};

/// Share of a core's time from which it is full.
const FULL: f64 = 0.9;

/// See the module.
pub struct SoftirqCore;

impl Rule for SoftirqCore {
    fn name(&self) -> &'static str {
        "softirq_core"
    }

    fn question(&self) -> &'static str {
        "did one core spend all its time on received packets?"
    }

    fn kind(&self) -> Kind {
        Kind::Limit
    }

    fn diagnose(&self, view: &PhaseView<'_>, out: &mut Vec<Finding>) {
        out.extend(self.conclude(view));
    }
}

impl SoftirqCore {
    fn conclude(&self, view: &PhaseView<'_>) -> Option<Finding> {
        const CPU: &str = "host.cpu_ratio";
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
        let mut finding = view.finding(self.name(), Severity::Caution, 0.3 + 0.65 * share, says);
        let evidence = &mut finding.evidence;
        let mut row = view.evidence("evidence-softirq", CPU, host, share);
        row.says = row.says.word("core", core);
        row.labels = series.key.labels.clone();
        evidence.push(row);
        for (key, metric) in [
            ("evidence-softnet-drops", "host.softnet_drops"),
            ("evidence-time-squeezes", "host.softnet_time_squeezes"),
        ] {
            evidence.extend(view.grown(key, metric, host));
        }
        let all = [("core", "all"), ("state", "idle")];
        let idle = view.highest_mean(Some(host), CPU, &all);
        evidence
            .extend(idle.map(|(_, idle)| view.evidence("evidence-cores-idle", CPU, host, idle)));
        name_what_lacks(evidence, "host.softnet_drops, host.softnet_time_squeezes");
        finding.next = Some(Text::new("rule-softirq-core-next").word("host", host));
        Some(finding)
    }
}
