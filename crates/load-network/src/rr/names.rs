//! Catalogue names of the numbers of `rr`.

use sokudo_workload::exchange::Names;

/// Names of `rr`.
pub const RR: Names = Names {
    source: "rr",
    transactions: "rr.transactions",
    per_second: "rr.transactions_per_second",
    latency: "rr.latency_seconds",
    latency_p50: "rr.latency_p50_seconds",
    latency_p99: "rr.latency_p99_seconds",
    error_ratio: "rr.error_ratio",
    service: "rr.service_seconds",
    round_trip: "rr.round_trip_seconds",
    connect: "rr.connect_seconds",
    handshake: "rr.handshake_seconds",
    looks: None,
};
