//! Any bytes as what a receiver of files answers.

#![cfg_attr(fuzzing, no_main)]

use sokudo_fuzz::fuzz_target;

fuzz_target!(|bytes: &[u8]| sokudo_replicate::entry::answer(bytes));
