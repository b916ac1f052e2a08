//! Numbers of bytes or messages that one end sends and the other receives.

use crate::metric::Metric;

/// Metrics that every transfer has, under names of its own.
#[derive(Debug, Clone, Copy)]
pub struct Transfer {
    /// Rate of arrival: bits or messages per second.
    pub rate: Metric,
    /// Rate asked for, in the same unit; absent when as much as possible was.
    pub asked: Metric,
    /// Messages or bytes that were sent and did not arrive.
    pub missing: Metric,
    /// Time until an answer, where messages are answered.
    pub latency: Option<Metric>,
    /// Share of time in which the sender could not go on.
    pub write_blocked: Metric,
    /// Share of time in which the receiver waited for data.
    pub read_idle: Metric,
    /// Share of time in which the sender waited for room in a window of the workload's own.
    pub window_waited: Option<Metric>,
}
