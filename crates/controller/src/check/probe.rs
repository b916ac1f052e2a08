//! The probe layer: delay each way between two hosts, its variation, and loss each way.

use sokudo_load_network::probe::ProbeOptions;
use sokudo_workload::Options;
use sokudo_workload::values::Span;

use super::Amount;

/// A probe every 10 ms while nothing else is sent.
pub fn options(amount: &Amount) -> String {
    let options = ProbeOptions {
        duration: Some(Span(amount.duration_ns)),
        ..ProbeOptions::default()
    };
    options.to_json()
}
