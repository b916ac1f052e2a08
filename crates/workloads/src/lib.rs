//! The registry of all kinds of load.
//!
//! Each is one folder in a crate of its family and one line in [`REGISTRY`].

pub mod together;

use sokudo_load_http::{http, jmx};
use sokudo_load_network::{bus, crr, datagram, probe, rr, stream};
use sokudo_workload::Workload;

/// Every workload, in alphabetical order.
pub const REGISTRY: &[&dyn Workload] = &[
    &bus::Bus,
    &crr::Crr,
    &datagram::Datagram,
    &http::Http,
    &jmx::Jmx,
    &probe::Probe,
    &rr::Rr,
    &stream::Stream,
    &together::Together,
];

/// Looks a workload up by its name.
pub fn find(name: &str) -> Option<&'static dyn Workload> {
    REGISTRY
        .iter()
        .copied()
        .find(|workload| workload.descriptor().name == name)
}
