//! Carries out one run over several hosts.
//!
//! ```text
//! Run::begin ─► run_phase … ─► finish ─► record
//!                   │
//!   prepare ─► arm ─► start at T ─► measure ─► drain ─► join        (all hosts at the same time)
//! ```
//!
//! The controller knows hosts, plans and records. It does not know what a workload does, and it does not
//! print: it reports progress to an [`Observer`].

pub mod check;
pub mod clock;
mod clocks;
pub mod collect;
mod complaints;
mod error;
mod health;
mod hosts;
mod knee;
mod knobs;
mod phase;
mod repeat;
mod rrul;
mod run;
mod search;
mod steering;
mod sweep;
mod together;
mod versus;

pub use error::ControlError;
pub use hosts::{Agents, Host, Hosts, LEASE, host_name};
pub use knee::{KneePlan, KneeRange};
pub use knobs::Knobs;
pub use phase::SLACK_NS;
pub use rrul::RrulPlan;
pub use run::{Finished, KeepRows, Observer, Progress, Run, RunConfig, new_run_id};
pub use search::{SearchPlan, Searched};
pub use steering::Steering;
pub use sweep::{Sweep, SweepStep};
