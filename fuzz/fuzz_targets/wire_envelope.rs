//! Any bytes as messages of controller and agent.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| sokudo_wire::entry::envelope(bytes));
