//! Any bytes as tickets and their answers.

#![cfg_attr(fuzzing, no_main)]

use sokudo_fuzz::fuzz_target;

fuzz_target!(|bytes: &[u8]| sokudo_wire::entry::greeting(bytes));
