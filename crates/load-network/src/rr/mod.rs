//! How long does an answer take, and how many requests per second get one?
//!
//! ```text
//! asking host                                 answering host
//!   request 0 ──────────────────────────────►   reads it whole, answers at once
//!   ◄──────────────────────────── response 0
//!   request 1 ───────────────────────────►       one thread per flow on both ends
//!      ⋮   closed loop: when the one before is answered
//!          open loop (--rate): when its time has come
//! ```
//!
//! Every round trip is recorded. With a rate, *latency* counts from the intended start of a request
//! and *service* from its real one: only the first shows what a stall costs those who would have
//! asked meanwhile. It stresses wake-ups, system calls and the per-packet path of both hosts. It
//! does not stress bulk transfer. The generator was the limit when requests left late although
//! there was room for them (`rr.late_ratio`), or when the asking thread used a whole core.
//!
//! Sources: G. Tene, "How NOT to measure latency" (coordinated omission); tcp(7) on TCP_NODELAY.

pub mod client;
pub(crate) mod join;
pub(crate) mod many;
pub mod names;
pub mod options;
pub(crate) mod phase;
pub mod protocol;
pub mod server;

use sokudo_model::{FlowPlan, PhaseResult, PhaseSpec, Refusal};
use sokudo_stats::Outcome;
use sokudo_workload::contract::{Descriptor, Emit, HostResult, Options, Phase, Workload};
use sokudo_workload::flows::{Pair, mesh, numbered, up};
use sokudo_workload::refusal::read_options;

use options::Direction;
pub use options::{CommonOptions, RrOptions};
use phase::{RrPhase, Variant};

/// The request/response test.
pub struct Rr;

/// Name of the workload and of its series' source.
pub const NAME: &str = "rr";

/// Requests over connections that were made before the load.
const VARIANT: Variant = Variant {
    names: &names::RR,
    per_request: false,
    ask: client::run,
    answer: server::Loop::answer_all,
};

const DESCRIPTOR: Descriptor = Descriptor {
    name: NAME,
    question: "how long does an answer take, and how many requests per second get one?",
};

impl Workload for Rr {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn prepare(&self, spec: PhaseSpec, emit: Emit) -> Result<Box<dyn Phase>, Refusal> {
        let options: RrOptions = read_options(NAME, &spec.phase.options)?;
        let phase = RrPhase::prepare(&VARIANT, options, spec, emit)?;
        Ok(Box::new(phase))
    }

    fn trial(
        &self,
        options: &str,
        rate_per_s: Option<f64>,
        duration_ns: u64,
    ) -> Result<String, Refusal> {
        let mut options: RrOptions = read_options(NAME, options)?;
        options.common.become_trial(rate_per_s, duration_ns);
        Ok(options.to_json())
    }

    fn outcome(&self, result: &PhaseResult) -> Option<Outcome> {
        names::RR.outcome(result)
    }

    fn join(&self, spec: &PhaseSpec, results: &[HostResult]) -> PhaseResult {
        let options: RrOptions = serde_json::from_str(&spec.phase.options).unwrap_or_default();
        join::join(&names::RR, &options, spec, results)
    }
}

/// Who asks whom among `hosts` hosts, of which number 0 is the one that gives the command.
pub fn flows(hosts: u32, threads: u32, direction: Direction) -> Vec<FlowPlan> {
    let pairs: Vec<Pair> = match direction {
        Direction::Up => up(hosts).collect(),
        Direction::Mesh => mesh(hosts).collect(),
    };
    numbered(pairs, threads)
}

#[cfg(test)]
mod tests;
