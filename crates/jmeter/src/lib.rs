//! JMeter test plans: parsing, checking and execution by virtual users.
//!
//! ```text
//! .jmx ─ xml ─► elements ─ expand ─► those that take part ─ build ─► Plan: plain data
//!                                        │                             │
//!                                        └─ coverage, unknown ones     └─ check: warnings, load
//! ```
//!
//! A plan is read completely or refused: an unknown element is an error, and all of them are
//! reported with file and line. The result is a [`plan::Plan`] in which everything is resolved that
//! is known before the test, and JMeter's scoping rules are applied. The crate opens no file and
//! reads no clock: bytes, files and time are arguments.
//!
//! - [`read`]: from bytes to plan, coverage and problems.
//! - [`plan`]: the plan as plain data.
//! - [`expression`]: `${…}`, parsed once and rendered per request.
//! - [`registry`]: every element class and how it is treated.
//! - [`run`]: virtual users that execute a plan, without threads, sockets or clocks.
//! - [`document`]: trees of XML and HTML, and XPath.
//! - [`page`]: embedded resources of a page.
//! - [`script`]: JavaScript in plans, with bounded time and memory.
//! - [`jtl`]: result files.
//! - [`check`]: predictions about a plan, and warnings about probable mistakes.

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
mod jdbc_url;
mod json;
pub mod jtl;
mod node;
pub mod page;
mod pattern;
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
