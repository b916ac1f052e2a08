//! Thread groups, their load models, and controllers.

use serde::Serialize;

use super::{Id, SteppedUsers, Value};
use crate::expression::Template;
use crate::problem::FilePosition;

/// A thread group: users that execute the same steps.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Group {
    /// Its name.
    pub name: String,
    /// Place in the plan file.
    pub place: FilePosition,
    /// Stage in which it runs.
    pub stage: Stage,
    /// Number of users and duration.
    pub load: Load,
    /// Action after a failed sample.
    pub on_error: OnError,
    /// True if a user keeps cookies, cache and connections in its next iteration.
    pub same_user: bool,
    /// Elements that act once per iteration of the group: CSV data sets, counters, random
    /// variables.
    pub per_iteration: Vec<IterationStep>,
    /// The steps of one iteration.
    pub body: Vec<Step>,
}

/// The stage in which a group runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// setUp: before all others.
    SetUp,
    /// Main: the test itself.
    Main,
    /// tearDown: after all others.
    TearDown,
}

/// Action after a failed sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OnError {
    /// None.
    Continue,
    /// Skips the rest of the iteration.
    StartNextLoop,
    /// Ends the user.
    StopThread,
    /// Ends the test; samples under way are completed.
    StopTest,
    /// Ends the test; samples under way are aborted.
    StopTestNow,
}

impl From<OnError> for FlowAction {
    fn from(on_error: OnError) -> Self {
        match on_error {
            OnError::Continue => Self::Continue,
            OnError::StartNextLoop => Self::NextGroupLoop,
            OnError::StopThread => Self::StopUser,
            OnError::StopTest => Self::StopTest,
            OnError::StopTestNow => Self::StopTestNow,
        }
    }
}

/// A change of a user's flow: that of a flow control action, of a result status action handler, or
/// of a thread group after a failed sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FlowAction {
    /// None.
    Continue,
    /// Ends the user.
    StopUser,
    /// Ends the test; samples under way are completed.
    StopTest,
    /// Ends the test; samples under way are aborted.
    StopTestNow,
    /// Starts the next iteration of the thread group.
    NextGroupLoop,
    /// Starts the next iteration of the innermost loop.
    NextLoop,
    /// Ends the innermost loop.
    BreakLoop,
}

impl FlowAction {
    /// True if it leaves the current pass of a loop.
    pub(crate) fn leaves_pass(self) -> bool {
        matches!(self, Self::NextGroupLoop | Self::NextLoop | Self::BreakLoop)
    }
}

/// A number of iterations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Loops {
    /// Unlimited.
    Forever,
    /// A fixed number.
    Count(u64),
}

/// Number of users and duration of a thread group. All times are milliseconds.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "model", rename_all = "snake_case")]
pub enum Load {
    /// A number of users that start over a ramp.
    Users {
        /// Number of users.
        users: u64,
        /// Time until all users have started.
        ramp_ms: u64,
        /// Iterations of each user.
        loops: Loops,
        /// Delay before the first user.
        delay_ms: u64,
        /// End of all users, counted from the end of the delay; `None`: only loops end them.
        duration_ms: Option<u64>,
        /// JMeter's delayed creation of threads. It has no effect: users are always created at
        /// their start.
        delayed_start: bool,
    },
    /// An open model: arrivals at a rate, each a new user that does one iteration.
    Open {
        /// Steps of the schedule.
        schedule: Vec<OpenStep>,
        /// Seed of random arrivals; `None`: that of the run.
        random_seed: Option<i64>,
    },
    /// Several concurrent ramps up and down.
    Ramps {
        /// The rows of the table.
        rows: Vec<RampRow>,
        /// Iterations of each user.
        loops: Loops,
    },
    /// Users that start and end in steps.
    Stepped {
        /// The steps.
        steps: SteppedUsers,
        /// Iterations of each user.
        loops: Loops,
    },
    /// A number of users that is reached in steps and held.
    Concurrency {
        /// Number of users.
        users: u64,
        /// Time until all have started.
        ramp_ms: u64,
        /// Number of steps; 0: one user at a time.
        steps: u64,
        /// Hold time; `None`: unlimited.
        hold_ms: Option<u64>,
        /// Iterations of each user.
        loops: Loops,
    },
}

/// A step of an arrival schedule.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OpenStep {
    /// Sets the rate; it changes linearly to the rate that follows the next arrivals.
    Rate {
        /// Arrivals per second.
        per_s: f64,
    },
    /// Arrivals at the current rate for a time.
    Arrivals {
        /// Duration.
        duration_ms: u64,
        /// True if arrivals are a Poisson process; otherwise they are evenly spaced.
        random: bool,
    },
    /// No arrivals for a time.
    Pause {
        /// Duration.
        duration_ms: u64,
    },
}

/// A ramp of users up and down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct RampRow {
    /// Number of users.
    pub users: u64,
    /// Delay before the first user.
    pub delay_ms: u64,
    /// Time until all have started.
    pub startup_ms: u64,
    /// Hold time.
    pub hold_ms: u64,
    /// Time until all have ended.
    pub shutdown_ms: u64,
}

impl Load {
    /// Most concurrent users; `None`: the number depends on arrivals.
    pub fn users(&self) -> Option<u64> {
        match self {
            Self::Users { users, .. } | Self::Concurrency { users, .. } => Some(*users),
            Self::Stepped { steps, .. } => Some(steps.users),
            Self::Ramps { rows, .. } => {
                // Each row has its maximum while it holds; the sum of the maxima is an upper bound.
                let at = |moment: u64| rows.iter().map(|row| row.users_at(moment)).sum();
                rows.iter()
                    .map(|row| at(row.delay_ms + row.startup_ms))
                    .max()
                    .or(Some(0))
            }
            Self::Open { .. } => None,
        }
    }

    /// Iterations of each user; `None`: one per arrival.
    pub fn loops(&self) -> Option<Loops> {
        match self {
            Self::Users { loops, .. }
            | Self::Ramps { loops, .. }
            | Self::Stepped { loops, .. }
            | Self::Concurrency { loops, .. } => Some(*loops),
            Self::Open { .. } => None,
        }
    }

    /// Start of user `number` (from 0) after the start of the group; `None`: it depends on
    /// arrivals, or there is no such user.
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
            Self::Stepped { steps, .. } => steps.start_ms(number),
            Self::Open { .. } => None,
        }
    }

    /// End by the clock of user `number` (from 0), after the start of the group.
    pub fn user_end_ms(&self, number: u64) -> Option<u64> {
        match self {
            Self::Ramps { rows, .. } => row_end_ms(rows, number),
            Self::Stepped { steps, .. } => Some(steps.user_end_ms(number)),
            load => load.end_ms(),
        }
    }

    /// Start of the last user.
    pub fn ramp_ms(&self) -> u64 {
        match self {
            Self::Users {
                ramp_ms, delay_ms, ..
            } => delay_ms.saturating_add(*ramp_ms),
            Self::Concurrency { ramp_ms, .. } => *ramp_ms,
            Self::Stepped { steps, .. } => {
                let last = steps.users.checked_sub(1);
                last.and_then(|last| steps.start_ms(last)).unwrap_or(0)
            }
            Self::Ramps { rows, .. } => {
                let ends = rows.iter().map(|row| row.delay_ms + row.startup_ms);
                ends.max().unwrap_or(0)
            }
            Self::Open { .. } => 0,
        }
    }

    /// End of the group by the clock, after its start; `None`: it has no fixed end.
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
            Self::Stepped { steps, .. } => Some(
                steps
                    .users
                    .checked_sub(1)
                    .map_or(0, |last| steps.user_end_ms(last)),
            ),
            Self::Open { schedule, .. } => Some(schedule.iter().map(OpenStep::duration_ms).sum()),
        }
    }
}

/// End of a user of a ramp: those that started first end first.
fn row_end_ms(rows: &[RampRow], number: u64) -> Option<u64> {
    let mut before = 0;
    for row in rows {
        if number < before + row.users {
            let down = row.delay_ms + row.startup_ms + row.hold_ms;
            let share = u128::from(number - before + 1) * u128::from(row.shutdown_ms)
                / u128::from(row.users.max(1));
            return Some(down + u64::try_from(share).unwrap_or(row.shutdown_ms));
        }
        before += row.users;
    }
    None
}

impl OpenStep {
    /// Duration of the ramp.
    pub fn duration_ms(&self) -> u64 {
        match self {
            Self::Rate { .. } => 0,
            Self::Arrivals { duration_ms, .. } | Self::Pause { duration_ms } => *duration_ms,
        }
    }
}

impl RampRow {
    /// End of the last of its users.
    pub fn end_ms(&self) -> u64 {
        self.delay_ms + self.startup_ms + self.hold_ms + self.shutdown_ms
    }

    /// Number of its users, milliseconds after the start of the group.
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

/// A step of a user: a sampler or a controller.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// A sampler of the plan.
    Sampler(Id),
    /// A controller.
    Controller(Controller),
}

/// A controller: decides which of its steps are executed, and how often.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Controller {
    /// Its name.
    pub name: Template,
    /// Place in the plan file.
    pub place: FilePosition,
    /// Kind of controller.
    #[serde(flatten)]
    pub kind: ControllerKind,
    /// Elements that act once per iteration of the controller.
    pub per_iteration: Vec<IterationStep>,
    /// Its steps in order.
    pub body: Vec<Step>,
}

/// An element that acts once per iteration of a controller or thread group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum IterationStep {
    /// A configuration element: CSV data set, counter, random variable.
    Config(Id),
    /// A preprocessor: user parameters that are set once per iteration.
    PreProcessor(Id),
}

/// The kind of a controller.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "controller", rename_all = "snake_case")]
pub enum ControllerKind {
    /// Executes all its steps once.
    Simple,
    /// Executes all its steps several times.
    Loop {
        /// Number of times; negative: unlimited.
        loops: Value<i64>,
        /// True if it is executed once: its parent forgets it behind its last pass.
        ends: bool,
    },
    /// Executes its steps if a condition holds.
    If {
        /// The condition.
        condition: Template,
        /// True if the condition is a text that must be `true`; otherwise it is JavaScript.
        is_text: bool,
        /// True if it is evaluated before each step, not only before the first.
        before_each_step: bool,
    },
    /// Executes its steps while a condition is not `false`; empty: until a step fails; `LAST`:
    /// likewise, and not at all if the previous step failed.
    While {
        /// The condition.
        condition: Template,
    },
    /// Executes its steps for each of the variables `input_1`, `input_2` …
    ForEach {
        /// Prefix of the variables that are read.
        input: Template,
        /// The variable that is set.
        output: Template,
        /// True if the names have `_` before the number.
        separator: bool,
        /// Number before the first that is read.
        start: Value<i64>,
        /// Last number that is read; `None`: until a variable is missing.
        end: Option<Value<i64>>,
    },
    /// Executes its steps in the first iteration of a user only.
    OnceOnly,
    /// Executes all its steps in random order.
    RandomOrder,
    /// Executes one of its steps per turn.
    Turns {
        /// True if the step is chosen at random; otherwise the next one.
        random: bool,
        /// True if a nested controller is one step; otherwise each of its steps is.
        whole: bool,
        /// True if users begin with different steps.
        across_users: bool,
    },
    /// Executes the step with this number (from 0) or name.
    Switch {
        /// Number or name.
        selected: Template,
    },
    /// Executes its steps in a share or a number of the iterations.
    Throughput {
        /// The limit.
        limit: ThroughputLimit,
        /// True if each user counts separately.
        per_user: bool,
    },
    /// Executes its steps for a time.
    Runtime {
        /// Duration.
        seconds: Value<i64>,
    },
    /// Executes its steps under a lock.
    CriticalSection {
        /// Name of the lock.
        lock: Template,
    },
    /// Adds a result for all its steps together.
    Transaction {
        /// True if the results of the steps are sub-results of it; otherwise they are reported
        /// beside it.
        is_parent: bool,
        /// True if pauses count as part of it.
        with_timers: bool,
        /// Assertions on the result.
        assertions: Vec<Id>,
        /// Listeners of the result.
        listeners: Vec<Id>,
        /// Result status action handlers in its scope.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        handlers: Vec<Id>,
    },
}

/// The limit of a throughput controller.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ThroughputLimit {
    /// Percentage of the iterations.
    Percent(Value<f64>),
    /// Number of iterations in total.
    Total(Value<i64>),
}
