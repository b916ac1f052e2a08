//! Metrics that belong to no workload: hosts, clocks, connections, groups, and sokudo itself.

pub mod clock;
pub mod group;
pub mod host;
pub mod knee;
pub mod mariadb;
pub mod openmetrics;
pub mod own;
pub mod postgres;
pub mod process;
pub mod repeat;
pub mod rrul;
pub mod selftest;
pub mod sweep;
pub mod target;
pub mod tcp;
pub mod versus;

use crate::metric::Metric;

/// The metrics of each source.
pub const SOURCES: &[&[Metric]] = &[
    selftest::METRICS,
    group::METRICS,
    host::METRICS,
    own::METRICS,
    process::METRICS,
    openmetrics::METRICS,
    target::METRICS,
    postgres::METRICS,
    mariadb::METRICS,
    clock::METRICS,
    sweep::METRICS,
    knee::METRICS,
    repeat::METRICS,
    rrul::METRICS,
    tcp::METRICS,
    versus::METRICS,
];
