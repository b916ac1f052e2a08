//! `stream`: bytes per second over a connection, and what limits it.
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

use sokudo_model::kinds::stream as numbers;
use sokudo_model::{FlowPlan, Kind, PhaseResult, PhaseSpec, Rate, Refusal};
use sokudo_stats::Outcome;
use sokudo_workload::contract::{Emit, Options, Phase};
use sokudo_workload::demand::{Demand, FlowDemand};
use sokudo_workload::flows::{Direction, numbered};
use sokudo_workload::joined::GENERATOR_KEEPS;
use sokudo_workload::load::{Ends, Load};
use sokudo_workload::values::{LoadRate, Span};

pub use options::StreamOptions;

/// The stream test.
pub struct Stream;

/// Name of the workload.
pub const NAME: &str = numbers::KIND.name;

impl Load for Stream {
    const KIND: &'static Kind = &numbers::KIND;
    type Options = StreamOptions;
    type Numbers = join::Numbers;

    fn prepare(
        options: StreamOptions,
        spec: PhaseSpec,
        emit: Emit,
    ) -> Result<Box<dyn Phase<Self::Numbers>>, Refusal> {
        Ok(Box::new(phase::StreamPhase::prepare(options, spec, emit)?))
    }

    /// The rate counts writes of the size asked for.
    fn become_trial(options: &mut StreamOptions, rate_per_s: Option<f64>, duration_ns: u64) {
        options.rate = rate_per_s.map(|rate| LoadRate(Rate::Events(rate)));
        options.bytes = None;
        options.duration = Some(Span(duration_ns));
    }

    fn demand(options: &StreamOptions, spec: &PhaseSpec) -> Demand {
        let (rate, size) = (options.rate.map(|rate| rate.0), options.size_bytes());
        Demand::of_divided_flows(spec, options.duration_ns(), |_| {
            FlowDemand::one_way(rate, (size, size), 0)
        })
    }

    fn outcome(result: &PhaseResult) -> Option<Outcome> {
        let summary = &result.summary;
        let write_bits = numbers::WRITE_SIZE_BYTES.of(summary)? * 8.0;
        let delivered = numbers::GOODPUT_BITS_PER_SECOND.of(summary)? / write_bits;
        let offered = numbers::SENT_BITS_PER_SECOND.of(summary).unwrap_or(0.0) / write_bits;
        let asked = numbers::ASKED_BITS_PER_SECOND.of(summary);
        let asked = asked.map(|asked| asked / write_bits);
        let late = numbers::LATE_RATIO.of(summary).unwrap_or(0.0);
        let short = |asked: f64| offered < asked * GENERATOR_KEEPS;
        Some(Outcome {
            offered: asked.unwrap_or(offered),
            delivered,
            // Nothing is lost on a stream; what does not fit waits, and is missing in the end.
            loss: asked.map_or(0.0, |asked| (1.0 - delivered / asked).clamp(0.0, 1.0)),
            generator_limited: asked.is_some_and(short) && late > 1.0 - GENERATOR_KEEPS,
        })
    }

    fn join(options: &StreamOptions, ends: Ends<'_, Self::Numbers>) -> PhaseResult {
        join::join(options, &ends)
    }
}

/// Flows among `hosts` hosts, of which number 0 is the one that gives the command.
pub fn flows(hosts: u32, streams: u32, direction: Direction) -> Vec<FlowPlan> {
    numbered(direction.pairs(hosts), streams)
}

#[cfg(test)]
mod tests;
