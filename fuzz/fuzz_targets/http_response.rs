//! Any bytes as responses of a web server, cut into pieces. The first one says where the cuts lie.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let [cut, rest @ ..] = bytes {
        sokudo_http::response::any_bytes(rest, (*cut).into());
    }
});
