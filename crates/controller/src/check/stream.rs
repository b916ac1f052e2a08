//! The stream layer: how many bytes per second one connection carries between two hosts.

use sokudo_workloads::stream::{self, Direction, StreamOptions};
use sokudo_workloads::values::Span;

use super::{CheckConfig, OnePhase};
use crate::error::ControlError;
use crate::run::Run;

/// Runs the layer: one TCP connection with plain writes.
pub fn run(run: &mut Run, config: &CheckConfig) -> Result<(), ControlError> {
    let duration_ns = config.length_ns();
    let options = StreamOptions {
        duration: Some(Span(duration_ns)),
        ..StreamOptions::default()
    };
    OnePhase {
        workload: stream::NAME,
        options: options.to_json(),
        flows: stream::flows(2, options.streams, Direction::Up),
        duration_ns,
    }
    .run(run)
}
