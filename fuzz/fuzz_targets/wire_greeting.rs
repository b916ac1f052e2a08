//! Any bytes as tickets and their answers.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| sokudo_wire::entry::greeting(bytes));
