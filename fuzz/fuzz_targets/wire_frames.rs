//! Any bytes as where one message ends and the next begins.

#![cfg_attr(fuzzing, no_main)]

use sokudo_fuzz::fuzz_target;

fuzz_target!(|bytes: &[u8]| sokudo_wire::entry::frames(bytes));
