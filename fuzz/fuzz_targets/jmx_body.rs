//! Any bytes as a body in one of the content encodings.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| sokudo_jmeter::entry::body(bytes));
