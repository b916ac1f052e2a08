//! Any bytes as header blocks of one connection of HTTP/2, each as long as the byte before it says.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| sokudo_http::h2::any_blocks(bytes));
