//! Any bytes as the JSON that iperf3 writes.

#![cfg_attr(fuzzing, no_main)]

use sokudo_fuzz::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = sokudo_store::iperf3::read(bytes);
});
