//! Who runs, how many, when and what: groups and controllers.

use serde::Serialize;

use super::{Id, Value};
use crate::expression::Template;
use crate::problem::Place;

/// Users that do the same.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Group {
    /// Its name.
    pub name: String,
    /// Where it stands.
    pub place: Place,
    /// When it runs.
    pub stage: Stage,
    /// How many users there are and how long they go on.
    pub load: Load,
    /// What happens after a sample that failed.
    pub on_error: OnError,
    /// A user stays the same in its next iteration: cookies, cache and connections are kept.
    pub same_user: bool,
    /// What moves on with each iteration of the group: CSV data sets, counters, random variables.
    pub per_iteration: Vec<IterationStep>,
    /// What a user does in one iteration.
    pub body: Vec<Step>,
}

/// When a group runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Before all others.
    SetUp,
    /// The test.
    Main,
    /// After all others.
    TearDown,
}

/// What happens after a sample that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OnError {
    /// Nothing.
    Continue,
    /// The rest of the iteration is left out.
    StartNextLoop,
    /// The user ends.
    StopThread,
    /// The test ends; samples in flight finish.
    StopTest,
    /// The test ends; samples in flight are broken off.
    StopTestNow,
}

/// How often something is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Loops {
    /// Until something else ends it.
    Forever,
    /// So many times.
    Count(u64),
}

/// How many users there are and how long they go on. All times are milliseconds.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "model", rename_all = "snake_case")]
pub enum Load {
    /// A number of users that start over a ramp.
    Users {
        /// Number of users.
        users: u64,
        /// Time until all have started.
        ramp_ms: u64,
        /// Iterations of each user.
        loops: Loops,
        /// Wait before the first user.
        delay_ms: u64,
        /// End of all users, counted from the end of the delay; `None`: loops alone decide.
        duration_ms: Option<u64>,
        /// Users are made only when they start. Here they always are: it changes nothing.
        delayed_start: bool,
    },
    /// Arrivals at a rate, each a new user that does one iteration.
    Open {
        /// Pieces of the schedule in order.
        schedule: Vec<OpenStep>,
        /// Seed of the random arrivals; `None`: the run's seed.
        random_seed: Option<i64>,
    },
    /// Several ramps up and down beside one another.
    Ramps {
        /// The rows of the table.
        rows: Vec<RampRow>,
        /// Iterations of each user.
        loops: Loops,
    },
    /// A number of users that is reached in steps and kept.
    Concurrency {
        /// Number of users.
        users: u64,
        /// Time until all have started.
        ramp_ms: u64,
        /// Number of steps; 0: one by one.
        steps: u64,
        /// Time for which the number is kept; `None`: without end.
        hold_ms: Option<u64>,
        /// Iterations of each user.
        loops: Loops,
    },
}

/// A piece of the schedule of arrivals.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OpenStep {
    /// From here on so many arrivals per second; between two of these the rate changes evenly.
    Rate {
        /// Arrivals per second.
        per_s: f64,
    },
    /// Arrivals at the rate for a time.
    Arrivals {
        /// How long.
        duration_ms: u64,
        /// At random moments instead of evenly.
        random: bool,
    },
    /// No arrivals for a time.
    Pause {
        /// How long.
        duration_ms: u64,
    },
}

/// A ramp up and down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct RampRow {
    /// Number of users.
    pub users: u64,
    /// Wait before the first.
    pub delay_ms: u64,
    /// Time until all have started.
    pub startup_ms: u64,
    /// Time for which all of them go on.
    pub hold_ms: u64,
    /// Time until all have ended.
    pub shutdown_ms: u64,
}

impl Load {
    /// Most users at one time; `None` where arrivals decide.
    pub fn users(&self) -> Option<u64> {
        match self {
            Self::Users { users, .. } | Self::Concurrency { users, .. } => Some(*users),
            Self::Ramps { rows, .. } => {
                // Each row is at its highest while it holds; the sum of the highest is a bound.
                let at = |moment: u64| rows.iter().map(|row| row.users_at(moment)).sum();
                rows.iter()
                    .map(|row| at(row.delay_ms + row.startup_ms))
                    .max()
                    .or(Some(0))
            }
            Self::Open { .. } => None,
        }
    }

    /// Start of user `number` (from 0) after the group's start; `None` where arrivals decide or
    /// there is no such user.
    pub fn start_ms(&self, number: u64) -> Option<u64> {
        match self {
            Self::Users {
                users,
                ramp_ms,
                delay_ms,
                ..
            } => (number < *users).then(|| {
                delay_ms.saturating_add(sokudo_pace::ramp::start_ms(number, *users, *ramp_ms))
            }),
            Self::Concurrency {
                users,
                ramp_ms,
                steps,
                ..
            } => (number < *users)
                .then(|| sokudo_pace::ramp::stepped_start_ms(number, *users, *ramp_ms, *steps)),
            Self::Ramps { rows, .. } => {
                let mut before = 0;
                let row = rows.iter().find(|row| {
                    let here = number < before + row.users;
                    before += if here { 0 } else { row.users };
                    here
                })?;
                let start = sokudo_pace::ramp::start_ms(number - before, row.users, row.startup_ms);
                Some(row.delay_ms + start)
            }
            Self::Open { .. } => None,
        }
    }

    /// When the last user starts.
    pub fn ramp_ms(&self) -> u64 {
        match self {
            Self::Users {
                ramp_ms, delay_ms, ..
            } => delay_ms.saturating_add(*ramp_ms),
            Self::Concurrency { ramp_ms, .. } => *ramp_ms,
            Self::Ramps { rows, .. } => {
                let ends = rows.iter().map(|row| row.delay_ms + row.startup_ms);
                ends.max().unwrap_or(0)
            }
            Self::Open { .. } => 0,
        }
    }

    /// When the group ends by the clock, after its start; `None`: other things end it.
    pub fn end_ms(&self) -> Option<u64> {
        match self {
            Self::Users {
                delay_ms,
                duration_ms,
                ..
            } => duration_ms.map(|duration| delay_ms.saturating_add(duration)),
            Self::Concurrency {
                ramp_ms, hold_ms, ..
            } => hold_ms.map(|hold| ramp_ms.saturating_add(hold)),
            Self::Ramps { rows, .. } => rows.iter().map(RampRow::end_ms).max(),
            Self::Open { schedule, .. } => Some(schedule.iter().map(OpenStep::duration_ms).sum()),
        }
    }
}

impl OpenStep {
    /// How long it lasts.
    pub fn duration_ms(&self) -> u64 {
        match self {
            Self::Rate { .. } => 0,
            Self::Arrivals { duration_ms, .. } | Self::Pause { duration_ms } => *duration_ms,
        }
    }
}

impl RampRow {
    /// When the last of its users ends.
    pub fn end_ms(&self) -> u64 {
        self.delay_ms + self.startup_ms + self.hold_ms + self.shutdown_ms
    }

    /// Its users at a moment, milliseconds after the group's start.
    pub fn users_at(&self, at_ms: u64) -> u64 {
        let (up, down) = (
            self.delay_ms + self.startup_ms,
            self.end_ms() - self.shutdown_ms,
        );
        let part = |of: u64, whole: u64| {
            (u128::from(self.users) * u128::from(of) / u128::from(whole)) as u64
        };
        match at_ms {
            at if at < self.delay_ms || at >= self.end_ms() => 0,
            at if at < up => part(at - self.delay_ms, self.startup_ms),
            at if at <= down => self.users,
            at => part(self.end_ms() - at, self.shutdown_ms),
        }
    }
}

/// A step of a user: a sampler, or a controller with steps of its own.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// A sampler of the plan.
    Sampler(Id),
    /// Decides which of its steps are done, and how often.
    Controller(Controller),
}

/// Decides which of its steps are done, and how often.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Controller {
    /// Its name.
    pub name: Template,
    /// Where it stands.
    pub place: Place,
    /// How it decides.
    #[serde(flatten)]
    pub kind: ControllerKind,
    /// What moves on with each of its iterations.
    pub per_iteration: Vec<IterationStep>,
    /// Its steps in order.
    pub body: Vec<Step>,
}

/// Something that moves on with each iteration of a controller or group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum IterationStep {
    /// A configuration element of the plan: data set, counter, random variable.
    Config(Id),
    /// User parameters that are set once per iteration: a preprocessor of the plan.
    PreProcessor(Id),
}

/// How a controller decides.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "controller", rename_all = "snake_case")]
pub enum ControllerKind {
    /// Does all its steps.
    Simple,
    /// Does all its steps several times.
    Loop {
        /// How often; below 0: forever.
        loops: Value<i64>,
    },
    /// Does its steps when a condition holds.
    If {
        /// The condition.
        condition: Template,
        /// The condition is a text that must be `true`; otherwise it is JavaScript.
        is_text: bool,
        /// Asked before each step, not only before the first.
        before_each_step: bool,
    },
    /// Does its steps while a condition is not `false`; empty: until a step fails; `LAST`: so,
    /// too, and not at all when the step before failed.
    While {
        /// The condition.
        condition: Template,
    },
    /// Does its steps for each of the variables `input_1`, `input_2` …
    ForEach {
        /// Name of the variables read.
        input: Template,
        /// Name of the variable that is set.
        output: Template,
        /// The names have a `_` before the number.
        separator: bool,
        /// Number before the first that is read.
        start: Value<i64>,
        /// Last number that is read; `None`: as long as there are any.
        end: Option<Value<i64>>,
    },
    /// Does its steps in a user's first iteration only.
    OnceOnly,
    /// Does one of its steps, drawn at random.
    Random,
    /// Does all its steps in random order.
    RandomOrder,
    /// Does one of its steps per iteration, in turn.
    Interleave {
        /// In turn over all users, not per user.
        across_users: bool,
    },
    /// Does one step of those inside controllers, too, drawn at random or in turn.
    SubSteps {
        /// Drawn at random instead of in turn.
        random: bool,
        /// In turn over all users, not per user.
        across_users: bool,
    },
    /// Does the step of this number (from 0) or name.
    Switch {
        /// Number or name.
        selected: Template,
    },
    /// Does its steps in a share or a number of the iterations.
    Throughput {
        /// The limit.
        limit: ThroughputLimit,
        /// Counted per user, not over all.
        per_user: bool,
    },
    /// Does its steps for a time.
    Runtime {
        /// How long.
        seconds: Value<i64>,
    },
    /// One user at a time, of those that use the same lock.
    CriticalSection {
        /// Name of the lock.
        lock: Template,
    },
    /// Adds a result for all its steps together.
    Transaction {
        /// The result holds those of the steps; otherwise it stands beside them.
        is_parent: bool,
        /// Pauses count as part of it.
        with_timers: bool,
        /// Assertions on the result.
        assertions: Vec<Id>,
        /// Listeners of the result.
        listeners: Vec<Id>,
    },
}

/// In how many iterations something is done.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ThroughputLimit {
    /// In so many per cent of them.
    Percent(Value<f64>),
    /// In so many of them altogether.
    Total(Value<i64>),
}
