//! Metrics of scrapes (`--monitor openmetrics`); label endpoint. What the endpoint returns is under
//! [`crate::metric::SCRAPED`].

use crate::metric::metrics;

#[rustfmt::skip]
metrics! {
    UP = gauge("openmetrics.up", One, "1 when the endpoint answered with metrics, 0 when it did not");
    SCRAPE_SECONDS = gauge("openmetrics.scrape_seconds", Seconds, "time until the endpoint had answered, or was given up");
    SAMPLES = gauge("openmetrics.samples", One, "samples in the endpoint's answer");
    LEFT_OUT_SAMPLES = gauge("openmetrics.left_out_samples", One, "samples of the answer that found no room among the series");
}
