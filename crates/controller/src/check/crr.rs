//! The connect/request/response layer: how many connections per second two hosts make and end.

use sokudo_workloads::crr::{self, CrrOptions};
use sokudo_workloads::rr;
use sokudo_workloads::rr::options::Direction;
use sokudo_workloads::values::Span;

use super::{CheckConfig, OnePhase};
use crate::error::ControlError;
use crate::run::Run;

/// Runs the layer: TCP, 64 B, one connection after the other.
pub fn run(run: &mut Run, config: &CheckConfig) -> Result<(), ControlError> {
    let duration_ns = config.length_ns();
    let mut options = CrrOptions::default();
    options.common.duration = Some(Span(duration_ns));
    OnePhase {
        workload: crr::NAME,
        options: options.to_json(),
        flows: rr::flows(2, 1, Direction::Up),
        duration_ns,
    }
    .run(run)
}
