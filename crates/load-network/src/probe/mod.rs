//! `probe`: one-way and round-trip delay of datagrams, and its variation.
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
pub mod notes;
pub mod options;
mod phase;
pub mod protocol;
mod report;
mod server;

use sokudo_model::kinds::probe as numbers;
use sokudo_model::{Kind, PhaseResult, PhaseSpec, Refusal};
use sokudo_stats::Outcome;
use sokudo_workload::contract::{Emit, Options, Phase};
use sokudo_workload::demand::{Demand, FlowDemand};
use sokudo_workload::load::{Ends, Load};
use sokudo_workload::values::Span;

pub use options::ProbeOptions;

/// The two-way probe.
pub struct Probe;

/// Name of the workload.
pub const NAME: &str = numbers::KIND.name;

/// A sender that leaves out more than this share of its probes is the limit itself.
const LEFT_OUT: f64 = 0.03;

impl Load for Probe {
    const KIND: &'static Kind = &numbers::KIND;
    type Options = ProbeOptions;
    type Numbers = join::Numbers;

    fn prepare(
        options: ProbeOptions,
        spec: PhaseSpec,
        emit: Emit,
    ) -> Result<Box<dyn Phase<Self::Numbers>>, Refusal> {
        Ok(Box::new(phase::ProbePhase::prepare(options, spec, emit)?))
    }

    fn become_trial(options: &mut ProbeOptions, rate_per_s: Option<f64>, duration_ns: u64) {
        let every_ns = rate_per_s.map_or(0.0, |rate| 1e9 / rate) as u64;
        options.every = Span(every_ns.max(ProbeOptions::MIN_EVERY_NS));
        options.count = None;
        options.duration = Some(Span(duration_ns));
    }

    fn demand(options: &ProbeOptions, spec: &PhaseSpec) -> Demand {
        let per_s = Some(1e9 / options.every.0.max(1) as f64);
        let size = options.size.0;
        Demand::of_flows(spec, options.duration_ns(), |_| {
            FlowDemand::exchange(1, per_s, size, Some(size))
        })
    }

    fn outcome(result: &PhaseResult) -> Option<Outcome> {
        let summary = &result.summary;
        let sent = numbers::SENT_PACKETS.of(summary)?;
        let unsent = numbers::UNSENT_PACKETS.of(summary).unwrap_or(0.0);
        Some(Outcome {
            offered: numbers::ASKED_PACKETS_PER_SECOND.of(summary)?,
            delivered: numbers::ANSWERED_PACKETS_PER_SECOND.of(summary)?,
            loss: numbers::LOSS_RATIO.of(summary)?,
            generator_limited: unsent > LEFT_OUT * (sent + unsent),
        })
    }

    fn compares_clocks() -> bool {
        true
    }

    fn join(options: &ProbeOptions, ends: Ends<'_, Self::Numbers>) -> PhaseResult {
        join::join(options, &ends)
    }
}

#[cfg(test)]
mod tests;
