//! One kind of request is much slower than the others.
//!
//! A mean over all requests hides it: the slow one is a small part of them, or takes all the time. Where it takes most of
//! the time of users who ask without pauses, it sets their rate.

use sokudo_model::kinds::http;
use sokudo_model::metric::Metric;
use sokudo_model::{Finding, FlowResult, Severity, Text, Unit};

use crate::quantities::requests::Requests;
use crate::rule::{Look, Purpose, Rule, Standing};
use crate::view::PhaseView;

/// Times the median of the others from which it stands out.
const MUCH: f64 = 5.0;
/// Fewest samples of a label.
const FEW: u64 = 20;
/// Difference below which a label is not worth a finding, seconds.
const LITTLE_S: f64 = 0.02;

/// Share of the time of all requests from which the slow ones set the rate.
const MOST: f64 = 0.6;
/// Share of the time for which a thread of the load that wants a CPU may be the reason instead.
const BUSY: f64 = 0.5;

const SERVICE: Metric = http::SERVICE_SECONDS;

/// The finding `slow_label`.
pub const RULE: Rule = Rule {
    name: "slow_label",
    purpose: Purpose::Limit(Standing::General),
    suspects: &[],
    bounds: &[
        ("times", MUCH, Unit::One),
        ("few", FEW as f64, Unit::One),
        ("least", LITTLE_S, Unit::Seconds),
        ("most", MOST, Unit::Ratio),
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
    let of_rate = Requests::of(view).filter(|requests| share >= MOST && sets_rate(requests));
    let weight = if of_rate.is_some() { 0.65 } else { 0.4 };
    let mut finding = view.finding(RULE.name, Severity::Info, weight, says);
    let row = view.evidence("evidence-mean-service", SERVICE, &slow.from, *mean);
    finding.evidence.push(row);
    if let Some(requests) = of_rate {
        finding.evidence.extend(requests.own_cpu_row());
        finding.evidence.extend(requests.server_cpu_row());
    }
    finding.next = Some(Text::new("rule-slow-label-next").word("label", &slow.to));
    Some(finding)
}

/// True where the time of the answers sets the rate: users ask again at once, and the load's threads have time.
fn sets_rate(requests: &Requests<'_>) -> bool {
    let is_asked = requests.are_carried() || requests.users_pause();
    !is_asked && requests.exchange.asked().is_none() && requests.asking_thread() < BUSY
}

#[cfg(test)]
mod tests {
    use crate::tests::add_series;
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

    #[test]
    fn a_slow_label_that_takes_most_of_the_time_sets_the_rate() {
        let metrics: &[(&str, f64)] = &[("requests", 1_000.0), ("client_cpu_ratio", 0.05)];
        let plan = |users: f64| {
            let mut record = of_labels(&[
                ("/a", metrics, EVEN, 0.003),
                ("/b", metrics, [0.2, 0.3, 0.4], 0.003),
                ("/c", metrics, EVEN, 0.003),
            ]);
            let stages = of_stages([0.0, 0.0, 0.0, 0.0, 0.07, 0.0], &[]);
            let phase = &mut record.manifest.phases[0];
            phase.result.summary = stages.manifest.phases[0].result.summary.clone();
            add_series(&mut record, "hosta", "http.active_users", &[], users, users);
            record
        };
        // 7 requests are under way on average.
        let limit = crate::tests::limit(&plan(7.0)).expect("a limit");
        assert_eq!(limit.rule, "slow_label");
        let paced = crate::tests::limit(&plan(100.0));
        assert!(paced.is_none_or(|limit| limit.rule != "slow_label"));
    }
}
