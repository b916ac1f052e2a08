//! Any bytes as a plan with its data files, as another host would send them.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| sokudo_workloads::load::any_bytes(bytes));
