//! Any bytes as a stored distribution.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = sokudo_stats::Histogram::from_v2(bytes);
});
