//! Any bytes as a mark of a conversation that outlives its connections.

#![cfg_attr(fuzzing, no_main)]

use sokudo_fuzz::fuzz_target;

fuzz_target!(|bytes: &[u8]| sokudo_wire::entry::mark(bytes));
