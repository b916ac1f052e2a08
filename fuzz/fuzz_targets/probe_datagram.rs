//! Any bytes as a probe and as its answer.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    sokudo_workloads::probe::protocol::any_bytes(bytes);
});
