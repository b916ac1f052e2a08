//! Any bytes as a store of certificates and keys.

#![cfg_attr(fuzzing, no_main)]

use sokudo_fuzz::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let entries = sokudo_http::read_store(bytes, Some("a password")).unwrap_or_default();
    assert!(entries.len() <= sokudo_http::identity::MOST_ENTRIES);
});
