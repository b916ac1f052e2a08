//! Any bytes as requests and responses, cut into pieces. The first two say how long messages are
//! and where the cuts lie.

#![cfg_attr(fuzzing, no_main)]

use sokudo_fuzz::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let [length, cut, rest @ ..] = bytes {
        sokudo_load_network::rr::protocol::any_bytes(rest, (*length).into(), (*cut).into());
    }
});
