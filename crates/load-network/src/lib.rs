//! Loads between hosts of a run: datagrams, requests and answers, streams, messages, path probes.
//!
//! One folder per workload; `sokudo-workloads` lists them.

pub mod bus;
mod choices;
pub mod crr;
pub mod datagram;
pub mod dns;
pub mod probe;
pub mod rr;
pub mod stream;
