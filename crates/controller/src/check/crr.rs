//! The connect/request/response layer: how many connections per second two hosts make and end.

use sokudo_load_network::crr::CrrOptions;
use sokudo_workload::Options;
use sokudo_workload::values::Span;

use super::Amount;

/// TCP, 64 B, one connection after the other.
pub fn options(amount: &Amount) -> String {
    let mut options = CrrOptions::default();
    options.common.duration = Some(Span(amount.duration_ns));
    options.to_json()
}
