//! Test links: what a packet meets between two hosts, with properties that were asked for.
//!
//! ```text
//!  host a ─► queue (bytes) ─► rate ─► loss ─► delay, jitter ─► host b       one direction
//!  host a ◄─ delay, jitter ◄─ loss ◄─ rate ◄─ queue (bytes) ◄─ host b       the other
//! ```
//!
//! [`Direction`] is the model of one direction. It does no I/O and knows no clock: time and sizes are
//! arguments, and the same seed gives the same result.

mod direction;
mod loss;

pub use direction::{Counts, Direction, FLIGHT_MAX_BYTES, Properties};
pub use loss::{Loss, Losses};
