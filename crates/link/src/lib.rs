//! Test links: what a packet meets between two hosts, with properties that were asked for.
//!
//! ```text
//!  host a ─► queue (bytes) ─► rate ─► loss ─► delay, jitter ─► host b       one direction
//!  host a ◄─ delay, jitter ◄─ loss ◄─ rate ◄─ queue (bytes) ◄─ host b       the other
//! ```
//!
//! [`Direction`] is the model of one direction. It does no I/O and knows no clock: time and sizes are
//! arguments, and the same seed gives the same result.
//!
//! [`Link`] makes two hosts of this machine and the link between them. The kernel carries it where it has
//! the disciplines; otherwise this process does, with the model between two TUN devices ([`carrier`]).
//! Either way the connections are those of the hosts' own TCP, from end to end.

pub mod carrier;
mod course;
mod direction;
mod kernel;
mod link;
mod loss;
mod tally;

pub use course::HEADER_BYTES;
pub use direction::{Counts, Direction, FLIGHT_MAX_BYTES, PACKET_BYTES, Properties};
pub use link::{By, Choice, Link, LinkRequest, NAMES, STARTERS};
pub use loss::{Loss, Losses};
pub use tally::Tally;
