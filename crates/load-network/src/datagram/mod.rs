//! How many datagrams per second get from here to there, and where are the others lost?
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

use sokudo_model::{FlowPlan, PhaseResult, PhaseSpec, Rate, Refusal, Summary};
use sokudo_stats::{Best, First, Outcome};
use sokudo_workload::contract::{Descriptor, Emit, HostResult, Options, Phase, Workload};
use sokudo_workload::flows::{Pair, both, down, mesh, mesh_self, numbered, up};
use sokudo_workload::joined::GENERATOR_KEEPS;
use sokudo_workload::refusal::read_options;

pub use options::DatagramOptions;
use options::{Direction, LoadRate, Span};

/// The datagram test.
pub struct Datagram;

/// Name of the workload and of its series' source.
pub const NAME: &str = "datagram";

const DESCRIPTOR: Descriptor = Descriptor {
    name: NAME,
    question: "how many datagrams per second get from here to there, and where are the others lost?",
};

impl Workload for Datagram {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn prepare(&self, spec: PhaseSpec, emit: Emit) -> Result<Box<dyn Phase>, Refusal> {
        let options: DatagramOptions = read_options(NAME, &spec.phase.options)?;
        let phase = phase::DatagramPhase::prepare(options, spec, emit)?;
        Ok(Box::new(phase))
    }

    fn trial(
        &self,
        options: &str,
        rate_per_s: Option<f64>,
        duration_ns: u64,
    ) -> Result<String, Refusal> {
        let mut options: DatagramOptions = read_options(NAME, options)?;
        options.rate = rate_per_s.map(|rate| LoadRate(Rate::Events(rate)));
        options.rate_per_peer = None;
        options.count = None;
        options.duration = Some(Span(duration_ns));
        Ok(options.to_json())
    }

    fn outcome(&self, result: &PhaseResult) -> Option<Outcome> {
        let get = |name: &str| result.summary.get(name).copied();
        let offered = get("datagram.sent_packets_per_second")?;
        let asked = get("datagram.asked_packets_per_second");
        Some(Outcome {
            offered,
            delivered: get("datagram.delivered_packets_per_second").unwrap_or(0.0),
            loss: get("datagram.loss_ratio").unwrap_or(1.0),
            generator_limited: asked.is_some_and(|asked| offered < asked * GENERATOR_KEEPS),
        })
    }

    /// Nobody answers a datagram: without a rate the sender floods.
    fn first(&self) -> First {
        First::Unlimited
    }

    fn best(&self, best: &Best, confirmed: &PhaseResult) -> Summary {
        let bytes = "datagram.delivered_bytes_per_second";
        let bytes = confirmed.summary.get(bytes).copied();
        let bytes = bytes.map(|bytes| ("datagram.best_rate_bytes_per_second", bytes));
        let rest = [
            ("datagram.best_rate_packets_per_second", best.delivered),
            ("datagram.best_rate_loss_ratio", best.loss),
        ];
        let all = bytes.into_iter().chain(rest);
        all.map(|(name, value)| (name.to_owned(), value)).collect()
    }

    fn join(&self, spec: &PhaseSpec, results: &[HostResult]) -> PhaseResult {
        join::join(spec, results)
    }
}

/// Who sends to whom among `hosts` hosts, of which number 0 is the one that gives the command.
pub fn flows(hosts: u32, streams: u32, direction: Direction) -> Vec<FlowPlan> {
    let pairs: Vec<Pair> = match direction {
        Direction::Up => up(hosts).collect(),
        Direction::Down => down(hosts).collect(),
        Direction::Both => both(hosts).collect(),
        Direction::Mesh => mesh(hosts).collect(),
        Direction::MeshSelf => mesh_self(hosts).collect(),
    };
    numbered(pairs, streams)
}

#[cfg(test)]
mod tests;
