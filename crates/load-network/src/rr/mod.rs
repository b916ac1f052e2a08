//! `rr`: latency of requests over kept connections, and requests per second.
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
pub mod options;
pub(crate) mod phase;
pub mod protocol;
pub mod server;

use sokudo_model::kinds::rr as numbers;
use sokudo_model::{FlowPlan, Kind, PhaseResult, PhaseSpec, Refusal};
use sokudo_workload::contract::{Emit, Phase};
use sokudo_workload::demand::Demand;
use sokudo_workload::flows::{Direction, numbered};
use sokudo_workload::load::{Ends, Load};

pub use options::{CommonOptions, RrOptions};
use phase::{RrPhase, Variant};

/// The request/response test.
pub struct Rr;

/// Name of the workload.
pub const NAME: &str = numbers::KIND.name;

/// Requests over connections that were made before the load.
const VARIANT: Variant<()> = Variant {
    kind: &numbers::KIND,
    numbers: &numbers::EXCHANGE,
    per_request: false,
    ask: client::run,
    answer: server::Loop::answer_all,
};

impl Load for Rr {
    const KIND: &'static Kind = &numbers::KIND;
    type Options = RrOptions;
    type Numbers = join::Numbers<()>;

    fn prepare(
        options: RrOptions,
        spec: PhaseSpec,
        emit: Emit,
    ) -> Result<Box<dyn Phase<Self::Numbers>>, Refusal> {
        Ok(Box::new(RrPhase::prepare(&VARIANT, options, spec, emit)?))
    }

    fn become_trial(options: &mut RrOptions, rate_per_s: Option<f64>, duration_ns: u64) {
        options.common.become_trial(rate_per_s, duration_ns);
    }

    fn demand(options: &RrOptions, spec: &PhaseSpec) -> Demand {
        options.demand(spec)
    }

    fn join(options: &RrOptions, ends: Ends<'_, Self::Numbers>) -> PhaseResult {
        join::join(&VARIANT, options, &ends)
    }
}

/// Flows among `hosts` hosts, of which number 0 is the one that gives the command; the sender asks.
pub fn flows(hosts: u32, threads: u32, direction: Direction) -> Vec<FlowPlan> {
    numbered(direction.pairs(hosts), threads)
}

#[cfg(test)]
mod tests;
