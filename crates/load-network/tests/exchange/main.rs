//! Tests of the numbers of `rr` and `crr` over real sockets.
//!
//! Whole phases over loopback, driven through the workload's contract, against far ends whose
//! behaviour is scripted: a fixed delay, a stall, silence, a reset, garbage.

mod far_end;
mod faults;
mod latency;
mod load_time;
mod play;
mod secure;
mod ways;
