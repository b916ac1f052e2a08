//! The replication engine: trees of files from one root to another.
//!
//! ```text
//! path · frame · message · codec · delta · filter · level · limit · dataset · dirty · predict     pure
//! root · source · sample · mirror · wire                                                          the system
//! send ──── listing, data ───► receive
//!      ◄──────── answers ─────
//! ```
//!
//! Both ends are handed their connections, which have proven whom they lead to; what comes over
//! them is bounded and checked all the same. The engine knows no load, no record and no command line.

pub mod codec;
pub mod dataset;
pub mod delta;
pub mod dirty;
#[doc(hidden)]
pub mod entry;
pub mod filter;
pub mod frame;
pub mod level;
pub mod limit;
pub mod message;
pub mod path;
pub mod predict;
pub mod session;

#[cfg(unix)]
pub mod mirror;
#[cfg(unix)]
pub mod receive;
#[cfg(unix)]
pub mod root;
#[cfg(unix)]
pub mod sample;
#[cfg(unix)]
pub mod send;
#[cfg(unix)]
pub mod source;
#[cfg(unix)]
pub mod wire;

#[cfg(all(test, unix))]
mod tests;
