//! The request/response layer: how long an answer takes between two hosts that do nothing else.

use sokudo_model::{Labels, PhasePlan};
use sokudo_workloads::rr::options::Direction;
use sokudo_workloads::rr::{self, RrOptions};
use sokudo_workloads::values::Span;

use super::CheckConfig;
use crate::error::ControlError;
use crate::phase::SLACK_NS;
use crate::run::Run;

const SECOND_NS: u64 = 1_000_000_000;

/// Runs the layer: TCP, 64 B, one request at a time, threads that sleep while they wait.
pub fn run(run: &mut Run, config: &CheckConfig) -> Result<(), ControlError> {
    let duration_ns = match config.quick {
        true => SECOND_NS,
        false => 4 * SECOND_NS,
    };
    let mut options = RrOptions::default();
    options.common.duration = Some(Span(duration_ns));
    let record = run.run_phase(PhasePlan {
        name: "rr".into(),
        workload: rr::NAME.into(),
        options: options.to_json(),
        flows: rr::flows(2, 1, Direction::Up),
        duration_ns,
        bound_ns: duration_ns + SLACK_NS,
        labels: Labels::new(),
    })?;
    run.manifest_mut().summary.extend(record.result.summary);
    Ok(())
}
