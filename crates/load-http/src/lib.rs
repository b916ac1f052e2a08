//! Loads on web servers: single requests (`http`) and JMeter plans (`jmx`).
//!
//! One folder per workload; [`REGISTRY`] lists them.

pub mod http;
pub mod jmx;
mod observed;
mod percentile;

use sokudo_workload::Workload;

/// The loads of this family.
///
/// A static, so that what a load is to its callers is compiled here, beside the load.
pub static REGISTRY: &[&dyn Workload] = &[&http::Http, &jmx::Jmx];
