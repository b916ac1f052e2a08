//! How long does it take to connect, ask once and be answered?
//!
//! ```text
//! asking host                                 answering host
//!   SYN ──────────────────────────────────►
//!   ◄──────────────────────────── SYN ACK       connect
//!   TLS ◄────────────────────────────────►      handshake (--transport tls)
//!   request ──────────────────────────────►
//!   ◄───────────────────────────── response
//!   FIN ──────────────────────────────────►     and all over again
//! ```
//!
//! It stresses the accept queue, connection set-up and tear-down, and the handshake. The asking
//! host keeps each port for a minute after (TIME_WAIT): at some hundred connections per second and
//! more it may run out of ports, which is told apart from other errors (`crr.ports_exhausted`).
//! Everything else is as in [`crate::rr`], from which it takes all but the connecting.

pub(crate) mod client;
pub mod names;
pub mod options;
pub mod protocol;
pub(crate) mod server;

use sokudo_model::{PhaseResult, PhaseSpec, Refusal};
use sokudo_stats::Outcome;
use sokudo_workload::contract::{Descriptor, Emit, HostResult, Options, Phase, Workload};
use sokudo_workload::refusal::read_options;

use crate::rr::join;
use crate::rr::phase::{RrPhase, Variant};

pub use options::CrrOptions;

/// The connect/request/response test.
pub struct Crr;

/// Name of the workload and of its series' source.
pub const NAME: &str = "crr";

/// Requests with a connection each.
const VARIANT: Variant = Variant {
    names: &names::CRR,
    per_request: true,
    ask: client::run,
    answer: server::answer,
};

const DESCRIPTOR: Descriptor = Descriptor {
    name: NAME,
    question: "how long does it take to connect, ask once and be answered?",
};

impl Workload for Crr {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn prepare(&self, spec: PhaseSpec, emit: Emit) -> Result<Box<dyn Phase>, Refusal> {
        let options: CrrOptions = read_options(NAME, &spec.phase.options)?;
        options.validate()?;
        let phase = RrPhase::prepare(&VARIANT, options.as_rr(), spec, emit)?;
        Ok(Box::new(phase))
    }

    fn trial(
        &self,
        options: &str,
        rate_per_s: Option<f64>,
        duration_ns: u64,
    ) -> Result<String, Refusal> {
        let mut options: CrrOptions = read_options(NAME, options)?;
        options.common.become_trial(rate_per_s, duration_ns);
        Ok(options.to_json())
    }

    fn outcome(&self, result: &PhaseResult) -> Option<Outcome> {
        names::CRR.outcome(result)
    }

    fn join(&self, spec: &PhaseSpec, results: &[HostResult]) -> PhaseResult {
        let options: CrrOptions = serde_json::from_str(&spec.phase.options).unwrap_or_default();
        join::join(&names::CRR, &options.as_rr(), spec, results)
    }
}

#[cfg(test)]
mod tests;
