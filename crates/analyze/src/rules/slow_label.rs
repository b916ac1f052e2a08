//! Is one kind of request much slower than the others?
//!
//! A mean over all requests hides it: the slow one is a small part of them, or takes all the time.

use sokudo_model::{Finding, FlowResult, Severity, Text, Unit};

use crate::rule::{Kind, Rule};
use crate::view::PhaseView;

/// Times the median of the others from which it stands out.
const MUCH: f64 = 5.0;
/// Fewest samples of a label.
const FEW: u64 = 20;
/// Difference below which nobody cares, seconds.
const LITTLE_S: f64 = 0.02;

/// See the module.
pub struct SlowLabel;

const SERVICE: &str = "http.service_seconds";

impl Rule for SlowLabel {
    fn name(&self) -> &'static str {
        "slow_label"
    }

    fn question(&self) -> &'static str {
        "is one kind of request much slower than the others?"
    }

    fn kind(&self) -> Kind {
        Kind::Describes
    }

    fn diagnose(&self, view: &PhaseView<'_>, out: &mut Vec<Finding>) {
        if view.phase.workload != "jmx" {
            return;
        }
        let mut labels: Vec<(&FlowResult, f64, u64)> = view
            .flows()
            .iter()
            .filter(|flow| !flow.labels.contains_key("kind"))
            .filter_map(|flow| {
                let service = flow.histograms.get(SERVICE)?;
                (service.n >= FEW).then_some((flow, service.mean, service.n))
            })
            .collect();
        labels.sort_by(|a, b| a.1.total_cmp(&b.1));
        let Some(((slow, mean, n), others)) = labels.split_last() else {
            return;
        };
        let Some(usual) = others.get(others.len() / 2).map(|(_, mean, _)| *mean) else {
            return;
        };
        if *mean < usual * MUCH || mean - usual < LITTLE_S {
            return;
        }
        let time = |(_, mean, n): &(&FlowResult, f64, u64)| mean * *n as f64;
        let share = mean * *n as f64 / labels.iter().map(time).sum::<f64>();
        let says = Text::new("rule-slow-label-says")
            .word("label", &slow.to)
            .number("mean", *mean, Unit::Seconds)
            .number("usual", usual, Unit::Seconds)
            .number("share", share, Unit::Ratio);
        let mut finding = view.finding(self.name(), Severity::Info, 0.4, says);
        let row = view.evidence("evidence-mean-service", SERVICE, &slow.from, *mean);
        finding.evidence.push(row);
        finding.next = Some(Text::new("rule-slow-label-next").word("label", &slow.to));
        out.push(finding);
    }
}
