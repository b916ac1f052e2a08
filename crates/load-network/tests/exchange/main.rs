//! Do `rr` and `crr` say the truth?
//!
//! Whole phases over loopback, driven through the workload's contract, against far ends whose
//! behaviour is scripted: a fixed delay, a stall, silence, a reset, garbage.

mod far_end;
mod faults;
mod latency;
mod play;
mod secure;
mod ways;
