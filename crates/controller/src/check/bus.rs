//! The bus layer: how many framed messages per second cross between two hosts, and how long they
//! take while they do.

use sokudo_workloads::bus::{self, BusOptions};
use sokudo_workloads::values::Span;

use super::{CheckConfig, OnePhase};
use crate::error::ControlError;
use crate::run::Run;

/// Runs the layer: TCP, 4 KiB, as fast as the window allows.
pub fn run(run: &mut Run, config: &CheckConfig) -> Result<(), ControlError> {
    let duration_ns = config.length_ns();
    let options = BusOptions {
        duration: Some(Span(duration_ns)),
        ..BusOptions::default()
    };
    OnePhase {
        workload: bus::NAME,
        options: options.to_json(),
        flows: bus::flows(2, &options),
        duration_ns,
    }
    .run(run)
}
