//! Predictions about a plan, and warnings about probable mistakes in it.
//!
//! All of them follow from the plan alone: the number of users, their duration, their pauses. The
//! number of users at which a system saturates needs two measured values more, see [`knee_users`].

use serde::Serialize;
use sokudo_pace::Think;

use crate::plan::{Controller, Group, Id, Loops, Plan, SamplerKind, Stage, Step, TimerKind, Value};

mod databases;
mod endless;
mod files;
mod unsupported;
mod warnings;
mod without_effect;

pub use files::{FileUse, files, of_scripts as files_of_scripts};
pub(crate) use unsupported::refuse;
pub(crate) use warnings::warn;

/// Load that a plan will generate.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outlook {
    /// Load of each group.
    pub groups: Vec<GroupOutlook>,
    /// Most concurrent users over all groups of the main stage (of the largest group if groups run
    /// one after another) and over all generators.
    pub users: u64,
    /// Number of generators that each execute the whole plan.
    pub generators: u64,
    /// Time until all users of the longest group have started.
    pub ramp_ms: u64,
    /// Time after which the main stage ends by the clock; `None`: it has no fixed end.
    pub duration_ms: Option<u64>,
}

/// Load that a group will generate.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupOutlook {
    /// Name of the group.
    pub name: String,
    /// Stage in which it runs.
    pub stage: Stage,
    /// Most concurrent users on each generator; `None`: the number depends on arrivals.
    pub users: Option<u64>,
    /// Time until all users have started.
    pub ramp_ms: u64,
    /// Time after which it ends by the clock; `None`: loops or the operator end it.
    pub end_ms: Option<u64>,
    /// Iterations of each user; `None`: unlimited, or one per arrival.
    pub loops: Option<u64>,
    /// Number of samplers.
    pub samplers: usize,
    /// Mean pause before a sampler, over the samplers of the group, `timer.factor` included;
    /// `None`: it depends on expressions or on the load.
    pub think_ms: Option<f64>,
}

/// The load of a plan on `generators` generators, each of which executes all of it.
///
/// `factor` is the property `timer.factor`.
pub fn outlook(plan: &Plan, generators: u64, factor: f64) -> Outlook {
    let groups: Vec<_> = plan
        .groups
        .iter()
        .map(|g| group_outlook(plan, g, factor))
        .collect();
    let main = || groups.iter().filter(|group| group.stage == Stage::Main);
    let users = main().map(|group| group.users.unwrap_or(0));
    let ends = main().map(|group| group.end_ms);
    let (users, duration_ms) = match plan.serialize_groups {
        true => (users.max().unwrap_or(0), ends.sum()),
        false => (
            users.sum(),
            ends.collect::<Option<Vec<u64>>>()
                .and_then(|e| e.into_iter().max()),
        ),
    };
    let ramp_ms = main().map(|group| group.ramp_ms).max().unwrap_or(0);
    Outlook {
        users: users.saturating_mul(generators),
        generators,
        ramp_ms,
        duration_ms,
        groups,
    }
}

fn group_outlook(plan: &Plan, group: &Group, factor: f64) -> GroupOutlook {
    let samplers = samplers(&group.body);
    GroupOutlook {
        name: group.name.clone(),
        stage: group.stage,
        users: group.load.users(),
        ramp_ms: group.load.ramp_ms(),
        end_ms: group.load.end_ms(),
        loops: match group.load.loops() {
            Some(Loops::Count(count)) => Some(count),
            Some(Loops::Forever) | None => None,
        },
        samplers: samplers.len(),
        think_ms: mean_think_ms(plan, &samplers, factor),
    }
}

/// Mean of the pauses before these samplers, without flow control actions; the factor scales random
/// pauses.
fn mean_think_ms(plan: &Plan, samplers: &[Id], factor: f64) -> Option<f64> {
    let all = samplers.iter().map(|id| &plan.samplers[*id as usize]);
    let asking = all.filter(|sampler| !matches!(sampler.kind, SamplerKind::Action(_)));
    let (mut sum, mut count) = (0.0, 0.0);
    for sampler in asking {
        count += 1.0;
        for timer in &sampler.scope.timers {
            let pause = think(&plan.timers[*timer as usize].kind)?;
            let scaled = !matches!(pause, Think::Constant { .. });
            sum += pause.mean_ms() * if scaled { factor } else { 1.0 };
        }
    }
    (count > 0.0).then(|| sum / count)
}

/// The distribution of a timer's pauses; `None`: it depends on the load or on expressions.
pub fn think(timer: &TimerKind) -> Option<Think> {
    let fixed = |value: &Value<f64>| value.fixed().copied();
    Some(match timer {
        TimerKind::Constant { delay_ms } => Think::Constant {
            delay_ms: fixed(delay_ms)?,
        },
        TimerKind::Uniform {
            offset_ms,
            range_ms,
        } => Think::Uniform {
            offset_ms: fixed(offset_ms)?,
            range_ms: fixed(range_ms)?,
        },
        TimerKind::Gaussian {
            offset_ms,
            deviation_ms,
        } => Think::Gaussian {
            offset_ms: fixed(offset_ms)?,
            deviation_ms: fixed(deviation_ms)?,
        },
        TimerKind::Poisson {
            offset_ms,
            lambda_ms,
        } => Think::Poisson {
            offset_ms: fixed(offset_ms)?,
            lambda_ms: fixed(lambda_ms)?,
        },
        _ => return None,
    })
}

/// Indexes of the samplers below these steps, in order.
pub fn samplers(steps: &[Step]) -> Vec<Id> {
    let mut found = Vec::new();
    for_each_step(steps, &mut |step| {
        if let Step::Sampler(id) = step {
            found.push(*id);
        }
    });
    found
}

/// Controllers below these steps, in order.
pub(crate) fn controllers(steps: &[Step]) -> Vec<&Controller> {
    let mut found = Vec::new();
    for_each_step(steps, &mut |step| {
        if let Step::Controller(controller) = step {
            found.push(controller);
        }
    });
    found
}

fn for_each_step<'p>(steps: &'p [Step], then: &mut impl FnMut(&'p Step)) {
    for step in steps {
        then(step);
        if let Step::Controller(controller) = step {
            for_each_step(&controller.body, then);
        }
    }
}

/// Number of users at which the busiest resource is saturated: (R + Z) / D.
///
/// `response_s` and `demand_s` are measured with a single user: mean response time, and seconds of
/// the busiest resource per request. `think_s` is the mean pause. `None` if the demand is not a
/// positive number. Source: asymptotic bounds of operational analysis.
pub fn knee_users(response_s: f64, think_s: f64, demand_s: f64) -> Option<f64> {
    let users = (response_s + think_s) / demand_s;
    (demand_s > 0.0 && users.is_finite()).then_some(users)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_knee_is_where_demand_fills_the_cycle() {
        assert_eq!(knee_users(1.2, 0.8, 0.05), Some(40.0));
        assert_eq!(knee_users(1.0, 0.0, 0.0), None);
    }
}
