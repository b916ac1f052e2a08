//! `http`: requests per second that a web server answers, and their latency.
//!
//! ```text
//! this host (event loops)                     any server of HTTP/1.1 or HTTP/2
//!   connect, TLS, request ───────────────────►
//!   ◄─────────────────────────────── response   closed loop: it starts the next request
//!   request ─────────────────────────────────►  open loop (--rate): when its time has come
//! ```
//!
//! The server needs nothing of ours; between two hosts of a run, one of them is a small server itself. Each request's time is taken apart into waiting for a free
//! connection, resolving, connecting, TLS, sending, waiting for the first byte, and reading. It
//! stresses whatever stands behind the URL, and always the same thing: a cache sees one key, a
//! database one row. The generator was the limit when its event loop used a whole core
//! (`http.client_cpu_ratio`) or requests left late although a connection was free
//! (`http.late_starts`).
//!
//! With HTTP/2 many requests share a connection; its own limits are then shared as well.
//!
//! Sources: RFC 9110, 9112 and 9113; G. Tene, "How NOT to measure latency" (coordinated omission).

mod arrivals;
mod client;
mod course;
mod join;
pub mod options;
mod peer;
mod phase;
mod record;
mod request;
pub mod url;

use sokudo_model::kinds::http as numbers;
use sokudo_model::{FlowPlan, Kind, PhaseResult, PhaseSpec, Refusal};
use sokudo_workload::contract::{Emit, Options, Phase};
use sokudo_workload::demand::{Demand, FlowDemand};
use sokudo_workload::flows::{loaders, numbered, share};
use sokudo_workload::load::{Ends, Load};

pub(crate) use client::stages;
pub use options::HttpOptions;

/// Load on a web server.
pub struct Http;

/// Name of the workload and of its series' source.
pub const NAME: &str = numbers::KIND.name;

impl Load for Http {
    const KIND: &'static Kind = &numbers::KIND;
    type Options = HttpOptions;
    type Numbers = join::Numbers;

    fn prepare(
        options: HttpOptions,
        spec: PhaseSpec,
        emit: Emit,
    ) -> Result<Box<dyn Phase<Self::Numbers>>, Refusal> {
        Ok(Box::new(phase::HttpPhase::prepare(options, spec, emit)?))
    }

    fn become_trial(options: &mut HttpOptions, rate_per_s: Option<f64>, duration_ns: u64) {
        options.become_trial(rate_per_s, duration_ns);
    }

    fn demand(options: &HttpOptions, spec: &PhaseSpec) -> Demand {
        let loops = spec.phase.flows.len().max(1) as u64;
        let per_s = options.requests_per_s().map(|rate| rate / loops as f64);
        let request = options.request().len() as u64;
        Demand::of_flows(spec, options.duration_ns(), |flow| {
            let is_peer = flow.from != flow.to;
            // A server elsewhere answers what it likes.
            let answer = is_peer.then_some(peer::ANSWER_BYTES);
            let request = request + if is_peer { peer::REQUEST_BYTES } else { 0 };
            let own = share(options.connections.into(), flow.id.into(), loops);
            FlowDemand::exchange(own, per_s, request, answer)
        })
    }

    fn join(options: &HttpOptions, ends: Ends<'_, Self::Numbers>) -> PhaseResult {
        join::join(options, &ends)
    }
}

/// One flow per event loop: from the host that gives the command when it is alone, else from all
/// the others.
pub fn flows(hosts: u32, threads: u32) -> Vec<FlowPlan> {
    numbered(loaders(hosts).map(|host| (host, host)), threads)
}

#[cfg(test)]
mod tests;
