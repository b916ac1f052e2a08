//! The stream layer: how many bytes per second one connection carries between two hosts.

use sokudo_model::{Labels, PhasePlan};
use sokudo_workloads::stream::{self, Direction, StreamOptions};
use sokudo_workloads::values::Span;

use super::CheckConfig;
use crate::error::ControlError;
use crate::phase::SLACK_NS;
use crate::run::Run;

const SECOND_NS: u64 = 1_000_000_000;

/// Runs the layer: one TCP connection with plain writes.
pub fn run(run: &mut Run, config: &CheckConfig) -> Result<(), ControlError> {
    let duration_ns = match config.quick {
        true => SECOND_NS,
        false => 4 * SECOND_NS,
    };
    let options = StreamOptions {
        duration: Some(Span(duration_ns)),
        ..StreamOptions::default()
    };
    let record = run.run_phase(PhasePlan {
        name: "stream".into(),
        workload: stream::NAME.into(),
        options: options.to_json(),
        flows: stream::flows(2, options.streams, Direction::Up),
        duration_ns,
        bound_ns: duration_ns + SLACK_NS,
        labels: Labels::new(),
    })?;
    run.manifest_mut().summary.extend(record.result.summary);
    Ok(())
}
