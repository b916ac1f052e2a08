//! The sections of a report, in their order.
//!
//! One folder per section and one line in [`REGISTRY`]. A section turns the record into blocks; it
//! returns none when the record holds nothing for it, and then it does not appear at all.

use crate::block::Block;
use crate::view::View;

pub mod advice;
pub mod budget;
pub mod capacity;
pub mod curve;
pub mod distributions;
pub mod environment;
pub mod failures;
pub mod flows;
pub mod generators;
pub mod group;
pub mod labels;
pub mod numbers;
pub mod over_time;
pub mod pairs;
pub mod phases;
pub mod profiles;
pub mod repeats;
pub mod rerun;
pub mod rrul;
pub mod search;
pub mod statements;
pub mod verdict;
pub mod why;

/// One section of the report.
#[derive(Debug)]
pub struct Section {
    /// Name inside the page and part of its message keys: `report-<name>`.
    pub name: &'static str,
    /// Whether it has a heading of its own; the first screen needs none.
    pub headed: bool,
    /// Builds its content from a record.
    pub blocks: fn(&View) -> Vec<Block>,
}

/// Every section, in the order in which a report shows them.
pub const REGISTRY: &[Section] = &[
    Section {
        name: "verdict",
        headed: false,
        blocks: verdict::blocks,
    },
    Section {
        name: "numbers",
        headed: false,
        blocks: numbers::blocks,
    },
    Section {
        name: "advice",
        headed: true,
        blocks: advice::blocks,
    },
    Section {
        name: "rrul",
        headed: true,
        blocks: rrul::blocks,
    },
    Section {
        name: "why",
        headed: true,
        blocks: why::blocks,
    },
    Section {
        name: "profiles",
        headed: true,
        blocks: profiles::blocks,
    },
    Section {
        name: "repeats",
        headed: true,
        blocks: repeats::blocks,
    },
    Section {
        name: "capacity",
        headed: true,
        blocks: capacity::blocks,
    },
    Section {
        name: "curve",
        headed: true,
        blocks: curve::blocks,
    },
    Section {
        name: "search",
        headed: true,
        blocks: search::blocks,
    },
    Section {
        name: "group",
        headed: true,
        blocks: group::blocks,
    },
    Section {
        name: "pairs",
        headed: true,
        blocks: pairs::blocks,
    },
    Section {
        name: "generators",
        headed: true,
        blocks: generators::blocks,
    },
    Section {
        name: "phases",
        headed: true,
        blocks: phases::blocks,
    },
    Section {
        name: "labels",
        headed: true,
        blocks: labels::blocks,
    },
    Section {
        name: "failures",
        headed: true,
        blocks: failures::blocks,
    },
    Section {
        name: "statements",
        headed: true,
        blocks: statements::blocks,
    },
    Section {
        name: "budget",
        headed: true,
        blocks: budget::blocks,
    },
    Section {
        name: "over-time",
        headed: true,
        blocks: over_time::blocks,
    },
    Section {
        name: "flows",
        headed: true,
        blocks: flows::blocks,
    },
    Section {
        name: "distributions",
        headed: true,
        blocks: distributions::blocks,
    },
    Section {
        name: "environment",
        headed: true,
        blocks: environment::blocks,
    },
    Section {
        name: "rerun",
        headed: true,
        blocks: rerun::blocks,
    },
];
