//! Reports of a record for people, programs and paper.
//!
//! Everything shown of a run is computed from its record alone. [`html`] makes one self-contained page,
//! [`markdown`] the same in plain text, [`terminal`] the few lines that a command prints at its
//! end, [`summary_json`] the object that programs read, [`tsv`] tables for
//! spreadsheets.
//!
//! [`requests`] makes the same kind of page of finished requests alone, without a record.
//!
//! Sections (`src/sections/<name>/`, listed in [`sections::REGISTRY`]) turn a record into blocks;
//! the writers turn blocks into text. Words come from `locales/`, in English and Japanese.
//! Host names, labels and messages in a record are foreign text: every writer escapes them.

mod bars;
pub mod block;
mod budget;
pub mod chart;
pub mod compare;
mod date;
pub mod demands;
mod failures;
mod families;
mod headline;
mod heat;
mod html;
pub mod knee;
mod markdown;
mod matrix;
mod names;
pub mod number;
pub mod placement;
mod plane;
pub mod requests;
pub mod sections;
mod summary;
mod svg;
mod terminal;
mod tracks;
pub mod tsv;
mod unbroken;
mod view;
mod volume;

#[cfg(test)]
#[path = "../tests/synthetic/mod.rs"]
mod synthetic;
#[cfg(test)]
mod tests;

pub use headline::headline;
pub use html::html;
pub use markdown::markdown;
pub use summary::{SUMMARY, SUMMARY_SCHEMA, summary_json};
pub use terminal::{columns as text_columns, distribution, phase_line, rules, terminal, why, wrap};
pub use view::{Generator, Role, View, role};
