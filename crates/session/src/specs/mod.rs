//! Specifications: what is replicated from where to where, how and when, read from a file and kept up.
//!
//! ```text
//! file ─► Spec: legs (source → target), schedule ─► keeper: a thread per leg ─► run ─► record
//!                                                      └ rows: light, queue, lag, time left
//! ```

pub mod copying;
pub mod file;
pub mod keeper;
pub mod preset;
pub mod row;
pub mod schedule;
pub mod side;
pub mod words;
