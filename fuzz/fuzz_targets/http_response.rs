//! Any bytes as responses of a web server, cut into pieces. The first one says where the cuts lie.

#![cfg_attr(fuzzing, no_main)]

use sokudo_fuzz::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let [cut, rest @ ..] = bytes {
        sokudo_http::response::any_bytes(rest, (*cut).into());
    }
});
