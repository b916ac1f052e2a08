//! The state of all stages at one moment, as the admin port tells it in JSON.

use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use serde::Serialize;
use sokudo_net::tcp::info::accept_queue;

use crate::pool::PoolStats;
use crate::server::Core;
use crate::waits::Waits;
use crate::workers::WorkerStats;

/// All stages.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Stats {
    /// Seconds since the start.
    pub uptime_seconds: f64,
    /// Completed connections that are not accepted yet.
    pub accept_queue: AcceptQueueStats,
    /// Open connections.
    pub connections: ConnectionStats,
    /// Threads and the queue in front of them.
    pub workers: WorkerStats,
    /// Connections to the database and the queue in front of them.
    pub pool: PoolStats,
    /// File descriptors that are held on purpose.
    pub leaked_fds: u64,
}

/// The queue that the system keeps for the listening socket.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AcceptQueueStats {
    /// Connections in it; missing where the system does not tell, or the socket does not listen.
    pub depth: Option<u32>,
    /// Its length as asked for, cut to what the system allows.
    pub limit: Option<u32>,
}

/// Open connections.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ConnectionStats {
    /// Now.
    pub open: u64,
    /// At most.
    pub max: u32,
    /// Accepted so far.
    pub accepted_total: u64,
    /// Reset, or answered 503, because there was no room.
    pub turned_away_total: u64,
    /// Times that a connection could not be accepted, as with too many open files.
    pub accept_errors_total: u64,
    /// Requests that are none.
    pub bad_requests_total: u64,
    /// Connections that were closed because no request came in time.
    pub timeouts_total: u64,
}

/// The distributions beside them.
pub(crate) struct Distributions {
    pub(crate) workers_wait: Waits,
    pub(crate) workers_service: Waits,
    pub(crate) pool_wait: Waits,
    pub(crate) pool_hold: Waits,
}

impl Core {
    /// All stages now.
    pub(crate) fn stats(&self) -> (Stats, Distributions) {
        let (workers, workers_wait, workers_service) = self.workers.stats();
        let (pool, pool_wait, pool_hold) = self.pool.stats();
        let listener = self.listener.lock().unwrap_or_else(PoisonError::into_inner);
        let queue = listener
            .as_ref()
            .and_then(|listener| accept_queue(listener).ok());
        drop(listener);
        let counts = &self.counts;
        let stats = Stats {
            uptime_seconds: self.started.elapsed().as_secs_f64(),
            accept_queue: AcceptQueueStats {
                depth: queue.map(|(depth, _)| depth),
                limit: queue.map(|(_, limit)| limit),
            },
            connections: ConnectionStats {
                open: counts.open.load(Ordering::Relaxed),
                max: self.live.get().listen.max_open,
                accepted_total: counts.accepted.load(Ordering::Relaxed),
                turned_away_total: counts.turned_away.load(Ordering::Relaxed),
                accept_errors_total: counts.accept_errors.load(Ordering::Relaxed),
                bad_requests_total: counts.bad_requests.load(Ordering::Relaxed),
                timeouts_total: counts.timeouts.load(Ordering::Relaxed),
            },
            workers,
            pool,
            leaked_fds: counts.leaked_fds.load(Ordering::Relaxed),
        };
        let distributions = Distributions {
            workers_wait,
            workers_service,
            pool_wait,
            pool_hold,
        };
        (stats, distributions)
    }
}
