//! `replicate`: a tree of files from one host to another, and what limits it.
//!
//! ```text
//! sending host                                      receiving host
//!   walk ── entries ────────────────────────────►  compare
//!   ◄─────────────────────── what is wanted ─────
//!   read · pack ── frames, K connections ───────►  verify · stage · rename
//!   ◄─────────────────────── counts ─────────────  durable as asked for
//! ```
//!
//! One flow is one session of the engine ([`sokudo_replicate`]) from one host to another, with two
//! connections for lists and answers and as many for content as asked for. It stresses the file
//! systems of both ends, the compressor, and the way; a data set that is made and a receiver that
//! drops everything take the disks out. The time of each end's threads is recorded by kind: in the
//! connection, in files, in the compressor, idle.
//!
//! Only hosts whose owner allows it take part: a policy must name `files` and the paths.

pub mod advise;
#[cfg(unix)]
mod bounded;
#[cfg(unix)]
mod course;
mod join;
pub mod options;
#[cfg(unix)]
mod phase;
#[cfg(not(unix))]
#[path = "absent.rs"]
mod phase;
#[cfg(unix)]
mod reporter;
pub mod timetable;
pub mod trial;

use std::path::PathBuf;

use sokudo_model::kinds::replicate as numbers;
use sokudo_model::{Kind, PhaseResult, PhaseSpec, Refusal};
use sokudo_workload::contract::{Emit, Options, PathUse, Phase};
use sokudo_workload::demand::{Demand, FlowDemand};
use sokudo_workload::load::{Ends, Load};

pub use options::ReplicateOptions;

/// The replication of a tree.
pub struct Replicate;

/// Name of the workload.
pub const NAME: &str = numbers::KIND.name;

impl Load for Replicate {
    const KIND: &'static Kind = &numbers::KIND;
    type Options = ReplicateOptions;
    type Numbers = join::Numbers;

    fn prepare(
        options: ReplicateOptions,
        spec: PhaseSpec,
        emit: Emit,
    ) -> Result<Box<dyn Phase<Self::Numbers>>, Refusal> {
        options.validate()?;
        let phase = phase::ReplicatePhase::prepare(options, spec, emit)?;
        Ok(Box::new(phase))
    }

    fn demand(options: &ReplicateOptions, spec: &PhaseSpec) -> Demand {
        let limit = options.most_bytes_per_s();
        Demand::of_flows(spec, 0, |_| FlowDemand {
            connections: Some(options.links().into()),
            events_per_s: None,
            forward_bytes_per_s: limit,
            back_bytes_per_s: None,
        })
    }

    fn paths(options: &ReplicateOptions, spec: &PhaseSpec) -> Vec<PathUse> {
        let flows = &spec.phase.flows;
        let sends = flows.iter().any(|flow| flow.from == spec.me);
        let receives = flows.iter().any(|flow| flow.to == spec.me);
        let source = options.on_host(spec.me).source_path().filter(|_| sends);
        let target = options.target_path().filter(|_| receives);
        let used = |path: PathBuf, writes| PathUse { path, writes };
        let source = source.map(|path| used(path, false));
        // Who only compares writes nothing.
        let target = target.map(|path| used(path, !options.only_looks()));
        source.into_iter().chain(target).collect()
    }

    fn join(options: &ReplicateOptions, ends: Ends<'_, Self::Numbers>) -> PhaseResult {
        join::join(options, &ends)
    }
}
