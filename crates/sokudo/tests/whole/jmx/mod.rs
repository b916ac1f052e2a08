//! Drives `sokudo jmx` against servers of the test: checks, runs and probes of plans.

#[cfg(target_os = "linux")]
mod apart;
mod certificates;
mod check;
mod compare;
mod connects;
mod crowd;
mod delays;
mod endless;
pub mod far;
mod faults;
mod findings;
mod guide;
mod listeners;
mod models;
mod options;
mod peer;
mod probe;
mod reach;
pub mod rows;
