//! Counts the fates of the packets of one direction of a link.

use crate::course::LinkCourse;

/// Counters of one direction. What is neither delivered nor dropped was on its way when they were read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tally {
    /// Packets that arrived at the link.
    pub offered: u64,
    /// Packets that left it at the far end.
    pub delivered: u64,
    /// Their bytes, each with its Ethernet header.
    pub delivered_bytes: u64,
    /// Packets for which the queue had no room; the kernel counts those that travel together as one.
    pub dropped_queue: u64,
    /// Packets that were lost because loss was asked for.
    pub dropped_loss: u64,
    /// Most bytes that waited at once; the kernel does not say it of its own queues.
    pub queue_max_bytes: Option<u64>,
    /// Longest that this process delivered a packet too late. The kernel has no such count.
    pub late_max_ns: Option<u64>,
    /// Packets that the far host did not take from this process: its own queue was full.
    pub overflowed: u64,
}

impl Tally {
    /// Counts of a course.
    pub(crate) fn of(course: &LinkCourse) -> Self {
        let counts = course.direction.counts();
        Self {
            offered: counts.offered,
            delivered: counts.delivered - course.refused,
            delivered_bytes: counts.delivered_bytes,
            dropped_queue: counts.dropped_queue,
            dropped_loss: counts.dropped_loss,
            queue_max_bytes: Some(counts.queue_max_bytes),
            late_max_ns: Some(course.late_max_ns),
            overflowed: course.refused,
        }
    }
}
