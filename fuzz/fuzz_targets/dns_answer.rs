//! Any bytes as the answer of a name server.

#![cfg_attr(fuzzing, no_main)]

use sokudo_fuzz::fuzz_target;

fuzz_target!(|bytes: &[u8]| sokudo_net::dns::any_bytes(bytes));
