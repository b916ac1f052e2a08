//! Any bytes as a plan with its data files, as another host would send them.

#![cfg_attr(fuzzing, no_main)]

use sokudo_fuzz::fuzz_target;

fuzz_target!(|bytes: &[u8]| sokudo_load_http::jmx::any_bytes(bytes));
