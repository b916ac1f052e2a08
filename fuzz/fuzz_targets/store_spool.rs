//! Any bytes as a segment of a spool.

#![cfg_attr(fuzzing, no_main)]

use sokudo_fuzz::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = sokudo_store::spool::decode(bytes);
});
