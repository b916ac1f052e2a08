//! The probe layer: delay each way between two hosts, its variation, and loss each way.

use sokudo_workloads::probe::{self, ProbeOptions};
use sokudo_workloads::rr;
use sokudo_workloads::rr::options::Direction;
use sokudo_workloads::values::Span;

use super::{CheckConfig, OnePhase};
use crate::error::ControlError;
use crate::run::Run;

/// Runs the layer: a probe every 10 ms while nothing else is sent.
pub fn run(run: &mut Run, config: &CheckConfig) -> Result<(), ControlError> {
    let duration_ns = config.length_ns();
    let options = ProbeOptions {
        duration: Some(Span(duration_ns)),
        ..ProbeOptions::default()
    };
    OnePhase {
        workload: probe::NAME,
        options: options.to_json(),
        flows: rr::flows(2, 1, Direction::Up),
        duration_ns,
    }
    .run(run)
}
