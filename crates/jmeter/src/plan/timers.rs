//! How long does a user wait before each sampler in scope?

use serde::Serialize;

use super::{Script, Value};

/// How long a user waits before each sampler in scope. All pauses in scope are added.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "timer", rename_all = "snake_case")]
pub enum TimerKind {
    /// Always the same.
    Constant {
        /// Milliseconds.
        delay_ms: Value<f64>,
    },
    /// Evenly distributed.
    Uniform {
        /// Least, in milliseconds.
        offset_ms: Value<f64>,
        /// Width of the range, in milliseconds.
        range_ms: Value<f64>,
    },
    /// |N(0, 1) · deviation + offset|.
    Gaussian {
        /// Offset in milliseconds.
        offset_ms: Value<f64>,
        /// Deviation in milliseconds.
        deviation_ms: Value<f64>,
    },
    /// Offset and a Poisson-distributed number.
    Poisson {
        /// Offset in milliseconds.
        offset_ms: Value<f64>,
        /// Mean of what is added, in milliseconds.
        lambda_ms: Value<f64>,
    },
    /// Keeps a rate by waiting, without catching up.
    ConstantThroughput {
        /// Samples per minute.
        per_minute: Value<f64>,
        /// Over whom.
        over: Over,
    },
    /// Keeps a rate exactly, at random moments.
    PreciseThroughput {
        /// Samples per period.
        throughput: Value<f64>,
        /// Length of a period.
        period_s: Value<i64>,
        /// Length of the test.
        duration_s: Value<i64>,
        /// Samples that start together.
        batch: Value<i64>,
        /// Milliseconds between those.
        batch_gap_ms: Value<i64>,
        /// Seed; 0: the run's.
        seed: Value<i64>,
    },
    /// A rate that changes over time, over all users.
    ThroughputShaping {
        /// Rows of the table.
        rows: Vec<ShapeRow>,
    },
    /// The value of a script, in milliseconds.
    Script(Script),
    /// Waits until several users have come.
    Synchronizing {
        /// Number of users; 0: all of the group.
        users: Value<i64>,
        /// Longest wait; 0: no limit.
        timeout_ms: Value<i64>,
    },
}

/// Over whom a rate is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Over {
    /// Each user alone.
    ThisUser,
    /// All active users, each with its part.
    AllUsers,
    /// All active users of the group, each with its part.
    Group,
    /// All active users, one schedule for all.
    AllUsersShared,
    /// All active users of the group, one schedule for all.
    GroupShared,
}

/// A piece of a rate that changes over time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ShapeRow {
    /// Rate at its start.
    pub start_per_s: Value<f64>,
    /// Rate at its end.
    pub end_per_s: Value<f64>,
    /// How long it lasts.
    pub duration_s: Value<f64>,
}
