//! Any bytes as the JSON that iperf3 writes.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = sokudo_store::iperf3::read(bytes);
});
