//! Stores everything about a run in one directory and verifies that it is unchanged.
//!
//! ```text
//! runs/<id>/  run.json             who, when, what came out, how it ended; SHA-256 of the other files
//!             plan/plan.json       what was executed
//!             environment/<host>.json   under which conditions
//!             clock/<host>.csv     t_ns,offset_ns,error_ns
//!             series.parquet       t_ns, host, source, metric, unit, labels, value
//!             histograms.parquet   t0_ns, t1_ns, host, source, metric, labels, n, p50 … max, hdr_v2
//!             events.parquet       t_ns, host, source, kind, message, args
//!             findings.json        {"findings":[…],"checks":[…]}
//!             report.html          written by others through `attach`
//!             commands.csv         start_ms, end_ms, command, from, to, bytes, … of runs of many hosts,
//!             commands/<host>.csv  and of what one host took part in
//!             spool/               only while the run goes on, see `spool`
//! ```
//!
//! Recording: [`RunDir::create`] → [`Writer::append`] … → [`Writer::close`]. After a crash:
//! [`recover`]. Reading: [`resolve`] → [`load`]; [`list`], [`verify`], [`export`].
//!
//! The invariant that everything rests on: as long as `run.json` has the status `running`, the spool
//! holds all recorded data; with any other status the tables hold it.

pub mod export;
pub mod iperf3;
pub mod layout;
pub mod spool;

mod disk;
mod error;
mod hash;
mod load;
mod manifest;
mod recover;
mod runs;
mod seal;
mod tables;
mod writer;

#[cfg(test)]
mod tests;

pub use error::{StoreError, cannot_write};
pub use hash::{Verification, verify};
pub use layout::runs_root;
pub use load::load;
pub use manifest::{attach, attach_all, parse_manifest, read_manifest, save_findings, save_proof};
pub use recover::{RecoverReport, add_to_spool, recover, spooled};
pub use runs::{RunEntry, RunInfo, discard, list, resolve};
pub use spool::Loss;
pub use tables::histograms::{Percentiles, percentiles};
pub use writer::{ClosedRun, RunDir, Writer, plan_sha256};
