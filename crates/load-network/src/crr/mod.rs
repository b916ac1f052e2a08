//! `crr`: time to connect, send one request and receive the response.
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
//! more it may run out of ports, which is counted separately from other errors (`crr.ports_exhausted`).
//! Everything else is as in [`crate::rr`], from which it takes all but the connecting.

pub(crate) mod client;
pub mod options;
pub mod protocol;
pub(crate) mod record;
pub(crate) mod server;

use sokudo_model::kinds::crr as numbers;
use sokudo_model::{Kind, PhaseResult, PhaseSpec, Refusal};
use sokudo_workload::contract::{Emit, Options, Phase};
use sokudo_workload::demand::Demand;
use sokudo_workload::load::{Ends, Load};

use crate::rr::join;
use crate::rr::phase::{RrPhase, Variant};
pub use options::CrrOptions;
use record::ConnectDetails;

/// The connect/request/response test.
pub struct Crr;

/// Name of the workload.
pub const NAME: &str = numbers::KIND.name;

/// Requests with a connection each.
const VARIANT: Variant<ConnectDetails> = Variant {
    kind: &numbers::KIND,
    numbers: &numbers::EXCHANGE,
    per_request: true,
    ask: client::run,
    answer: server::answer,
};

impl Load for Crr {
    const KIND: &'static Kind = &numbers::KIND;
    type Options = CrrOptions;
    type Numbers = join::Numbers<ConnectDetails>;

    fn prepare(
        options: CrrOptions,
        spec: PhaseSpec,
        emit: Emit,
    ) -> Result<Box<dyn Phase<Self::Numbers>>, Refusal> {
        options.validate()?;
        let phase = RrPhase::prepare(&VARIANT, options.as_rr(), spec, emit)?;
        Ok(Box::new(phase))
    }

    fn become_trial(options: &mut CrrOptions, rate_per_s: Option<f64>, duration_ns: u64) {
        options.common.become_trial(rate_per_s, duration_ns);
    }

    fn demand(options: &CrrOptions, spec: &PhaseSpec) -> Demand {
        options.as_rr().demand(spec)
    }

    fn join(options: &CrrOptions, ends: Ends<'_, Self::Numbers>) -> PhaseResult {
        join::join(&VARIANT, &options.as_rr(), &ends)
    }
}

#[cfg(test)]
mod tests;
