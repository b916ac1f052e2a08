//! Any bytes as a text with `${…}` in it, parsed and rendered.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| sokudo_jmeter::entry::expression(bytes));
