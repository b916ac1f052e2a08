//! The probe layer: delay each way between two hosts, its variation, and loss each way.

use sokudo_workloads::Options;
use sokudo_workloads::probe::ProbeOptions;
use sokudo_workloads::values::Span;

use super::Amount;

/// A probe every 10 ms while nothing else is sent.
pub fn options(amount: &Amount) -> String {
    let options = ProbeOptions {
        duration: Some(Span(amount.duration_ns)),
        ..ProbeOptions::default()
    };
    options.to_json()
}
