//! Any bytes as a script of console lines.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| sokudo_scenario::line::any_bytes(bytes));
