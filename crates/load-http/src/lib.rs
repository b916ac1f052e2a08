//! Loads on web servers: single requests (`http`) and JMeter plans (`jmx`).
//!
//! One folder per workload; `sokudo-workloads` lists them.

pub mod http;
pub mod jmx;
mod observed;
mod percentile;
