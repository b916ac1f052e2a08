//! A phase in a process of its own, whose death is a problem of the run and of nothing else.
//!
//! ```text
//! agent                                          process of its own (the same program)
//!   Order::Prepare, Arm, Start, Halt, Drain ─ pipe ─►  the phase itself
//!   Emit  ◄─ Told::Emitted … ───────────────── pipe ─┘
//!         ◄─ Told::Answer, one per order
//! ```
//!
//! For loads that carry out what another host sent them: such a text may exhaust a stack or the memory
//! in ways that no budget foresees. Both processes have the same monotonic clock.
//!
//! A process that does not answer within a bound is killed. The end of the pipe ends the process, so
//! that none outlives its agent.

mod child;
mod frame;
mod parent;

use serde::{Deserialize, Serialize};
use sokudo_model::{Change, HostClock, PhaseSpec, Refusal};

use crate::contract::Emitted;

pub use child::carry_out;
pub use parent::prepare;

/// A call of the phase.
#[derive(Debug, Serialize, Deserialize)]
enum Order {
    Prepare(Box<PhaseSpec>),
    Arm { offers: Vec<Option<String>> },
    Start { at_ns: i64, t0_ns: i64 },
    Halt,
    Steer(Change),
    Clocks(Vec<Option<HostClock>>),
    Drain { sent: Vec<Option<String>> },
}

/// Message of the process.
#[derive(Debug, Serialize, Deserialize)]
enum Told {
    /// The end of an order: an offer, a result, or nothing to say.
    Answer(Result<String, Refusal>),
    /// Output of the phase.
    Emitted(Emitted),
}
