//! Metrics of a target's queues (`--monitor target`); label endpoint.

use crate::metric::metrics;

/// Name of the layer of a check that loads a target.
pub const LAYER: &str = "target";

#[rustfmt::skip]
metrics! {
    UP = gauge("target.up", One, "1 when the target's admin port answered, 0 when it did not");
    ACCEPT_QUEUE_DEPTH = gauge("target.accept_queue.depth", One, "completed connections that the server has not accepted");
    ACCEPT_QUEUE_LIMIT = gauge("target.accept_queue.limit", One, "completed connections that may wait to be accepted");
    CONNECTIONS_OPEN = gauge("target.connections.open", One, "connections that the server has open");
    CONNECTIONS_MAX = gauge("target.connections.max", One, "connections that it opens at most");
    CONNECTIONS_TURNED_AWAY = counter("target.connections.turned_away", One, "connections that were reset or refused because there was no room, since the run's start");
    CONNECTIONS_ACCEPT_ERRORS = counter("target.connections.accept_errors", One, "times that a connection could not be accepted, as with too many open files, since the run's start");
    WORKERS_ACTIVE = gauge("target.workers.active", One, "threads that carry a request out");
    WORKERS_SIZE = gauge("target.workers.size", One, "worker threads");
    WORKERS_MAX = gauge("target.workers.max", One, "worker threads at most");
    WORKERS_QUEUED = gauge("target.workers.queued", One, "requests that wait for a thread");
    WORKERS_REJECTED = counter("target.workers.rejected", One, "requests that found the dispatch queue full, since the run's start");
    WORKERS_TIMEOUTS = counter("target.workers.timeouts", One, "requests that waited too long for a thread, since the run's start");
    WORKERS_WAIT_SECONDS_MEAN = gauge("target.workers.wait_seconds.mean", Seconds, "mean wait for a thread, over the requests that got one in the interval");
    WORKERS_SERVICE_SECONDS_MEAN = gauge("target.workers.service_seconds.mean", Seconds, "mean time of a thread for a request, over the requests that ended in the interval");
    WORKERS_DONE_PER_SECOND = gauge("target.workers.done_per_second", PerSecond, "requests that were answered");
    POOL_USED = gauge("target.pool.used", One, "connections to the database in use");
    POOL_SIZE = gauge("target.pool.size", One, "connections to the database that are open");
    POOL_MAX = gauge("target.pool.max", One, "connections to the database at most");
    POOL_WAITING = gauge("target.pool.waiting", One, "requests that wait for a connection to the database");
    POOL_TIMEOUTS = counter("target.pool.timeouts", One, "waits for a connection to the database that were given up, since the run's start");
    POOL_ERRORS = counter("target.pool.errors", One, "connections that the database did not give, or that broke, since the run's start");
    POOL_WAIT_SECONDS_MEAN = gauge("target.pool.wait_seconds.mean", Seconds, "mean wait for a connection to the database, over the acquisitions of the interval");
    POOL_HOLD_SECONDS_MEAN = gauge("target.pool.hold_seconds.mean", Seconds, "mean time that a connection to the database was held, over those given back in the interval");
}
