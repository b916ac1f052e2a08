//! Metrics of repeated runs. Everything else in the summary is that of the run in the middle, by its rate.

use crate::metric::metrics;

#[rustfmt::skip]
metrics! {
    RUNS = counter("repeat.runs", One, "runs of the measurement");
    FAILED_RUNS = counter("repeat.failed_runs", One, "runs of the measurement that gave no rate");
}
