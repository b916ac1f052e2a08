//! Any bytes as a Java property file.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| sokudo_jmeter::entry::properties(bytes));
