//! The bus layer: how many framed messages per second cross between two hosts, and how long they
//! take while they do.

use sokudo_workloads::Options;
use sokudo_workloads::bus::BusOptions;
use sokudo_workloads::values::Span;

use super::Amount;

/// TCP, 4 KiB, as fast as the window allows.
pub fn options(amount: &Amount) -> String {
    let options = BusOptions {
        duration: Some(Span(amount.duration_ns)),
        ..BusOptions::default()
    };
    options.to_json()
}
