//! Metrics of a host's clock against the controller's.

use crate::metric::metrics;

#[rustfmt::skip]
metrics! {
    OFFSET_SECONDS = gauge("clock.offset_seconds", Seconds, "host clock minus controller clock");
    DRIFT_RATIO = gauge("clock.drift_ratio", Ratio, "seconds that the host's clock gains per second of the controller's, by the line through all comparisons");
    DRIFT_ERROR_RATIO = gauge("clock.drift_error_ratio", Ratio, "the drift is right within this");
    ERROR_SECONDS = gauge("clock.error_seconds", Seconds, "half of the smallest round trip: the offset is right within this");
}
