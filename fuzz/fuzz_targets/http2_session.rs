//! Any bytes as what a server of HTTP/2 sends, cut into pieces. The first one says where the cuts
//! lie; settings stand before the rest, without which nothing would be read.

#![cfg_attr(fuzzing, no_main)]

use sokudo_fuzz::fuzz_target;

/// Empty settings.
const HELLO: [u8; 9] = [0, 0, 0, 4, 0, 0, 0, 0, 0];

fuzz_target!(|bytes: &[u8]| {
    if let [cut, rest @ ..] = bytes {
        sokudo_http::h2::any_bytes(&[&HELLO, rest].concat(), (*cut).into());
    }
});
