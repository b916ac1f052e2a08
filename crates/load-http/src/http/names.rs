//! What are the numbers of HTTP load called?

use sokudo_workload::exchange::{Looks, Names};

/// Catalogue names of what it shares with `rr`.
pub const HTTP: Names = Names {
    source: "http",
    transactions: "http.requests",
    per_second: "http.requests_per_second",
    latency: "http.latency_seconds",
    latency_p50: "http.latency_p50_seconds",
    latency_p99: "http.latency_p99_seconds",
    error_ratio: "http.error_ratio",
    service: "http.service_seconds",
    round_trip: "http.round_trip_seconds",
    connect: "http.connect_seconds",
    handshake: "http.handshake_seconds",
    looks: Some(Looks {
        failed_per_second: FAILED_PER_SECOND,
    }),
};

/// Failed requests per second, whatever the failure.
pub const FAILED_PER_SECOND: &str = "http.failed_per_second";
/// From the last byte of a request to the first of its response.
pub const WAIT: &str = "http.wait_seconds";
/// From the first byte of a response to its last.
pub const READ: &str = "http.read_seconds";
