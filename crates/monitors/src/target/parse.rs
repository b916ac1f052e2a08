//! Which sample of the admin port becomes which metric.

use sokudo_model::metric::Metric;
use sokudo_model::metrics::target;

use crate::openmetrics::Exposition;

/// How a value comes about.
#[derive(Debug, Clone, Copy)]
pub(super) enum Value {
    /// The sample of this name.
    Now(&'static str),
    /// Growth of a counter since the first answer.
    Grown(&'static str),
    /// Growth of a counter per second since the last answer.
    Rate(&'static str),
    /// Mean of the new values of a histogram: growth of its sum over growth of its count.
    Mean(&'static str, &'static str),
}

/// Everything that is read, in the order in which it is emitted.
#[rustfmt::skip]
pub(super) const VALUES: &[(Metric, Value)] = &[
    (target::ACCEPT_QUEUE_DEPTH, Value::Now("target_accept_queue_depth")),
    (target::ACCEPT_QUEUE_LIMIT, Value::Now("target_accept_queue_limit")),
    (target::CONNECTIONS_OPEN, Value::Now("target_connections_open")),
    (target::CONNECTIONS_MAX, Value::Now("target_connections_max")),
    (target::CONNECTIONS_TURNED_AWAY, Value::Grown("target_connections_turned_away_total")),
    (target::CONNECTIONS_ACCEPT_ERRORS, Value::Grown("target_connections_accept_errors_total")),
    (target::WORKERS_ACTIVE, Value::Now("target_workers_active")),
    (target::WORKERS_SIZE, Value::Now("target_workers_size")),
    (target::WORKERS_MAX, Value::Now("target_workers_max")),
    (target::WORKERS_QUEUED, Value::Now("target_workers_queued")),
    (target::WORKERS_REJECTED, Value::Grown("target_workers_rejected_total")),
    (target::WORKERS_TIMEOUTS, Value::Grown("target_workers_timeouts_total")),
    (target::WORKERS_WAIT_SECONDS_MEAN, Value::Mean("target_workers_wait_seconds_sum", "target_workers_wait_seconds_count")),
    (target::WORKERS_SERVICE_SECONDS_MEAN, Value::Mean("target_workers_service_seconds_sum", "target_workers_service_seconds_count")),
    (target::WORKERS_DONE_PER_SECOND, Value::Rate("target_workers_service_seconds_count")),
    (target::POOL_USED, Value::Now("target_pool_used")),
    (target::POOL_SIZE, Value::Now("target_pool_size")),
    (target::POOL_MAX, Value::Now("target_pool_max")),
    (target::POOL_WAITING, Value::Now("target_pool_waiting")),
    (target::POOL_TIMEOUTS, Value::Grown("target_pool_timeouts_total")),
    (target::POOL_ERRORS, Value::Grown("target_pool_errors_total")),
    (target::POOL_WAIT_SECONDS_MEAN, Value::Mean("target_pool_wait_seconds_sum", "target_pool_wait_seconds_count")),
    (target::POOL_HOLD_SECONDS_MEAN, Value::Mean("target_pool_hold_seconds_sum", "target_pool_hold_seconds_count")),
];

/// Reads one answer after the other.
#[derive(Default)]
pub(super) struct Reader {
    first: Option<Exposition>,
    last: Option<(i64, Exposition)>,
}

impl Reader {
    /// Values of [`VALUES`]; what cannot be said, or not yet, is missing.
    pub(super) fn take(&mut self, t_ns: i64, read: &Exposition) -> Vec<Option<f64>> {
        let first = self.first.get_or_insert_with(|| read.clone());
        // What has become less began anew: the target was started again.
        let began_anew = |name: &str| read.sum(name) < first.sum(name);
        if VALUES
            .iter()
            .any(|(_, value)| matches!(value, Value::Grown(name) if began_anew(name)))
        {
            *first = read.clone();
            self.last = None;
        }
        let last = self.last.as_ref();
        let values = VALUES.iter().map(|(_, value)| match *value {
            Value::Now(name) => read.sum(name),
            Value::Grown(name) => Some(read.sum(name)? - first.sum(name)?),
            Value::Rate(name) => {
                let (then_ns, before) = last?;
                let seconds = (t_ns - then_ns) as f64 / 1e9;
                let growth = growth(name, before, read)?;
                (seconds > 0.0).then(|| growth / seconds)
            }
            Value::Mean(sum, count) => {
                let (_, before) = last?;
                let (sum, count) = (growth(sum, before, read)?, growth(count, before, read)?);
                (count > 0.0).then(|| sum / count)
            }
        });
        let values = values.collect();
        self.last = Some((t_ns, read.clone()));
        values
    }
}

/// Growth of a counter; `None` when it became less, as that of a target that was started again.
fn growth(name: &str, before: &Exposition, now: &Exposition) -> Option<f64> {
    let growth = now.sum(name)? - before.sum(name)?;
    (growth >= 0.0).then_some(growth)
}
