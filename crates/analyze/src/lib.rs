//! Conclusions from a record: quantities, findings, verdict.
//!
//! A record in; findings, checks and the verdict out. Nothing here opens a file, reads a clock or
//! speaks a language: sentences are [`Text`](sokudo_model::Text)s whose words stand in
//! `locales/<language>/analyze.ftl`.
//!
//! ```text
//! record ─► each phase ─► each rule of rules::REGISTRY ─► what contradicts it ─► consequences folded into their causes
//!    │                                                                                │
//!    │                       findings, strongest first ◄── one conclusion = one finding ┤
//!    │                                                                                  ▼
//!    │                                         causes: two kinds of observation, strongest first
//!    └────► checks: do the numbers add up, was the bound kept? ───┴─► verdict
//! ```

pub mod advice;
pub mod compare;
mod contradiction;
mod contradictions;
mod findings;
pub mod profiles;
mod quantities;
mod rule;
pub mod rules;
mod verdict;
mod view;

#[cfg(test)]
mod tests;

pub use contradiction::Contradiction;
pub use contradictions::CONTRADICTIONS;
pub use findings::causes::Causes;
pub use findings::{diagnose, findings};
pub use quantities::{
    capacity, experiment, observed, pairs, placement, protect, ranges, repeats, rrul, sweep, versus,
};
pub use rule::{Change, Purpose, Rule, Standing, Suspect};
pub use rules::REGISTRY;
pub use verdict::checks::{ERRORS, checks};
pub use verdict::{Explanation, explain, layers, limit, missed, tested, verdict};
pub use view::PhaseView;
