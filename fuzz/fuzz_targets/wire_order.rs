//! Any bytes as a sealed order and its answer.

#![cfg_attr(fuzzing, no_main)]

use sokudo_fuzz::fuzz_target;

fuzz_target!(|bytes: &[u8]| sokudo_wire::entry::order(bytes));
