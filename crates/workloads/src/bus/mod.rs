//! How many messages per second does a bus carry, and how long do they take?
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
pub mod tmb;
pub mod window;

use sokudo_model::{FlowPlan, PhaseResult, PhaseSpec, Rate, Refusal};
use sokudo_stats::Outcome;

use crate::contract::{Descriptor, Emit, HostResult, Phase, Workload};
use crate::datagram;
use crate::refusal::read_options;
use crate::values::{LoadRate, Span};
pub use options::BusOptions;
use options::Direction;

/// The message-bus test.
pub struct Bus;

/// Name of the workload and of its series' source.
pub const NAME: &str = "bus";

/// A thread that sends less than this share of the messages asked for is the limit itself.
const GENERATOR_KEEPS: f64 = 0.97;

const DESCRIPTOR: Descriptor = Descriptor {
    name: NAME,
    question: "how many messages per second does a bus carry, and how long do they take?",
};

impl Workload for Bus {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn prepare(&self, spec: PhaseSpec, emit: Emit) -> Result<Box<dyn Phase>, Refusal> {
        let options: BusOptions = read_options(NAME, &spec.phase.options)?;
        Ok(Box::new(phase::BusPhase::prepare(options, spec, emit)?))
    }

    fn trial(
        &self,
        options: &str,
        rate_per_s: Option<f64>,
        duration_ns: u64,
    ) -> Result<String, Refusal> {
        let mut options: BusOptions = read_options(NAME, options)?;
        options.rate = rate_per_s.map(|rate| LoadRate(Rate::Events(rate)));
        options.count = None;
        options.duration = Some(Span(duration_ns));
        Ok(options.to_json())
    }

    fn outcome(&self, result: &PhaseResult) -> Option<Outcome> {
        let get = |name: &str| result.summary.get(name).copied();
        let delivered = get("bus.messages_per_second")?;
        let asked = get("bus.asked_per_second");
        let late = get("bus.late_ratio").unwrap_or(0.0);
        Some(Outcome {
            offered: asked.unwrap_or(delivered),
            delivered,
            loss: get("bus.error_ratio").unwrap_or(0.0),
            // Late although there was room: it was not the far end that could not do more.
            generator_limited: asked.is_some_and(|asked| delivered < asked * GENERATOR_KEEPS)
                && late > 1.0 - GENERATOR_KEEPS,
        })
    }

    fn join(&self, spec: &PhaseSpec, results: &[HostResult]) -> PhaseResult {
        let options: BusOptions = serde_json::from_str(&spec.phase.options).unwrap_or_default();
        join::join(&options, spec, results)
    }
}

/// Who sends to whom among `hosts` hosts, of which number 0 is the one that gives the command. A
/// relay is a chain: each host sends to the one after it.
pub fn flows(hosts: u32, options: &BusOptions) -> Vec<FlowPlan> {
    let direction = match options.direction {
        Direction::Up => datagram::options::Direction::Up,
        Direction::Down => datagram::options::Direction::Down,
        Direction::Both => datagram::options::Direction::Both,
        Direction::Mesh => datagram::options::Direction::Mesh,
    };
    let mut flows = datagram::flows(hosts, options.tx_threads, direction);
    if options.relay {
        for flow in &mut flows {
            flow.from = flow.to - 1;
        }
    }
    flows
}

#[cfg(test)]
mod tests;
