//! Which kinds of load are there?
//!
//! One folder per workload and one line in [`REGISTRY`]. A workload emits samples and never
//! prints; it knows neither monitors nor reports.

pub mod bus;
pub mod contract;
mod crew;
pub mod crr;
pub mod datagram;
mod effort;
pub mod flows;
mod histogram_text;
pub mod http;
mod joined;
mod link;
pub mod load;
mod meet;
mod patience;
mod place;
pub mod probe;
mod refusal;
pub mod reporting;
pub mod rr;
pub mod sample;
pub mod stream;
mod tcp_state;
mod times;
pub mod together;
pub mod values;

pub use contract::{Descriptor, Emit, Emitted, HostResult, Options, Phase, Workload};

/// Every workload, in alphabetical order.
pub const REGISTRY: &[&dyn Workload] = &[
    &bus::Bus,
    &crr::Crr,
    &datagram::Datagram,
    &http::Http,
    &load::Load,
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
