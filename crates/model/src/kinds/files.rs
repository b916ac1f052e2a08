//! Numbers of trees of files that one host sends and another writes.

use crate::metric::Metric;

/// Metrics of a replication, under names of its own.
#[derive(Debug, Clone, Copy)]
pub struct FileCopy {
    /// Regular files of the source.
    pub files: Metric,
    /// Files that were written.
    pub written: Metric,
    /// Bytes of content per second.
    pub rate: Metric,
    /// Bytes of content that travelled, or need not.
    pub bytes: Metric,
    /// Bytes on connections.
    pub wire_bytes: Metric,
    /// From the start to the last durable byte.
    pub elapsed: Metric,
    /// Share of the time of sending threads that the connection took them.
    pub write_blocked: Metric,
    /// Share of the time of receiving threads in which they waited for data.
    pub read_idle: Metric,
    /// Rounds that are complete.
    pub rounds: Metric,
    /// Of a mirror: distribution of the time from a change to its replication.
    pub lag: Metric,
    /// Limit on the bits per second of connections.
    pub asked: Metric,
    /// Entries that could not be replicated.
    pub failed: Metric,
}
