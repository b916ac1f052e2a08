//! Any bytes as a JTL file, CSV or XML.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| sokudo_jmeter::entry::jtl(bytes));
