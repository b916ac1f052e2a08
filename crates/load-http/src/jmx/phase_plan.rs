//! The phase of one execution of a plan, and its time bound.

use sokudo_jmeter::plan::{Plan, Stage};
use sokudo_model::{Labels, PhasePlan};

use super::options::JmxOptions;
use super::{NAME, flows};

/// Longest run of a plan that nothing but its users ends.
const ENDLESS_NS: u64 = 30 * 24 * 3_600 * 1_000_000_000;
/// The same where other hosts execute it: as long as they go on by default.
const ENDLESS_ELSEWHERE_NS: u64 = 3_600 * 1_000_000_000;
/// Time for stages before and after, and for the last samples, beside the plan's own length.
const BESIDE_NS: u64 = 600_000_000_000;

/// The one phase in which these hosts, the first of them this one, execute the plan.
pub fn phase_plan(plan: &Plan, options: &JmxOptions, hosts: u32) -> PhasePlan {
    let duration_ns = length_ms(plan).map(|ms| ms.saturating_mul(1_000_000));
    let endless_ns = match options.together {
        Some(_) => ENDLESS_ELSEWHERE_NS,
        None => ENDLESS_NS,
    };
    PhasePlan {
        name: "measure".into(),
        workload: NAME.into(),
        options: options.to_json(),
        flows: flows(hosts),
        duration_ns: duration_ns.unwrap_or(0),
        bound_ns: duration_ns.map_or(endless_ns, |ns| ns.saturating_add(BESIDE_NS)),
        labels: Labels::new(),
    }
}

/// Length of the main groups by the clock; `None` when something else ends one of them.
fn length_ms(plan: &Plan) -> Option<u64> {
    let main = plan
        .groups
        .iter()
        .filter(|group| group.stage == Stage::Main);
    let ends: Option<Vec<u64>> = main.map(|group| group.load.end_ms()).collect();
    let ends = ends?;
    match plan.serialize_groups {
        true => Some(ends.into_iter().fold(0, u64::saturating_add)),
        false => ends.into_iter().max(),
    }
}
