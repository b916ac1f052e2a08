//! Planned length of a load, and its end.
//!
//! A phase goes on after its load: stragglers arrive, both ends complete their books, a host that does not answer is
//! waited for. Nothing gets through then, and nothing is meant to.

use std::str::FromStr as _;

use sokudo_model::metrics::group;
use sokudo_model::units::Nanos;

use crate::view::PhaseView;

/// Planned length of the load, seconds, its warm-up included: what the plan says, or its flows took to carry an
/// amount. `None` where neither is known.
pub fn planned_s(view: &PhaseView<'_>) -> Option<f64> {
    let plans = view.record.manifest.plan.phases.iter();
    let mut own = plans.filter(|plan| plan.name == view.phase.name && plan.duration_ns > 0);
    let planned = own.next_back().map(|plan| plan.duration_ns as f64 / 1e9);
    planned.or_else(|| taken_s(view))
}

/// End of the load, nanoseconds of the run; that of the phase where it is not known. What had queued up may arrive
/// after the planned end.
pub fn end_ns(view: &PhaseView<'_>) -> i64 {
    let length_s = planned_s(view).into_iter().chain(taken_s(view));
    let Some(length_s) = length_s.max_by(f64::total_cmp) else {
        return view.phase.t1_ns;
    };
    let end_ns = view.phase.t0_ns.saturating_add((length_s * 1e9) as i64);
    end_ns.clamp(view.phase.t0_ns, view.phase.t1_ns.max(view.phase.t0_ns))
}

/// Planned end of the load, nanoseconds of the run: what arrives after it had queued up before.
pub fn planned_end_ns(view: &PhaseView<'_>) -> i64 {
    let planned_ns = planned_s(view).map(|seconds| (seconds * 1e9) as i64);
    let end_ns = planned_ns.map(|length_ns| view.phase.t0_ns.saturating_add(length_ns));
    end_ns.map_or(view.phase.t1_ns, |end_ns| end_ns.min(view.phase.t1_ns))
}

/// Time from the start to the end of the longest flow, seconds, its warm-up included.
fn taken_s(view: &PhaseView<'_>) -> Option<f64> {
    let counted = view.values(group::LOAD_SECONDS).map(|(_, seconds)| seconds);
    let warmup: Option<String> = view.option("warmup");
    let warmup = warmup.and_then(|text| Nanos::from_str(&text).ok());
    let warmup_s = warmup.map_or(0.0, |warmup| warmup.seconds());
    Some(counted.max_by(f64::total_cmp)? + warmup_s)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::*;

    #[track_caller]
    fn check(load_s: Option<f64>, options: &str, expected_s: f64) {
        let mut one = flow(&[]);
        let name = String::from(group::LOAD_SECONDS);
        one.metrics.extend(load_s.map(|seconds| (name, seconds)));
        let mut record = empty();
        record.manifest.phases.push(phase("p2p", vec![one]));
        record.manifest.phases[0].options = options.into();
        let view = PhaseView::new(&record, &record.manifest.phases[0]);
        let end_s = (end_ns(&view) - view.phase.t0_ns) as f64 / 1e9;
        assert!((end_s - expected_s).abs() < 1e-6, "{end_s}");
    }

    #[test]
    fn a_load_ends_before_its_phase() {
        check(Some(4.0), "{}", 4.0);
        check(Some(4.0), r#"{"warmup":"1000000000ns"}"#, 5.0);
        // The phase takes 10 s.
        check(Some(40.0), "{}", 10.0);
        check(None, "{}", 10.0);
    }
}
