//! The HTTP layer: how many requests per second cross between two hosts, and how long each takes.
//!
//! The answering host runs sokudo's own web server, which does no work beside answering: the layer shows
//! the upper bound that hosts and network set for every application.

use sokudo_load_http::http::HttpOptions;
use sokudo_workload::Options;
use sokudo_workload::values::Span;

use super::Amount;

/// Connections of one pair: enough that one of them never waits for the network alone.
const CONNECTIONS: u32 = 16;

/// HTTP/1.1 in the clear, connections kept, each response starts the next request.
pub fn options(amount: &Amount) -> String {
    let options = HttpOptions {
        connections: CONNECTIONS,
        duration: Some(Span(amount.duration_ns)),
        ..HttpOptions::default()
    };
    options.to_json()
}
