//! Any bytes as a probe and as its answer.

#![cfg_attr(fuzzing, no_main)]

use sokudo_fuzz::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    sokudo_load_network::probe::protocol::any_bytes(bytes);
});
