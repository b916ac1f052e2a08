//! How long does a datagram take, each way, and how evenly?
//!
//! ```text
//! asking host                                  answering host
//!   t1 ● probe n ───────────────────────────►  ● t2   stamped by the kernel where it can
//!      ⋮   every 10 ms, whatever comes back     ⋮     turn-around t3 − t2
//!   t4 ● ◄─────────────────────────── answer n ● t3
//!
//!   round trip  (t4 − t1) − (t3 − t2)           one clock each: no clock error
//!   one way     t2 − t1 and t4 − t3             two clocks: right within the clock error, or not shown
//! ```
//!
//! It shows what regular, thin traffic feels: delay, its variation, and loss, each way apart. It does
//! not stress anything, and it does not show what load would do. The generator was the limit when
//! probes were left out (`probe.unsent_packets`) or left late (`probe.timer_error_seconds`).
//!
//! Sources: RFC 2679 and 7679 (one-way delay), RFC 3393 (variation), RFC 3550 section 6.4.1 (jitter).

mod client;
pub mod delay;
mod join;
pub mod names;
pub mod notes;
pub mod options;
mod phase;
pub mod protocol;
mod report;
mod server;

use sokudo_model::units::Rate;
use sokudo_model::{PhaseResult, PhaseSpec, Refusal};
use sokudo_stats::Outcome;
use sokudo_workload::contract::{Descriptor, Emit, HostResult, Options, Phase, Workload};
use sokudo_workload::refusal::read_options;
use sokudo_workload::values::Span;

pub use options::ProbeOptions;

/// The two-way probe.
pub struct Probe;

/// Name of the workload and of its series' source.
pub const NAME: &str = "probe";

/// A sender that leaves out more than this share of its probes is the limit itself.
const LEFT_OUT: f64 = 0.03;

const DESCRIPTOR: Descriptor = Descriptor {
    name: NAME,
    question: "how long does a datagram take, each way, and how evenly?",
};

impl Workload for Probe {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn prepare(&self, spec: PhaseSpec, emit: Emit) -> Result<Box<dyn Phase>, Refusal> {
        let options: ProbeOptions = read_options(NAME, &spec.phase.options)?;
        Ok(Box::new(phase::ProbePhase::prepare(options, spec, emit)?))
    }

    fn rate(&self, options: &str) -> Option<Rate> {
        let options: ProbeOptions = read_options(NAME, options).ok()?;
        Some(Rate::Events(1e9 / options.every.0.max(1) as f64))
    }

    fn trial(
        &self,
        options: &str,
        rate_per_s: Option<f64>,
        duration_ns: u64,
    ) -> Result<String, Refusal> {
        let mut options: ProbeOptions = read_options(NAME, options)?;
        let every_ns = rate_per_s.map_or(0.0, |rate| 1e9 / rate) as u64;
        options.every = Span(every_ns.max(ProbeOptions::MIN_EVERY_NS));
        options.count = None;
        options.duration = Some(Span(duration_ns));
        options.validate()?;
        Ok(options.to_json())
    }

    fn outcome(&self, result: &PhaseResult) -> Option<Outcome> {
        let get = |what: &str| result.summary.get(&format!("{NAME}.{what}")).copied();
        let sent = get("sent_packets")?;
        let unsent = get("unsent_packets").unwrap_or(0.0);
        Some(Outcome {
            offered: get("asked_packets_per_second")?,
            delivered: get("answered_packets_per_second")?,
            loss: get("loss_ratio")?,
            generator_limited: unsent > LEFT_OUT * (sent + unsent),
        })
    }

    fn compares_clocks(&self) -> bool {
        true
    }

    fn join(&self, spec: &PhaseSpec, results: &[HostResult]) -> PhaseResult {
        let options: ProbeOptions = serde_json::from_str(&spec.phase.options).unwrap_or_default();
        join::join(&options, spec, results)
    }
}

#[cfg(test)]
mod tests;
