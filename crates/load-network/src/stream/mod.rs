//! How many bytes per second does a connection carry, and what holds it back?
//!
//! ```text
//! sender                                             receiver
//!   write · write · write ────── one connection ──────►  read · read · read
//!   end of stream ─────────────────────────────────────►  "that was all": the books are closed
//!   "I wrote N" ─────── over the control plane ────────►  joined: N bytes in, N bytes out
//! ```
//!
//! One flow is one connection with a thread on each end. Both ends count, and the counts must
//! agree to the byte; goodput is what the receiving program got over the receiver's time. Beside
//! the bytes stand what each thread did (on a CPU, without one, waiting for the socket) and the
//! state of TCP on both ends, from which the rules say what was the limit. It stresses the
//! bulk-transfer path: copies, segmentation, congestion and flow control. It does not stress
//! per-message costs or latency. The generator was the limit when the sending thread used a whole
//! core and the write was never blocked.
//!
//! Sources: tcp(7), linux/tcp.h (`tcp_info`), RFC 6349 (framework for TCP throughput testing),
//! R. Jain et al., "A quantitative measure of fairness" (1984).

pub(crate) mod account;
mod carry;
pub(crate) mod client;
pub(crate) mod join;
pub mod options;
pub(crate) mod phase;
pub mod protocol;
pub(crate) mod report;
mod selftest;
pub(crate) mod server;

use sokudo_model::{FlowPlan, PhaseResult, PhaseSpec, Rate, Refusal};
use sokudo_stats::Outcome;
use sokudo_workload::contract::{Descriptor, Emit, HostResult, Options, Phase, Workload};
use sokudo_workload::flows::{Direction, numbered};
use sokudo_workload::joined::GENERATOR_KEEPS;
use sokudo_workload::refusal::read_options;
use sokudo_workload::values::{LoadRate, Span};

pub use options::StreamOptions;

/// The stream test.
pub struct Stream;

/// Name of the workload and of its series' source.
pub const NAME: &str = "stream";

const DESCRIPTOR: Descriptor = Descriptor {
    name: NAME,
    question: "how many bytes per second does a connection carry, and what holds it back?",
};

impl Workload for Stream {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn prepare(&self, spec: PhaseSpec, emit: Emit) -> Result<Box<dyn Phase>, Refusal> {
        let options: StreamOptions = read_options(NAME, &spec.phase.options)?;
        Ok(Box::new(phase::StreamPhase::prepare(options, spec, emit)?))
    }

    /// The rate counts writes of the size asked for.
    fn trial(
        &self,
        options: &str,
        rate_per_s: Option<f64>,
        duration_ns: u64,
    ) -> Result<String, Refusal> {
        let mut options: StreamOptions = read_options(NAME, options)?;
        options.rate = rate_per_s.map(|rate| LoadRate(Rate::Events(rate)));
        options.bytes = None;
        options.duration = Some(Span(duration_ns));
        Ok(options.to_json())
    }

    fn outcome(&self, result: &PhaseResult) -> Option<Outcome> {
        let get = |name: &str| result.summary.get(&format!("stream.{name}")).copied();
        let write_bits = get("write_size_bytes")? * 8.0;
        let delivered = get("goodput_bits_per_second")? / write_bits;
        let offered = get("sent_bits_per_second").unwrap_or(0.0) / write_bits;
        let asked = get("asked_bits_per_second").map(|asked| asked / write_bits);
        let late = get("late_ratio").unwrap_or(0.0);
        let short = |asked: f64| offered < asked * GENERATOR_KEEPS;
        Some(Outcome {
            offered: asked.unwrap_or(offered),
            delivered,
            // Nothing is lost on a stream; what does not fit waits, and is missing in the end.
            loss: asked.map_or(0.0, |asked| (1.0 - delivered / asked).clamp(0.0, 1.0)),
            generator_limited: asked.is_some_and(short) && late > 1.0 - GENERATOR_KEEPS,
        })
    }

    fn join(&self, spec: &PhaseSpec, results: &[HostResult]) -> PhaseResult {
        let options: StreamOptions = serde_json::from_str(&spec.phase.options).unwrap_or_default();
        join::join(&options, spec, results)
    }
}

/// Who sends to whom among `hosts` hosts, of which number 0 is the one that gives the command.
pub fn flows(hosts: u32, streams: u32, direction: Direction) -> Vec<FlowPlan> {
    numbered(direction.pairs(hosts), streams)
}

#[cfg(test)]
mod tests;
