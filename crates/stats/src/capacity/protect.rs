//! Limits in front of the knee, and whether they hold with more users.
//!
//! ```text
//! users ─► connections ≤ 2·N* ─► dispatch queue ─► workers = N* ─► pool = N* ─► database
//!                                └ the surplus waits here, and costs neither memory nor locks behind it
//! ```
//!
//! Each run is a phase with the labels `role` = `protect`, `protect` = the option that was raised,
//! `value`, `users` = the users of all groups, `arm` = `before` or `after`, `workers` and `open`.

use sokudo_model::PhaseRecord;

use super::record::{KneeFound, visit_of};
use super::{Level, Visit};

/// Role of the runs, and the label that names the option.
pub const LABEL: &str = "protect";
/// Label that says whether the limits were set.
pub const ARM: &str = "arm";
/// Without the limits.
pub const BEFORE: &str = "before";
/// With them.
pub const AFTER: &str = "after";
/// Users of the check, as a multiple of the knee.
pub const SURPLUS: f64 = 1.5;
/// Connections of which one waits per one that is served: what waits makes a response twice as long.
const OPEN_PER_WORKER: u32 = 2;
/// Most of any limit.
const MOST: f64 = 10_000.0;
/// Share of the highest throughput that the limits must keep.
const KEPT: f64 = 0.9;
/// The mean response may be so many times that of Little's law.
const BOUNDED: f64 = 1.25;
/// Share of errors that counts as none.
const NO_ERRORS: f64 = 0.01;

/// Recommended limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Worker threads, and connections to the database.
    pub workers: u32,
    /// Open connections.
    pub open: u32,
}

impl Limits {
    /// The limits for a knee at so many users.
    pub fn of(users: f64) -> Self {
        let workers = users.ceil().clamp(1.0, MOST) as u32;
        Self {
            workers,
            open: workers * OPEN_PER_WORKER,
        }
    }

    /// The knobs of a target that set them.
    pub fn knobs(&self) -> Vec<(String, String)> {
        let pairs = [
            ("workers.core", self.workers),
            ("workers.max", self.workers),
            ("pool.max", self.workers),
            ("listen.max_open", self.open),
        ];
        let pairs = pairs.iter();
        pairs
            .map(|(key, value)| ((*key).to_owned(), value.to_string()))
            .collect()
    }
}

/// The runs with or without the limits.
#[derive(Debug, Clone, PartialEq)]
pub struct Arm {
    /// Their result.
    pub level: Level,
    /// Names of their phases.
    pub phases: Vec<String>,
    /// Mean share of requests that failed.
    pub errors: f64,
}

/// Limits that were tried.
#[derive(Debug, Clone, PartialEq)]
pub struct Protected {
    /// The limits.
    pub limits: Limits,
    /// Users of the check.
    pub users: f64,
    /// Runs without the limits; `None` when they gave no numbers.
    pub before: Option<Arm>,
    /// Runs with them.
    pub after: Arm,
    /// Expectation of the check: the highest throughput of the search, requests per second.
    pub most_per_second: f64,
    /// Mean response that Little's law gives for that throughput, seconds.
    pub expected_s: f64,
}

/// Outcome of the check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Throughput kept, response bounded, no errors.
    Kept,
    /// Less is carried.
    Throughput,
    /// Requests fail.
    Errors,
    /// Responses take longer than the queue explains.
    Response,
}

/// True for a run of such a check.
pub fn is_run(phase: &PhaseRecord) -> bool {
    phase.labels.get("role").is_some_and(|role| role == LABEL)
}

/// The check among the phases of a record, after its search; `None` when its runs gave no numbers.
pub fn protected_of(phases: &[PhaseRecord], found: &KneeFound) -> Option<Protected> {
    let runs: Vec<&PhaseRecord> = phases.iter().filter(|phase| is_run(phase)).collect();
    let number = |name: &str| -> Option<f64> { runs.first()?.labels.get(name)?.parse().ok() };
    let (value, users) = (number("value")?, number("users")?);
    let limits = Limits {
        workers: number("workers")? as u32,
        open: number("open")? as u32,
    };
    let lowest = found.levels.first()?;
    let most_per_second = found.all.most_per_second;
    let usable = value > 0.0 && most_per_second > 0.0;
    let per_value = users / value;
    let think_s = per_value * lowest.users / lowest.per_second() - lowest.response_s();
    let expected_s = users / most_per_second - think_s.max(0.0);
    usable.then_some(())?;
    Some(Protected {
        limits,
        users,
        before: arm(&runs, BEFORE, users),
        after: arm(&runs, AFTER, users)?,
        most_per_second,
        expected_s: expected_s.max(lowest.response_s()),
    })
}

fn arm(runs: &[&PhaseRecord], name: &str, users: f64) -> Option<Arm> {
    let of_arm = runs
        .iter()
        .filter(|run| run.labels.get(ARM).is_some_and(|arm| arm == name));
    let gave = of_arm.filter_map(|run| Some((*run, visit_of(run)?)));
    let (runs, visits): (Vec<&PhaseRecord>, Vec<Visit>) = gave.unzip();
    let errors = runs.iter().filter_map(|run| {
        let curve = run.kind()?.curve.as_ref()?;
        curve.share(&run.result, "errors")
    });
    let (sum, n) = errors.fold((0.0, 0.0), |(sum, n), share| (sum + share, n + 1.0));
    (!visits.is_empty()).then(|| Arm {
        level: Level { users, visits },
        phases: runs.iter().map(|run| run.name.clone()).collect(),
        errors: if n > 0.0 { sum / n } else { 0.0 },
    })
}

impl Protected {
    /// Throughput with the limits over the highest of the search.
    pub fn kept(&self) -> f64 {
        self.after.level.per_second() / self.most_per_second
    }

    /// Result of the runs with the limits.
    pub fn outcome(&self) -> Outcome {
        let level = &self.after.level;
        match () {
            () if self.after.errors > NO_ERRORS => Outcome::Errors,
            () if self.kept() < KEPT => Outcome::Throughput,
            () if level.response_s() > self.expected_s * BOUNDED => Outcome::Response,
            () => Outcome::Kept,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn protected(per_second: f64, response_s: f64, errors: f64) -> Outcome {
        let visit = Visit {
            per_second,
            response_s,
            cpu_ratio: None,
            is_descending: false,
            held: true,
        };
        let after = Arm {
            level: Level {
                users: 60.0,
                visits: vec![visit],
            },
            phases: vec!["protect-1".into()],
            errors,
        };
        let protected = Protected {
            limits: Limits::of(39.2),
            users: 60.0,
            before: None,
            after,
            most_per_second: 20.0,
            expected_s: 3.0,
        };
        protected.outcome()
    }

    #[test]
    fn the_limits_lie_at_the_knee_and_as_many_may_wait() {
        let limits = Limits::of(39.2);
        assert_eq!((limits.workers, limits.open), (40, 80));
        let knobs = limits.knobs();
        assert!(
            knobs.contains(&("pool.max".into(), "40".into())),
            "{knobs:?}"
        );
        assert_eq!(Limits::of(0.2).workers, 1);
    }

    #[test]
    fn what_the_limits_cost_is_told_apart() {
        assert_eq!(protected(19.5, 3.1, 0.0), Outcome::Kept);
        assert_eq!(protected(15.0, 3.1, 0.0), Outcome::Throughput);
        assert_eq!(protected(19.5, 4.5, 0.0), Outcome::Response);
        assert_eq!(protected(19.5, 3.0, 0.4), Outcome::Errors);
    }
}
