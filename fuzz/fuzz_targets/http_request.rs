//! Any bytes as requests to the target, one after the other, and their parameters.

#![cfg_attr(fuzzing, no_main)]

use sokudo_fuzz::fuzz_target;

fuzz_target!(|bytes: &[u8]| sokudo_target::request::any_bytes(bytes));
