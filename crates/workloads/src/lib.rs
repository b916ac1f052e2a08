//! All kinds of load.
//!
//! Each is one folder in a crate of its family and one line in the `REGISTRY` of that crate.

pub mod together;

use sokudo_model::{PhaseResult, PhaseSpec, Refusal, Text};
use sokudo_workload::{HostResult, Workload};

/// Every workload, family by family.
pub fn all() -> impl Iterator<Item = &'static dyn Workload> {
    let families = [
        sokudo_load_network::REGISTRY,
        sokudo_load_http::REGISTRY,
        sokudo_load_sql::REGISTRY,
        sokudo_load_replicate::REGISTRY,
        &[&together::Together as &dyn Workload],
    ];
    families.into_iter().flatten().copied()
}

/// Looks a workload up by its name.
pub fn find(name: &str) -> Option<&'static dyn Workload> {
    all().find(|workload| workload.descriptor().name == name)
}

/// The workloads that a phase carries out, each with its part of the phase: several for
/// [`together`], else one. Checks and rules about a phase look at these.
///
/// Errors: a workload that this version does not know, or options that cannot be read.
pub fn parts(spec: &PhaseSpec) -> Result<Vec<(&'static dyn Workload, PhaseSpec)>, Refusal> {
    let name = &spec.phase.workload;
    if name == together::NAME {
        return together::parts_of(spec);
    }
    let workload = find(name).ok_or_else(|| Refusal {
        operator_error: true,
        says: Text::new("error-workload-unknown").word("workload", name),
        hint: Some(Text::new("error-hint-same-version")),
    })?;
    Ok(vec![(workload, spec.clone())])
}

/// The result of each load of a phase that mixed several, beside the load as a phase of its own;
/// empty for a phase of one workload.
///
/// Errors: options or numbers that cannot be read.
pub fn join_each(
    spec: &PhaseSpec,
    results: &[HostResult],
) -> Result<Vec<(PhaseSpec, PhaseResult)>, Refusal> {
    match spec.phase.workload == together::NAME {
        true => together::join_each(spec, results),
        false => Ok(Vec::new()),
    }
}
