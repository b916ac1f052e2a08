//! Any bytes as a stored distribution.

#![cfg_attr(fuzzing, no_main)]

use sokudo_fuzz::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = sokudo_stats::Histogram::from_v2(bytes);
});
