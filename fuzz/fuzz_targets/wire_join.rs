//! Any bytes as join tokens and labels that people type.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| sokudo_wire::entry::join(bytes));
