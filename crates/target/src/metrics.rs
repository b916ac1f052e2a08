//! The state of all stages in the text format of Prometheus, as OpenMetrics 1.0.

use std::fmt::Write as _;

use crate::stats::{Distributions, Stats};
use crate::waits::{CLASSES, Waits};

/// Media type of the text.
pub(crate) const KIND: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// All stages as text.
pub(crate) fn text(stats: &Stats, distributions: &Distributions) -> String {
    let mut out = String::with_capacity(16 << 10);
    for (name, help, value) in gauges(stats) {
        if let Some(value) = value {
            // Writing into a string does not fail.
            let _ = write!(
                out,
                "# TYPE target_{name} gauge\n# HELP target_{name} {help}\ntarget_{name} {value}\n"
            );
        }
    }
    for (name, help, value) in counters(stats) {
        let _ = write!(
            out,
            "# TYPE target_{name} counter\n# HELP target_{name} {help}\ntarget_{name}_total {value}\n"
        );
    }
    let _ = writeln!(
        out,
        "# TYPE target_answers counter\n# HELP target_answers answers by status"
    );
    for (status, count) in &stats.workers.answers {
        let _ = writeln!(out, "target_answers_total{{status=\"{status}\"}} {count}");
    }
    let histograms = [
        (
            "workers_wait_seconds",
            "from the whole request to a thread",
            &distributions.workers_wait,
        ),
        (
            "workers_service_seconds",
            "from a thread to the whole answer",
            &distributions.workers_service,
        ),
        (
            "pool_wait_seconds",
            "from asking for a connection to having it",
            &distributions.pool_wait,
        ),
        (
            "pool_hold_seconds",
            "from having a connection to giving it back",
            &distributions.pool_hold,
        ),
    ];
    for (name, help, waits) in histograms {
        histogram(&mut out, name, help, waits);
    }
    out.push_str("# EOF\n");
    out
}

type Row<T> = (&'static str, &'static str, T);

#[rustfmt::skip]
fn gauges(stats: &Stats) -> [Row<Option<u64>>; 13] {
    let (workers, pool) = (&stats.workers, &stats.pool);
    [
        ("accept_queue_depth", "completed connections that are not accepted yet", stats.accept_queue.depth.map(u64::from)),
        ("accept_queue_limit", "length of that queue", stats.accept_queue.limit.map(u64::from)),
        ("connections_open", "open connections", Some(stats.connections.open)),
        ("connections_max", "open connections at most", Some(stats.connections.max.into())),
        ("workers_active", "threads that carry a request out", Some(workers.active.into())),
        ("workers_size", "threads", Some(workers.size.into())),
        ("workers_max", "threads at most", Some(workers.max.into())),
        ("workers_queued", "requests that wait for a thread", Some(workers.queued)),
        ("workers_queue_max", "requests that may wait", Some(workers.queue_max.into())),
        ("pool_used", "connections to the database in use", Some(pool.used.into())),
        ("pool_size", "connections to the database that are open", Some(pool.size.into())),
        ("pool_max", "connections to the database at most", Some(pool.max.into())),
        ("pool_waiting", "requests that wait for a connection", Some(pool.waiting)),
    ]
}

#[rustfmt::skip]
fn counters(stats: &Stats) -> [Row<u64>; 10] {
    let (connections, workers, pool) = (&stats.connections, &stats.workers, &stats.pool);
    [
        ("connections_accepted", "connections that were accepted", connections.accepted_total),
        ("connections_turned_away", "connections for which there was no room", connections.turned_away_total),
        ("connections_accept_errors", "connections that could not be accepted", connections.accept_errors_total),
        ("connections_bad_requests", "requests that are none", connections.bad_requests_total),
        ("connections_timeouts", "connections without a request in time", connections.timeouts_total),
        ("workers_rejected", "requests that found the queue full", workers.rejected_total),
        ("workers_timeouts", "requests that waited too long for a thread", workers.timeouts_total),
        ("pool_waited", "acquisitions that had to wait", pool.waited_total),
        ("pool_timeouts", "waits for a connection that were given up", pool.timeouts_total),
        ("pool_errors", "connections that the database did not give, or that broke", pool.errors_total),
    ]
}

fn histogram(out: &mut String, name: &str, help: &str, waits: &Waits) {
    // Writing into a string does not fail.
    let _ = write!(
        out,
        "# TYPE target_{name} histogram\n# UNIT target_{name} seconds\n# HELP target_{name} {help}\n"
    );
    let mut below = 0;
    for (class, count) in waits.classes.iter().enumerate().take(CLASSES) {
        below += count;
        let bound = Waits::bound_s(class);
        let _ = writeln!(out, "target_{name}_bucket{{le=\"{bound}\"}} {below}");
    }
    let (count, sum) = (waits.count, waits.sum_ns as f64 / 1e9);
    let _ = write!(
        out,
        "target_{name}_bucket{{le=\"+Inf\"}} {count}\ntarget_{name}_count {count}\ntarget_{name}_sum {sum}\n"
    );
}
