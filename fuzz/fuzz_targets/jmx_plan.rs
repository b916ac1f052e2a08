//! Any bytes as a JMeter test plan.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| sokudo_jmeter::entry::plan(bytes));
