//! Tests of the numbers of `datagram` over real sockets.
//!
//! Whole phases over loopback or local hosts, driven through the workload's contract, against
//! paths and programs whose behaviour is known: reported numbers must equal what was done.

mod edges;
mod limits;
mod modes;
mod play;
mod script;
