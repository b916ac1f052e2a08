//! Any bytes as a frame of a replication: its head and its payload.

#![cfg_attr(fuzzing, no_main)]

use sokudo_fuzz::fuzz_target;

fuzz_target!(|bytes: &[u8]| sokudo_replicate::entry::frame(bytes));
