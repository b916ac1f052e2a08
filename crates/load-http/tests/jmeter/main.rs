//! Tests of requests and results, against JMeter with the same plan.
//!
//! ```text
//! cases ─► one plan ─┬─► JMeter 5.6.3 ─► recording server ─► golden/*.txt   (where Java is there)
//!                    └─► sokudo ───────► recording server ─► compared with golden/*.txt (always)
//! ```
//!
//! The golden files are recordings of the real JMeter. `SOKUDO_BLESS=1` makes them anew.

#![cfg(unix)]

mod cases;
mod flow;
mod golden;
mod pages;
mod plan;
mod play;
mod recorder;
mod requests;
mod rows;
mod steering;
