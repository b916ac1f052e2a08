//! Scenarios: which hosts load what, and in which order.
//!
//! ```text
//! console lines (.sks) ─► parse ─► Console ──┐
//!                                            ├─► Phase: loads that start together ─► Executor
//! JavaScript (.js) ─────► Script ────────────┘        ◄── PhaseRecord: decides what comes next
//! ```
//!
//! Both languages end in the same [`Phase`]. This crate opens no file or socket and reads no clock: an
//! [`Executor`] carries the phases out.

pub mod console;
pub mod execute;
pub mod line;
pub mod mistake;
pub mod pairs;
#[cfg(test)]
mod remembering;
pub mod script;
pub mod vocabulary;
pub mod words;

pub use console::Console;
pub use execute::{Executor, Failed, HostInfo, LoadWord, NamedSettings, OrderedLoad, Part, Phase};
pub use line::{Command, Line, Order, Who};
pub use mistake::Mistake;
