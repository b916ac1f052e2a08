//! The request/response layer: how long an answer takes between two hosts that do nothing else.

use sokudo_load_network::rr::RrOptions;
use sokudo_workload::Options;
use sokudo_workload::values::Span;

use super::Amount;

/// TCP, 64 B, one request at a time, threads that sleep while they wait.
pub fn options(amount: &Amount) -> String {
    let mut options = RrOptions::default();
    options.common.duration = Some(Span(amount.duration_ns));
    options.to_json()
}
