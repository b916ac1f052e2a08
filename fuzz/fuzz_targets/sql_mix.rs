//! Any text as a script of pgbench, and as a mix in TOML.

#![cfg_attr(fuzzing, no_main)]

use sokudo_fuzz::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(text) = std::str::from_utf8(bytes) {
        sokudo_load_sql::sqlmix::mix::any_text(text);
    }
});
