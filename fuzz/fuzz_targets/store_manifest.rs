//! Any bytes as a run.json.

#![cfg_attr(fuzzing, no_main)]

use sokudo_fuzz::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = sokudo_store::parse_manifest(std::path::Path::new("run.json"), bytes);
});
