//! The request/response layer: how long an answer takes between two hosts that do nothing else.

use sokudo_workloads::rr::options::Direction;
use sokudo_workloads::rr::{self, RrOptions};
use sokudo_workloads::values::Span;

use super::{CheckConfig, OnePhase};
use crate::error::ControlError;
use crate::run::Run;

/// Runs the layer: TCP, 64 B, one request at a time, threads that sleep while they wait.
pub fn run(run: &mut Run, config: &CheckConfig) -> Result<(), ControlError> {
    let duration_ns = config.length_ns();
    let mut options = RrOptions::default();
    options.common.duration = Some(Span(duration_ns));
    OnePhase {
        workload: rr::NAME,
        options: options.to_json(),
        flows: rr::flows(2, 1, Direction::Up),
        duration_ns,
    }
    .run(run)
}
