//! The stream layer: how many bytes per second one connection carries between two hosts.

use sokudo_load_network::stream::StreamOptions;
use sokudo_workload::Options;
use sokudo_workload::values::Span;

use super::Amount;

/// One TCP connection with plain writes.
pub fn options(amount: &Amount) -> String {
    let options = StreamOptions {
        duration: Some(Span(amount.duration_ns)),
        ..StreamOptions::default()
    };
    options.to_json()
}
