//! Tests of the numbers of `bus` over real sockets.
//!
//! Whole phases over loopback, driven through the workload's contract, between hosts of our own and
//! against far ends whose behaviour is scripted.

mod far_end;
mod faults;
mod play;
mod truth;
mod ways;
