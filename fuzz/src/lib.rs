//! Builds of fuzz targets where no fuzzing engine is linked.
//!
//! `cargo fuzz` sets `cfg(fuzzing)` and links its engine. Without it a target is a program that does the same
//! with its standard input: the ordinary checks compile it, and it repeats what was found.

#[cfg(fuzzing)]
pub use libfuzzer_sys::fuzz_target;

#[cfg(not(fuzzing))]
use std::io::Read as _;

/// Longest input that is repeated.
#[cfg(not(fuzzing))]
const MOST_BYTES: u64 = 64 << 20;

/// What stands on the standard input.
///
/// Panics when it cannot be read: this is a program for developers.
#[cfg(not(fuzzing))]
pub fn input() -> Vec<u8> {
    let mut bytes = Vec::new();
    let stdin = std::io::stdin().lock();
    let read = stdin.take(MOST_BYTES).read_to_end(&mut bytes);
    read.expect("the standard input can be read");
    bytes
}

/// A target: what is done with any bytes.
#[cfg(not(fuzzing))]
#[macro_export]
macro_rules! fuzz_target {
    (|$bytes:ident: &[u8]| $does:expr) => {
        fn main() {
            let input = $crate::input();
            let $bytes: &[u8] = &input;
            $does;
        }
    };
}
