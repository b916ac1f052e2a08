//! The 95th percentile, which people of web servers ask for beside those of every load.

use sokudo_model::{Metric, Summary};
use sokudo_stats::Histogram;
use sokudo_workload::joined::{NS, put_named};

/// Puts the 95th percentile over several distributions.
pub(crate) fn put_p95<'a>(
    summary: &mut Summary,
    metric: Metric,
    each: impl Iterator<Item = &'a Histogram>,
) {
    let mut all = Histogram::new();
    each.for_each(|one| all.merge(one));
    let p95 = (!all.is_empty()).then(|| all.quantile(0.95) as f64 * NS);
    put_named(summary, format!("{metric}.p95"), p95);
}
