//! Tests of the numbers of `stream` over real sockets.
//!
//! Whole phases between two hosts of one process, driven through the workload's contract: exact
//! bytes on every transport, a link of known rate, connections that are cut, half-closed or reset
//! on the way.

mod faults;
mod limits;
mod play;
mod relay;
mod ways;
