//! Load on a name server: queries per second and the time until their responses.
//!
//! ```text
//! this host (one thread: an event loop)        any server of DNS over UDP or TCP
//!   query 17 ─────────────────────────────────►
//!   query 18 ─────────────────────────────────►  --window of them unanswered on each of
//!   ◄──────────────────────────── response 18    --connections sockets
//!   ◄──────────────────────────── response 17    closed loop: each response starts a query
//!      ⋮                                          open loop (--rate): when its time has come
//! ```
//!
//! The server needs nothing of ours. A response counts when it has the number of a query under way on
//! the same socket and repeats its question; the response codes are counted apart. A query without a
//! response within --timeout is an error, and so is a loss on the way: over UDP both look the same.
//! Nothing is asked twice. The generator was the limit when queries left late although there was room
//! for them (`dns.late_ratio`), or when its thread used a whole core (`dns.client_cpu_ratio`).
//!
//! Sources: RFC 1035 (messages), 6891 (EDNS), 7766 (many queries on one TCP connection); dnsperf(1)
//! for the file of queries.

pub(crate) mod client;
pub(crate) mod dial;
pub(crate) mod join;
pub mod options;
pub(crate) mod phase;
pub mod queries;
pub(crate) mod record;
pub(crate) mod socket;

use sokudo_model::kinds::dns as numbers;
use sokudo_model::{Kind, PhaseResult, PhaseSpec, Refusal};
use sokudo_workload::contract::{Emit, Options, Phase};
use sokudo_workload::demand::{Demand, FlowDemand};
use sokudo_workload::flows::share;
use sokudo_workload::load::{Ends, Load};

pub use options::DnsOptions;

/// Load on a name server.
pub struct Dns;

/// Name of the workload and of its series' source.
pub const NAME: &str = numbers::KIND.name;

impl Load for Dns {
    const KIND: &'static Kind = &numbers::KIND;
    type Options = DnsOptions;
    type Numbers = join::Numbers;

    fn prepare(
        options: DnsOptions,
        spec: PhaseSpec,
        emit: Emit,
    ) -> Result<Box<dyn Phase<Self::Numbers>>, Refusal> {
        Ok(Box::new(phase::DnsPhase::prepare(options, spec, emit)?))
    }

    fn become_trial(options: &mut DnsOptions, rate_per_s: Option<f64>, duration_ns: u64) {
        options.become_trial(rate_per_s, duration_ns);
    }

    fn demand(options: &DnsOptions, spec: &PhaseSpec) -> Demand {
        // A response may be as long as a message over TCP can be, and a query too.
        let most = u64::from(u16::MAX);
        let flows = spec.phase.flows.len().max(1) as f64;
        let per_s = options.queries_per_s().map(|rate| rate / flows);
        Demand::of_flows(spec, options.duration_ns(), |flow| {
            let whole = u64::from(options.connections);
            let own = share(whole, flow.id.into(), flows as u64).max(1);
            FlowDemand::exchange(own, per_s, most, Some(most))
        })
    }

    fn join(options: &DnsOptions, ends: Ends<'_, Self::Numbers>) -> PhaseResult {
        join::join(options, &ends)
    }
}

#[cfg(test)]
mod tests;
