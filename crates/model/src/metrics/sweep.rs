//! Metrics of a sweep. Everything else in the summary of a swept run is that of the step at its knee.

use crate::metric::metrics;

#[rustfmt::skip]
metrics! {
    STEPS = counter("sweep.steps", One, "steps of the sweep");
    FAILED_STEPS = counter("sweep.failed_steps", One, "steps of the sweep that gave no numbers");
    KNEE_STEP = gauge("sweep.knee_step", One, "number of the step at the knee, by rising load from 1; absent when the range has no knee");
    KNEE_VALUE = gauge("sweep.knee_value", One, "value of the swept option at the knee, in its base unit (events, bits or bytes per second, bytes, nanoseconds)");
}
