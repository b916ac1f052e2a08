//! Helpers that the tests of several crates share.
//!
//! - [`allocations`]: calls of the allocator by the program under test;
//! - [`compare`]: what sokudo and JMeter do with the same plans;
//! - [`relay`]: a UDP relay that loses, repeats, reorders and damages exactly what a script says;
//! - [`databases`]: PostgreSQL and MariaDB with data directories of their own;
//! - [`document`]: JSON documents against their description;
//! - [`hosts`]: several hosts inside this machine, with rate limits between them;
//! - [`way`]: a path between two of them with delay and loss, for any protocol;
//! - [`jmeter`]: the real JMeter, fetched with [`maven`];
//! - [`program`]: running the `sokudo` binary with a bound on everything that is waited for;
//! - [`strangers`]: callers that belong to nobody and keep coming to some ports;
//! - [`zenohd`]: a real router of Zenoh's, where there is one.
//!
//! A test that needs what a machine lacks prints the reason and succeeds: [`skip`].

pub mod allocations;
pub mod compare;
pub mod cutter;
pub mod databases;
pub mod document;
pub mod hosts;
pub mod jmeter;
pub mod maven;
pub mod program;
pub mod relay;
pub mod scripts;
pub mod servers;
pub mod strangers;
pub mod way;
pub mod zenohd;

/// Prints to stderr why a test measures nothing here: `skipped: <reason>`.
///
/// `./dev test` counts these lines, so that a run on a machine without the programs does not seem complete.
pub fn skip(reason: impl std::fmt::Display) {
    eprintln!("skipped: {reason}");
}
