//! Carries out what a command line, a console, a script or the page orders.
//!
//! ```text
//! options ─► Measurement ─┐
//! lines   ─► carry_out ───┼─► Run (controller) ─► Record, with its conclusions and report
//! script  ─► script ──────┤
//! page    ─► page::Worker ┘
//! ```
//!
//! Nothing here prints or knows options of the command line; the way to call hosts is handed in.

pub mod advise;
mod lab;
mod lines;
mod loaded;
mod measure;
pub mod page;
mod plan;
mod record;
mod rehearsal;
pub mod script;
mod settings;
pub mod specs;
mod typed;
mod witness;
pub mod words;

use ring::rand::{SecureRandom, SystemRandom};
use sokudo_controller::SLACK_NS;
use sokudo_model::kinds;

pub use lab::{FindKnobs, Lab, Voice, infos};
pub use lines::{by_lines, carry_out, ended_by, heard};
pub use loaded::{Attached, LoadedServer};
pub use measure::{How, KneeAsked, Measurement, TARGET, Versus, is_here, rule_has_its_bounds};
pub use record::{Beginning, Ended, Left, Reached, Sealed, begin, conclude, seal};
pub use rehearsal::{left_open, mistakes_without_hosts, read as read_lines, rehearse_program};
pub use settings::ServerSettings;
pub use typed::{Sentence, sentence};

/// Largest script, bytes.
pub const SCRIPT_BYTES_MAX: u64 = 10 << 20;
/// Hosts are not watched more often than this, nanoseconds.
pub const WATCH_NS: u64 = 100_000_000;
/// Draws a seed.
pub fn random_seed() -> u64 {
    let mut bytes = [0u8; 8];
    // Without randomness every run draws the same sizes; the record says which seed it was.
    let _ = SystemRandom::new().fill(&mut bytes);
    u64::from_be_bytes(bytes)
}

/// Longest time of a phase of these workloads that takes `duration_ns`; 0 = bounded by a count.
pub fn bound_ns<'a>(duration_ns: u64, workloads: impl IntoIterator<Item = &'a str>) -> u64 {
    let longest_ns = workloads.into_iter().map(kinds::longest_counted_ns);
    match duration_ns {
        0 => longest_ns.max().unwrap_or(SLACK_NS),
        duration_ns => duration_ns + SLACK_NS,
    }
}
