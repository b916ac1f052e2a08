//! What does a JMeter test plan ask for?
//!
//! ```text
//! .jmx ─ xml ─► elements ─ expand ─► those that take part ─ build ─► Plan: plain data
//!                                        │                             │
//!                                        └─ coverage, unknown ones     └─ check: warnings, load
//! ```
//!
//! A plan is read completely or refused: an element that nobody knows is an error, and all of
//! them are told with file and line. What is read becomes a [`plan::Plan`] in which everything
//! is decided that can be decided before the test, and the scoping rules of JMeter are applied.
//! The crate opens no file and asks no clock: bytes, files and time are arguments.
//!
//! - [`read`]: bytes in, plan, coverage and problems out.
//! - [`plan`]: what an engine executes.
//! - [`expression`]: `${…}`, parsed once and rendered per request.
//! - [`registry`]: every element class and what becomes of it.
//! - [`run`]: virtual users that execute a plan, without threads, sockets or clocks.
//! - [`document`]: trees of XML and HTML, and XPath.
//! - [`page`]: what a page needs besides itself.
//! - [`script`]: JavaScript in plans, bounded.
//! - [`jtl`]: the rows that a test leaves behind.
//! - [`check`]: what a plan will do, and what its author probably did not mean.

mod build;
pub mod check;
mod compile;
mod coverage;
mod digits;
pub mod document;
pub mod entry;
mod expand;
pub mod expression;
pub mod files;
pub mod jtl;
mod node;
pub mod page;
pub mod plan;
pub mod problem;
pub mod properties;
pub mod proxy;
mod read;
pub mod registry;
pub mod run;
pub mod script;
pub mod settings;
mod xml;

pub use compile::{PropertyUse, Type};
pub use coverage::Coverage;
pub use read::{Reading, read};
