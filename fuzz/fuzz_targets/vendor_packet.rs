//! Any bytes as the vendor's packets, alone and framed over TCP.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    use sokudo_workloads::datagram::vendor::protocol::{Frames, Packet};
    let _ = Packet::read(bytes);
    let _ = Packet::read_unmarked(bytes);
    let _ = Frames::default().next(bytes, 1468);
});
