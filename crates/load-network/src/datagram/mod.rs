//! `datagram`: datagrams per second between hosts, and where the missing ones were lost.
//!
//! ```text
//! sender                                   receiver
//!   datagrams 0, 1, 2, … ────────────────────►  counts, orders, verifies
//!   ◄──────────────────────────── every 5 ms one acknowledgement (round trip)
//!   "I sent N"  ── over the control plane ───►  waits for stragglers, closes the books
//! ```
//!
//! The exchange at the end is what makes loss at the head and at the tail visible, and both ends'
//! numbers are joined into one result in which every missing datagram has a place: refused by the
//! sender's kernel, dropped at the receiving socket, dropped elsewhere in the receiving host, or
//! lost on the path.
//!
//! It stresses the per-packet path of both kernels and everything between. It does not stress
//! connection handling or congestion control. The generator was the limit when the sender's thread
//! used a whole core, or datagrams left late although a rate was asked for: the result says so.
//!
//! Sources: RFC 4737 (reordering), RFC 3550 section 6.4.1 (jitter), RFC 768, udp(7), socket(7).

pub mod acks;
pub mod client;
pub mod join;
pub mod options;
pub mod phase;
pub mod protocol;
pub mod report;
pub mod selftest;
pub mod sequence;
pub mod server;
pub mod stream;

use sokudo_model::kinds::datagram as numbers;
use sokudo_model::{FlowPlan, Kind, PhaseResult, PhaseSpec, Rate, Refusal, Summary};
use sokudo_stats::{Best, First, Outcome};
use sokudo_workload::contract::{Emit, Phase};
use sokudo_workload::demand::Demand;
use sokudo_workload::flows::{Direction, numbered};
use sokudo_workload::joined::{GENERATOR_KEEPS, put};
use sokudo_workload::load::{Ends, Load};

pub use options::DatagramOptions;
use options::{LoadRate, Span};

/// The datagram test.
pub struct Datagram;

/// Name of the workload.
pub const NAME: &str = numbers::KIND.name;

impl Load for Datagram {
    const KIND: &'static Kind = &numbers::KIND;
    type Options = DatagramOptions;
    type Numbers = join::Numbers;

    fn prepare(
        options: DatagramOptions,
        spec: PhaseSpec,
        emit: Emit,
    ) -> Result<Box<dyn Phase<Self::Numbers>>, Refusal> {
        let phase = phase::DatagramPhase::prepare(options, spec, emit)?;
        Ok(Box::new(phase))
    }

    fn become_trial(options: &mut DatagramOptions, rate_per_s: Option<f64>, duration_ns: u64) {
        options.rate = rate_per_s.map(|rate| LoadRate(Rate::Events(rate)));
        options.rate_per_peer = None;
        options.count = None;
        options.duration = Some(Span(duration_ns));
    }

    fn demand(options: &DatagramOptions, spec: &PhaseSpec) -> Demand {
        options.demand(spec)
    }

    fn outcome(result: &PhaseResult) -> Option<Outcome> {
        let summary = &result.summary;
        let offered = numbers::SENT_PACKETS_PER_SECOND.of(summary)?;
        let delivered = numbers::DELIVERED_PACKETS_PER_SECOND.of(summary);
        let asked = numbers::ASKED_PACKETS_PER_SECOND.of(summary);
        Some(Outcome {
            offered,
            delivered: delivered.unwrap_or(0.0),
            loss: numbers::LOSS_RATIO.of(summary).unwrap_or(1.0),
            generator_limited: asked.is_some_and(|asked| offered < asked * GENERATOR_KEEPS),
        })
    }

    /// Datagrams are not answered: without a rate the sender floods.
    fn first() -> First {
        First::Unlimited
    }

    fn best(best: &Best, confirmed: &PhaseResult) -> Summary {
        let bytes = numbers::DELIVERED_BYTES_PER_SECOND.of(&confirmed.summary);
        let mut summary = Summary::new();
        put(&mut summary, numbers::BEST_RATE_BYTES_PER_SECOND, bytes);
        put(
            &mut summary,
            numbers::BEST_RATE_PACKETS_PER_SECOND,
            best.delivered,
        );
        put(&mut summary, numbers::BEST_RATE_LOSS_RATIO, best.loss);
        summary
    }

    fn join(options: &DatagramOptions, ends: Ends<'_, Self::Numbers>) -> PhaseResult {
        join::join(options, &ends)
    }
}

/// Flows among `hosts` hosts, of which number 0 is the one that gives the command.
pub fn flows(hosts: u32, streams: u32, direction: Direction) -> Vec<FlowPlan> {
    numbered(direction.pairs(hosts), streams)
}

#[cfg(test)]
mod tests;
