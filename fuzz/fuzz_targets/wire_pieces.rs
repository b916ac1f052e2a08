//! Any bytes as the pieces that a session is made of.

#![cfg_attr(fuzzing, no_main)]

use sokudo_fuzz::fuzz_target;

fuzz_target!(|bytes: &[u8]| sokudo_wire::entry::pieces(bytes));
