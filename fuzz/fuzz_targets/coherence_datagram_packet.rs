//! Any bytes as the vendor's packets, alone and framed over TCP.

#![cfg_attr(fuzzing, no_main)]

use sokudo_fuzz::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    use sokudo_coherence::datagram::protocol::{Frames, Packet};
    let _ = Packet::read(bytes);
    let _ = Packet::read_unmarked(bytes);
    let _ = Frames::default().next(bytes, 1468);
});
