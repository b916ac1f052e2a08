//! Any bytes as a run.json.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = sokudo_store::parse_manifest(std::path::Path::new("run.json"), bytes);
});
