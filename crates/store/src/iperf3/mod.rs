//! Converts between records and the JSON of iperf3.
//!
//! ```text
//! iperf3 -J ──bytes──► read  ──► Imported: phase, series ──► a record like any other
//! a record  ──────────► write ──► start · intervals · end, as iperf3 3.12 writes them
//! ```
//!
//! Both stand beside the other exports: they turn a record into a file format and back, know no
//! workload, and touch no socket. The JSON comes from outside: what it says is bounded, a number
//! that is none is missing, and nothing is read beyond what a record may hold.

mod read;
mod write;

pub use read::{Imported, Iperf3Error, MAX_BYTES, read};
pub use write::write;

#[cfg(test)]
mod tests;
