//! Any bytes as requests and responses, cut into pieces.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, u8, &[u8])| {
    let (length, cut, bytes) = input;
    sokudo_workloads::rr::protocol::any_bytes(bytes, length.into(), cut.into());
});
