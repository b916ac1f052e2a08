//! Loads between hosts of a run: datagrams, requests and answers, streams, messages, path probes.
//!
//! One folder per workload; [`REGISTRY`] lists them.

pub mod bus;
mod choices;
pub mod crr;
pub mod datagram;
pub mod dns;
pub mod probe;
pub mod rr;
pub mod stream;

use sokudo_workload::Workload;

/// The loads of this family.
///
/// A static, so that what a load is to its callers is compiled here, beside the load.
pub static REGISTRY: &[&dyn Workload] = &[
    &bus::Bus,
    &crr::Crr,
    &datagram::Datagram,
    &dns::Dns,
    &probe::Probe,
    &rr::Rr,
    &stream::Stream,
];
