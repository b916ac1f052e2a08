//! `bus`: messages per second between hosts, and their latency.
//!
//! ```text
//! sending host                                   receiving host
//!   message 0, 1, 2 … (batches) ───────────────►  reads what is there, handles each message
//!   ◄──────────── receipt: so many taken            (inline, by other threads, polling)
//!   ◄──────────── response to those that ask
//!      ⋮  as much under way as the window allows
//! ```
//!
//! Messages are framed, in order and never lost as long as their connection lives: what is lost has
//! a broken connection, which is named. The window bounds what is under way, so that latency is
//! that of the path and not that of a queue. It stresses copies, system calls and wake-ups of both
//! hosts; it does not stress a single connection's bulk path, which `stream` does. The generator was
//! the limit when the sending thread used a whole core (`bus.sender_cpu_ratio`) or messages left
//! late although there was room (`bus.late_ratio`).
//!
//! Sources: the terms are those of the message-bus test of a well-known data grid; G. Tene, "How NOT
//! to measure latency", on counting from the intended time.

pub mod amounts;
pub(crate) mod client;
mod course;
mod join;
pub mod options;
mod outgoing;
mod phase;
pub mod protocol;
mod queue;
pub mod record;
mod relay;
mod report;
mod server;
mod single;
pub mod step;
pub mod window;

use sokudo_model::kinds::bus as numbers;
use sokudo_model::{FlowPlan, Kind, PhaseResult, PhaseSpec, Rate, Refusal};
use sokudo_stats::Outcome;
use sokudo_workload::contract::{Emit, Options, Phase};
use sokudo_workload::demand::{Demand, FlowDemand};
use sokudo_workload::flows::numbered;
use sokudo_workload::joined::outcome;
use sokudo_workload::load::{Ends, Load};
use sokudo_workload::sample::Sample;
use sokudo_workload::values::{LoadRate, Span};

pub use options::BusOptions;

/// The message-bus test.
pub struct Bus;

/// Name of the workload.
pub const NAME: &str = numbers::KIND.name;

impl Load for Bus {
    const KIND: &'static Kind = &numbers::KIND;
    type Options = BusOptions;
    type Numbers = join::Numbers;

    fn prepare(
        options: BusOptions,
        spec: PhaseSpec,
        emit: Emit,
    ) -> Result<Box<dyn Phase<Self::Numbers>>, Refusal> {
        Ok(Box::new(phase::BusPhase::prepare(options, spec, emit)?))
    }

    fn become_trial(options: &mut BusOptions, rate_per_s: Option<f64>, duration_ns: u64) {
        options.rate = rate_per_s.map(|rate| LoadRate(Rate::Events(rate)));
        options.count = None;
        options.duration = Some(Span(duration_ns));
    }

    fn demand(options: &BusOptions, spec: &PhaseSpec) -> Demand {
        let (min, max) = (options.size.min.into(), options.size.max.into());
        // Every message may have a receipt; an answer is as long as its message.
        let receipt = protocol::HEADER_BYTES as u64;
        let back = receipt
            + match (options.mode, options.sampled()) {
                (options::Mode::Rr, _) | (_, Sample::All) => max,
                (options::Mode::Stream, Sample::OneIn(many)) => {
                    u64::div_ceil(max, many.get().into())
                }
                (options::Mode::Stream, Sample::None) => 0,
            };
        let rate = options.rate.map(|rate| rate.0);
        let flow = |_: &FlowPlan| FlowDemand::one_way(rate, (min, max), back);
        // A chain passes all of it on over every link.
        match options.relay {
            true => Demand::of_flows(spec, options.duration_ns(), flow),
            false => Demand::of_divided_flows(spec, options.duration_ns(), flow),
        }
    }

    fn outcome(result: &PhaseResult) -> Option<Outcome> {
        outcome(Self::KIND.curve.as_ref()?, numbers::LATE_RATIO, result)
    }

    fn join(options: &BusOptions, ends: Ends<'_, Self::Numbers>) -> PhaseResult {
        join::join(options, &ends)
    }
}

/// Flows among `hosts` hosts, of which number 0 is the one that gives the command. A relay is a
/// chain: each host sends to the one after it.
pub fn flows(hosts: u32, options: &BusOptions) -> Vec<FlowPlan> {
    let mut flows = numbered(options.direction.pairs(hosts), options.tx_threads);
    if options.relay {
        for flow in &mut flows {
            flow.from = flow.to - 1;
        }
    }
    flows
}

#[cfg(test)]
mod tests;
