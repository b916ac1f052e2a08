//! The registry of all kinds of load.
//!
//! Each is one folder in a crate of its family and one line in [`REGISTRY`].

pub mod together;

use sokudo_load_http::{http, jmx};
use sokudo_load_network::{bus, crr, datagram, dns, probe, rr, stream};
use sokudo_load_replicate::replicate;
use sokudo_load_sql::{dbt1, dbt2, dbt3, sqlmix, tpcb};
use sokudo_model::{PhaseResult, PhaseSpec, Refusal, Text};
use sokudo_workload::{HostResult, Workload};

/// Every workload, in alphabetical order.
pub const REGISTRY: &[&dyn Workload] = &[
    &bus::Bus,
    &crr::Crr,
    &datagram::Datagram,
    &dbt1::Dbt1,
    &dbt2::Dbt2,
    &dbt3::Dbt3,
    &dns::Dns,
    &http::Http,
    &jmx::Jmx,
    &probe::Probe,
    &replicate::Replicate,
    &rr::Rr,
    &sqlmix::Sqlmix,
    &stream::Stream,
    &together::Together,
    &tpcb::Tpcb,
];

/// Looks a workload up by its name.
pub fn find(name: &str) -> Option<&'static dyn Workload> {
    REGISTRY
        .iter()
        .copied()
        .find(|workload| workload.descriptor().name == name)
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
