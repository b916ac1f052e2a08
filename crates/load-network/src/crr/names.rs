//! Catalogue names of the numbers of `crr`.

use sokudo_workload::exchange::Names;

/// Names of `crr`.
pub const CRR: Names = Names {
    source: "crr",
    transactions: "crr.connections",
    per_second: "crr.connections_per_second",
    latency: "crr.latency_seconds",
    latency_p50: "crr.latency_p50_seconds",
    latency_p99: "crr.latency_p99_seconds",
    error_ratio: "crr.error_ratio",
    service: "crr.service_seconds",
    round_trip: "crr.round_trip_seconds",
    connect: "crr.connect_seconds",
    handshake: "crr.handshake_seconds",
    looks: None,
};
