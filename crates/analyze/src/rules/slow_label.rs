//! One kind of request is much slower than the others.
//!
//! A mean over all requests hides it: the slow one is a small part of them, or takes all the time.

use sokudo_model::kinds::http;
use sokudo_model::metric::Metric;
use sokudo_model::{Finding, FlowResult, Severity, Text, Unit};

use crate::rule::{Look, Purpose, Rule};
use crate::view::PhaseView;

/// Times the median of the others from which it stands out.
const MUCH: f64 = 5.0;
/// Fewest samples of a label.
const FEW: u64 = 20;
/// Difference below which a label is not worth a finding, seconds.
const LITTLE_S: f64 = 0.02;

const SERVICE: Metric = http::SERVICE_SECONDS;

/// The finding `slow_label`.
pub const RULE: Rule = Rule {
    name: "slow_label",
    purpose: Purpose::Describes,
    suspects: &[],
    bounds: &[
        ("times", MUCH, Unit::One),
        ("few", FEW as f64, Unit::One),
        ("least", LITTLE_S, Unit::Seconds),
    ],
    look: Look::Phase(look),
};

fn look(view: &PhaseView<'_>) -> Option<Finding> {
    if !view.kind()?.is_plan {
        return None;
    }
    let mut labels: Vec<(&FlowResult, f64, u64)> = view
        .flows()
        .iter()
        .filter(|flow| !flow.labels.contains_key("kind"))
        .filter_map(|flow| {
            let service = flow.histograms.get(SERVICE.name)?;
            (service.n >= FEW).then_some((flow, service.mean, service.n))
        })
        .collect();
    labels.sort_by(|a, b| a.1.total_cmp(&b.1));
    let ((slow, mean, n), others) = labels.split_last()?;
    let usual = others.get(others.len() / 2).map(|(_, mean, _)| *mean)?;
    if *mean < usual * MUCH || mean - usual < LITTLE_S {
        return None;
    }
    let time = |(_, mean, n): &(&FlowResult, f64, u64)| mean * *n as f64;
    let share = mean * *n as f64 / labels.iter().map(time).sum::<f64>();
    let says = Text::new("rule-slow-label-says")
        .word("label", &slow.to)
        .number("mean", *mean, Unit::Seconds)
        .number("usual", usual, Unit::Seconds)
        .number("share", share, Unit::Ratio);
    let mut finding = view.finding(RULE.name, Severity::Info, 0.4, says);
    let row = view.evidence("evidence-mean-service", SERVICE, &slow.from, *mean);
    finding.evidence.push(row);
    finding.next = Some(Text::new("rule-slow-label-next").word("label", &slow.to));
    Some(finding)
}

#[cfg(test)]
mod tests {
    use crate::tests::requests::*;

    #[test]
    fn one_slow_label_among_quick_ones_is_told() {
        let metrics: &[(&str, f64)] = &[("requests", 1_000.0)];
        let slow = [0.200, 0.300, 0.400];
        let record = of_labels(&[
            ("/a", metrics, EVEN, 0.003),
            ("/b", metrics, slow, 0.003),
            ("/c", metrics, EVEN, 0.003),
        ]);
        check(&record, "slow_label", "rule-slow-label-says");
        let record = of_labels(&[("/a", metrics, EVEN, 0.003), ("/c", metrics, EVEN, 0.003)]);
        assert!(is_quiet(&record, "slow_label"));
    }
}
