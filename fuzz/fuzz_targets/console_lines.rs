//! Any bytes as a script of console lines.

#![cfg_attr(fuzzing, no_main)]

use sokudo_fuzz::fuzz_target;

fuzz_target!(|bytes: &[u8]| sokudo_scenario::line::any_bytes(bytes));
