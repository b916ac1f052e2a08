//! Any bytes as where one message ends and the next begins.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| sokudo_wire::entry::frames(bytes));
