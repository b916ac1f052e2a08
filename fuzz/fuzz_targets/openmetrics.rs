//! Any bytes as the answer of an endpoint that tells metrics.

#![cfg_attr(fuzzing, no_main)]

use sokudo_fuzz::fuzz_target;

fuzz_target!(|bytes: &[u8]| sokudo_monitors::openmetrics::any_bytes(bytes));
