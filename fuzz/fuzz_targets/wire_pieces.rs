//! Any bytes as the pieces that a session is made of.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| sokudo_wire::entry::pieces(bytes));
