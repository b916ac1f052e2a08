//! The bus layer: how many framed messages per second cross between two hosts, and how long they
//! take while they do.

use sokudo_load_network::bus::BusOptions;
use sokudo_workload::Options;
use sokudo_workload::values::Span;

use super::Amount;

/// TCP, 4 KiB, as fast as the window allows.
pub fn options(amount: &Amount) -> String {
    let options = BusOptions {
        duration: Some(Span(amount.duration_ns)),
        ..BusOptions::default()
    };
    options.to_json()
}
