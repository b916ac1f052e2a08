//! Timers.

use serde::Serialize;

use super::{Script, Value};

/// A timer: the pause of a user before each sampler in scope. Pauses are added.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "timer", rename_all = "snake_case")]
pub enum TimerKind {
    /// A constant pause.
    Constant {
        /// Milliseconds.
        delay_ms: Value<f64>,
    },
    /// A uniformly distributed pause.
    Uniform {
        /// Minimum in milliseconds.
        offset_ms: Value<f64>,
        /// Width of the range in milliseconds.
        range_ms: Value<f64>,
    },
    /// |N(0, 1) · deviation + offset|.
    Gaussian {
        /// Offset in milliseconds.
        offset_ms: Value<f64>,
        /// Deviation in milliseconds.
        deviation_ms: Value<f64>,
    },
    /// Offset plus a Poisson distributed number.
    Poisson {
        /// Offset in milliseconds.
        offset_ms: Value<f64>,
        /// Mean of the distributed part in milliseconds.
        lambda_ms: Value<f64>,
    },
    /// Keeps a rate by pausing; missed requests are not caught up.
    ConstantThroughput {
        /// Samples per minute.
        per_minute: Value<f64>,
        /// The users that the rate is for.
        over: Over,
    },
    /// Keeps a rate precisely, at random moments.
    PreciseThroughput {
        /// Samples per period.
        throughput: Value<f64>,
        /// Length of a period.
        period_s: Value<i64>,
        /// Length of the test.
        duration_s: Value<i64>,
        /// Number of samples that start together.
        batch: Value<i64>,
        /// Milliseconds between these.
        batch_gap_ms: Value<i64>,
        /// Seed; 0: that of the run.
        seed: Value<i64>,
    },
    /// Keeps a rate that changes over time, over all users.
    ThroughputShaping {
        /// Rows of the table.
        rows: Vec<ShapeRow>,
    },
    /// A script whose value is the pause in milliseconds.
    Script(Script),
    /// Waits until a number of users has arrived.
    Synchronizing {
        /// Number of users; 0: all of the thread group.
        users: Value<i64>,
        /// Longest wait in milliseconds; 0: unlimited.
        timeout_ms: Value<i64>,
    },
}

/// The users that a rate is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Over {
    /// Each user.
    ThisUser,
    /// All active users, each with an equal share.
    AllUsers,
    /// All active users of the thread group, each with an equal share.
    Group,
    /// All active users with one shared schedule.
    AllUsersShared,
    /// All active users of the thread group with one shared schedule.
    GroupShared,
}

/// A step of a rate that changes over time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ShapeRow {
    /// Rate at its start.
    pub start_per_s: Value<f64>,
    /// Rate at its end.
    pub end_per_s: Value<f64>,
    /// Duration.
    pub duration_s: Value<f64>,
}
