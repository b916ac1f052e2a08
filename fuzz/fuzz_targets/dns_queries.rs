//! Any text as the lines of a file of queries.

#![cfg_attr(fuzzing, no_main)]

use sokudo_fuzz::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(text) = std::str::from_utf8(bytes) {
        sokudo_load_network::dns::queries::any_text(text);
    }
});
