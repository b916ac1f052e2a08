//! `jmx`: load on a web server by the users of a JMeter test plan.
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
mod calls;
mod client;
mod course;
mod crowd;
mod databases;
mod gather;
mod generator;
mod key_store;
pub mod options;
mod outputs;
mod phase;
mod phase_plan;
mod probe;
mod reach;
mod read;
mod responses;
mod results;
mod rows;
mod saved;
mod script_log;
mod silence;
mod sockets;
pub mod summariser;
mod summary_log;
mod tally;
mod user_time;

use std::path::PathBuf;
use std::sync::OnceLock;

use sokudo_model::kinds::jmx;
use sokudo_model::{FlowPlan, Kind, PhaseResult, PhaseSpec, Refusal};
use sokudo_workload::apart;
use sokudo_workload::contract::{Emit, Phase};
use sokudo_workload::demand::Demand;
use sokudo_workload::flows::{loaders, numbered};
use sokudo_workload::load::{Ends, Load};

pub use bundle::any_bytes;
pub use gather::{Gather, Gathered};
pub use generator::{Finished, Generator, LoadObserver, NotStarted, UsersSeen};
pub use key_store::know_key_store_password;
pub use options::{JmxOptions, Together};
pub use phase::{know_proxy_password, permit};
pub use phase_plan::phase_plan;
pub use probe::{Probed, probe};
pub use reach::Reach;
pub use read::{PlanFiles, Prepared, change_plan, read_bounded, read_plan};
pub use results::rows_sent;
pub use tally::{LabelTally, Tallies};

/// The execution of JMeter plans.
pub struct Jmx;

/// Name of the workload.
pub const NAME: &str = jmx::KIND.name;

/// The program that carries out plans of other hosts in processes of their own; none: this process does.
static APART: OnceLock<PathBuf> = OnceLock::new();

/// The subcommand of that program, which calls [`carry_out_apart`].
pub const APART_COMMAND: &str = "plan-process";

/// From now on, plans that other hosts send are carried out by processes of their own: `program` with
/// [`APART_COMMAND`]. For processes that serve others.
pub fn execute_apart(program: PathBuf) {
    // It is the same program whenever this is said.
    let _ = APART.set(program);
}

/// Carries out a plan of another host as the standard input says. Errors: no thread could be started.
pub fn carry_out_apart() -> Result<(), Refusal> {
    apart::carry_out(&Jmx)
}

impl Load for Jmx {
    const KIND: &'static Kind = &jmx::KIND;
    type Options = JmxOptions;
    type Numbers = results::Numbers;

    fn prepare(
        options: JmxOptions,
        spec: PhaseSpec,
        emit: Emit,
    ) -> Result<Box<dyn Phase<Self::Numbers>>, Refusal> {
        if let Some(program) = APART.get()
            && options.together.is_some()
            && phase::generates(&spec)
        {
            return apart::prepare((program, APART_COMMAND), spec, emit);
        }
        Ok(Box::new(phase::JmxPhase::prepare(options, spec, emit)?))
    }

    /// The plan says how much load there is: no option bounds it.
    fn demand(options: &JmxOptions, _: &PhaseSpec) -> Demand {
        // What a plan opens and asks for is known when it runs.
        Demand {
            connections: None,
            duration_ns: options
                .duration_s
                .map(|seconds| seconds.saturating_mul(1_000_000_000)),
            events_per_s: None,
            sent_bytes_per_s: None,
            received_bytes_per_s: None,
        }
    }

    fn join(_options: &JmxOptions, ends: Ends<'_, Self::Numbers>) -> PhaseResult {
        results::join(&ends)
    }
}

/// One flow per generator: from the host that gives the command when it is alone, else from all the
/// others, whose rows come back to it.
pub fn flows(hosts: u32) -> Vec<FlowPlan> {
    numbered(loaders(hosts).map(|host| (host, 0)), 1)
}

#[cfg(test)]
mod tests;
