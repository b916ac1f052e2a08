//! How well did the hosts of a run act together?

use sokudo_model::{PhaseRecord, Summary, skew};

use crate::clock::ClockTrack;
use crate::hosts::Host;

/// Numbers of the group: hosts, the largest clock error, and the spread of the starts. A clock that was
/// stepped on the way was wrong by the step at some moment.
///
/// A flow's spread is how much later it began than the first one of its phase. The clock error comes
/// on top of it: two hosts that began "together" did so within the sum of their errors.
pub(crate) fn numbers(hosts: &[Host], clocks: &[ClockTrack], phases: &[PhaseRecord]) -> Summary {
    let errors_ns = hosts.iter().map(|host| host.clock.error_ns);
    let steps_ns = clocks.iter().map(ClockTrack::widest_step_ns);
    let error_ns = errors_ns.chain(steps_ns).max();
    let mut out = Summary::from([
        ("group.hosts".to_owned(), hosts.len() as f64),
        (
            "group.clock_error_seconds.max".to_owned(),
            error_ns.unwrap_or(0) as f64 * 1e-9,
        ),
    ]);
    let mut spreads: Vec<f64> = phases.iter().flat_map(skew::spreads).collect();
    spreads.sort_by(f64::total_cmp);
    if let (Some(max), Some(p50)) = (spreads.last(), spreads.get(spreads.len() / 2)) {
        out.insert("group.start_spread_seconds.max".to_owned(), *max);
        out.insert("group.start_spread_seconds.p50".to_owned(), *p50);
    }
    out
}

#[cfg(test)]
mod tests {
    use sokudo_model::skew::START_LATE;
    use sokudo_model::{FlowResult, PhaseResult};

    use super::*;

    fn phase(late: &[f64]) -> PhaseRecord {
        let flow = |late: &f64| FlowResult {
            metrics: [(START_LATE.to_owned(), *late)].into(),
            ..FlowResult::default()
        };
        let result = PhaseResult {
            flows: late.iter().map(flow).collect(),
            ..PhaseResult::default()
        };
        PhaseRecord::plain("p", "rr", (0, 1), result)
    }

    #[test]
    fn the_spread_counts_from_the_first_flow_of_each_phase() {
        let phases = [
            phase(&[0.5, 0.25, 0.75]),
            phase(&[9.0]),
            phase(&[3.0, 3.25]),
        ];
        let numbers = numbers(&[], &[], &phases);
        assert_eq!(numbers["group.start_spread_seconds.max"], 0.5);
        assert_eq!(numbers["group.start_spread_seconds.p50"], 0.25);
        assert_eq!(numbers["group.hosts"], 0.0);
    }

    #[test]
    fn without_flows_that_begin_together_there_is_no_spread() {
        let numbers = numbers(&[], &[], &[phase(&[9.0])]);
        assert!(!numbers.contains_key("group.start_spread_seconds.max"));
    }
}
