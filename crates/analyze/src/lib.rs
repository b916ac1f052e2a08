//! Conclusions from a record: quantities, findings, verdict.
//!
//! A record in; findings, checks and the verdict out. Nothing here opens a file, reads a clock or
//! speaks a language: sentences are [`Text`](sokudo_model::Text)s whose words stand in
//! `locales/<language>/analyze.ftl`.
//!
//! ```text
//! record ─► each phase ─► each rule of rules::REGISTRY ─► consequences folded into their causes
//!    │                                                            │
//!    │                       findings, strongest first ◄── one conclusion = one finding
//!    └────► checks: do the numbers add up, was the bound kept? ───┴─► verdict
//! ```

pub mod advice;
mod findings;
mod quantities;
mod rule;
pub mod rules;
mod verdict;
mod view;

#[cfg(test)]
mod tests;

pub use findings::{diagnose, findings};
pub use quantities::{capacity, experiment, pairs, placement, ranges, repeats, sweep};
pub use rule::{Purpose, Rule};
pub use rules::REGISTRY;
pub use verdict::checks::checks;
pub use verdict::{layers, limit, missed, verdict};
pub use view::PhaseView;
