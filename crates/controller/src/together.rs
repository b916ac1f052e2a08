//! Common start of the hosts of a run, and how precisely they kept it.

use sokudo_model::manifest::moments;
use sokudo_model::metrics::group;
use sokudo_model::{PhaseRecord, Stat, Summary, skew};

use crate::clock::ClockTrack;
use crate::hosts::Host;

/// Least time between the order to start and the start.
const LEAD_NS: i64 = 100_000_000;
/// Most: a host that has not received the order by then receives it too late.
const LEAD_MAX_NS: i64 = 30_000_000_000;

/// Time between the agreement on the start of a phase and the start, nanoseconds.
///
/// A command to all hosts of the phase took `told_ns` a moment ago, until the last one had answered: the
/// order to start gets twice that time, because the next one may take longer. The clock of a host may be
/// wrong by up to `error_ns`, and a start that two hosts expect at different times must lie ahead of
/// both; that counts twice, too.
pub(crate) fn lead_ns(told_ns: i64, error_ns: i64) -> i64 {
    let told = told_ns.max(0).saturating_mul(2);
    let apart = error_ns.max(0).saturating_mul(4);
    LEAD_NS
        .saturating_add(told)
        .saturating_add(apart)
        .min(LEAD_MAX_NS)
}

/// Numbers of the group: hosts, the largest clock error, how far ahead the starts were agreed, and their
/// spread. A clock that was stepped on the way was wrong by the step at some moment.
///
/// A flow's spread is how much later it began than the first one of its phase. The clock error comes
/// on top of it: two hosts that began "together" did so within the sum of their errors.
///
/// `lead_ns` is the longest lead of a phase; zero when none was started.
pub(crate) fn numbers(
    hosts: &[Host],
    clocks: &[ClockTrack],
    phases: &[PhaseRecord],
    lead_ns: i64,
) -> Summary {
    let errors_ns = hosts.iter().map(|host| host.clock.error_ns);
    let steps_ns = clocks.iter().map(ClockTrack::widest_step_ns);
    let error_ns = errors_ns.chain(steps_ns).max();
    let mut out = Summary::from([
        (group::HOSTS.into(), hosts.len() as f64),
        (
            group::CLOCK_ERROR_SECONDS.stat(Stat::Max),
            error_ns.unwrap_or(0) as f64 * 1e-9,
        ),
    ]);
    if lead_ns > 0 {
        out.insert(group::START_LEAD_SECONDS.into(), lead_ns as f64 * 1e-9);
    }
    let mut spreads: Vec<f64> = moments(phases).flat_map(skew::spreads).collect();
    spreads.sort_by(f64::total_cmp);
    if let (Some(max), Some(p50)) = (spreads.last(), spreads.get(spreads.len() / 2)) {
        out.insert(group::START_SPREAD_SECONDS.stat(Stat::Max), *max);
        out.insert(group::START_SPREAD_SECONDS.stat(Stat::P50), *p50);
    }
    out
}

#[cfg(test)]
mod tests {
    use sokudo_model::{FlowResult, PhaseResult};

    use super::*;

    fn phase(late: &[f64]) -> PhaseRecord {
        let flow = |late: &f64| FlowResult {
            metrics: [(group::START_LATE_SECONDS.into(), *late)].into(),
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
        let numbers = numbers(&[], &[], &phases, 250_000_000);
        assert_eq!(numbers["group.start_spread_seconds.max"], 0.5);
        assert_eq!(numbers["group.start_spread_seconds.p50"], 0.25);
        assert_eq!(numbers["group.hosts"], 0.0);
        assert_eq!(numbers["group.start_lead_seconds"], 0.25);
    }

    #[test]
    fn without_flows_that_begin_together_there_is_no_spread() {
        let numbers = numbers(&[], &[], &[phase(&[9.0])], 0);
        assert!(!numbers.contains_key("group.start_spread_seconds.max"));
        assert!(!numbers.contains_key("group.start_lead_seconds"));
    }

    #[test]
    fn the_lead_follows_what_a_command_to_all_took() {
        const MS: i64 = 1_000_000;
        assert_eq!(lead_ns(0, 0), 100 * MS);
        assert_eq!(lead_ns(45 * MS, 0), 190 * MS);
        assert_eq!(lead_ns(45 * MS, 5 * MS), 210 * MS);
        // Of 1,000 hosts that share two cores.
        assert_eq!(lead_ns(400 * MS, 0), 900 * MS);
        // Whatever was measured, a start is neither in the past nor out of sight.
        assert_eq!(lead_ns(-MS, -MS), 100 * MS);
        assert_eq!(lead_ns(i64::MAX, i64::MAX), LEAD_MAX_NS);
    }
}
