//! The load that moves trees of files between hosts.

pub mod replicate;

use sokudo_workload::Workload;

/// The loads of this family.
///
/// A static, so that what a load is to its callers is compiled here, beside the load.
pub static REGISTRY: &[&dyn Workload] = &[&replicate::Replicate];
