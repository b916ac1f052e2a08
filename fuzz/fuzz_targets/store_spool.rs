//! Any bytes as a segment of a spool.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = sokudo_store::spool::decode(bytes);
});
