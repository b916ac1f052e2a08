//! Any bytes as a test datagram, alone and framed on a stream.

#![cfg_attr(fuzzing, no_main)]

use sokudo_fuzz::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    use sokudo_load_network::datagram::protocol::{Header, next_frame, verified_intact};
    let _ = Header::read(bytes);
    let _ = next_frame(bytes, 65_507);
    let _ = verified_intact(bytes, 1, bytes.len());
});
