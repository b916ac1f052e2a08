//! The bus layer: how many framed messages per second cross between two hosts, and how long they
//! take while they do.

use sokudo_model::{Labels, PhasePlan};
use sokudo_workloads::bus::{self, BusOptions};
use sokudo_workloads::values::Span;

use super::CheckConfig;
use crate::error::ControlError;
use crate::phase::SLACK_NS;
use crate::run::Run;

const SECOND_NS: u64 = 1_000_000_000;

/// Runs the layer: TCP, 4 KiB, as fast as the window allows.
pub fn run(run: &mut Run, config: &CheckConfig) -> Result<(), ControlError> {
    let duration_ns = match config.quick {
        true => SECOND_NS,
        false => 4 * SECOND_NS,
    };
    let options = BusOptions {
        duration: Some(Span(duration_ns)),
        ..BusOptions::default()
    };
    let record = run.run_phase(PhasePlan {
        name: "bus".into(),
        workload: bus::NAME.into(),
        options: options.to_json(),
        flows: bus::flows(2, &options),
        duration_ns,
        bound_ns: duration_ns + SLACK_NS,
        labels: Labels::new(),
    })?;
    run.manifest_mut().summary.extend(record.result.summary);
    Ok(())
}
