//! Any bytes as what a sender of files lists.

#![cfg_attr(fuzzing, no_main)]

use sokudo_fuzz::fuzz_target;

fuzz_target!(|bytes: &[u8]| sokudo_replicate::entry::listing(bytes));
