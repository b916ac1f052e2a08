//! What do the users of a test plan see of a web server?
//!
//! ```text
//! this host                                              any HTTP/1.1 server
//!   plan ─► users on event loops ── requests of the plan ───────────►
//!             │      ◄──────────────────────────────────── responses
//!             └─ rows ─► file of results (JTL), numbers per label, series
//! ```
//!
//! Users think, choose, extract and check as the plan says; what is stressed is what the plan
//! asks for. `http.service_seconds` counts from the moment a request left, `http.latency_seconds`
//! from the moment it should have left: they differ in open models only. The generator was the
//! limit when its event loop used a whole core (`http.client_cpu_ratio`) or steps came late
//! (`http.late_starts`).
//!
//! Sources: Apache JMeter 5.6, whose plans, results and command line these are.

mod backend;
mod bundle;
mod client;
mod course;
mod crowd;
mod gather;
mod generator;
mod key_store;
pub mod options;
mod phase;
mod read;
mod results;
mod rows;
mod saved;
mod script_log;
pub mod summariser;
mod summary_log;
mod tally;

use sokudo_model::{FlowPlan, PhaseResult, PhaseSpec, Refusal};
use sokudo_stats::Outcome;
use sokudo_workload::contract::{Descriptor, Emit, HostResult, Phase, Workload};
use sokudo_workload::flows::{loaders, numbered};
use sokudo_workload::refusal::read_options;

pub use bundle::any_bytes;
pub use gather::{Gather, Gathered};
pub use generator::{Finished, Generator, Listener, NotStarted};
pub use key_store::know_key_store_password;
pub use options::{LoadOptions, Together};
pub use phase::{know_proxy_password, permit};
pub use read::{PlanFiles, Prepared, read_bounded, read_plan};
pub use results::rows_sent;
pub use tally::{LabelTally, Tallies};

/// The execution of JMeter plans.
pub struct Jmx;

/// Name of the workload and of its series' source.
pub const NAME: &str = "jmx";

const DESCRIPTOR: Descriptor = Descriptor {
    name: NAME,
    question: "what do the users of a test plan see of a web server?",
};

impl Workload for Jmx {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn prepare(&self, spec: PhaseSpec, emit: Emit) -> Result<Box<dyn Phase>, Refusal> {
        let options: LoadOptions = read_options(NAME, &spec.phase.options)?;
        Ok(Box::new(phase::JmxPhase::prepare(options, spec, emit)?))
    }

    fn trial(
        &self,
        options: &str,
        rate_per_s: Option<f64>,
        duration_ns: u64,
    ) -> Result<String, Refusal> {
        let mut options: LoadOptions = read_options(NAME, options)?;
        if let Some(rate) = rate_per_s {
            options.open_per_s = Some(rate);
            options.schedule.clear();
        }
        options.duration_s = Some((duration_ns / 1_000_000_000).max(1));
        Ok(options.to_json())
    }

    fn outcome(&self, result: &PhaseResult) -> Option<Outcome> {
        let get = |name: &str| result.summary.get(name).copied();
        let delivered = get("http.requests_per_second")?;
        Some(Outcome {
            offered: get("http.asked_per_second").unwrap_or(delivered),
            delivered,
            loss: get("http.error_ratio").unwrap_or(0.0),
            generator_limited: get("http.client_cpu_ratio").is_some_and(|cpu| cpu > 0.95),
        })
    }

    fn join(&self, spec: &PhaseSpec, results: &[HostResult]) -> PhaseResult {
        results::join(spec, results)
    }
}

/// One flow per generator: from the host that gives the command when it is alone, else from all the
/// others, whose rows come back to it.
pub fn flows(hosts: u32) -> Vec<FlowPlan> {
    numbered(loaders(hosts).map(|host| (host, 0)), 1)
}

#[cfg(test)]
mod tests;
