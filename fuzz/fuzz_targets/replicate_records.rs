//! Any bytes as the records of a batch of files.

#![cfg_attr(fuzzing, no_main)]

use sokudo_fuzz::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    #[cfg(unix)]
    sokudo_replicate::entry::records(bytes);
    // Trees are replicated on systems with handles of directories.
    #[cfg(not(unix))]
    let _ = bytes;
});
