//! Any bytes as a page or a style sheet in which links are looked for.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| sokudo_jmeter::entry::page(bytes));
