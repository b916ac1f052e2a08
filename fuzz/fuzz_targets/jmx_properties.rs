//! Any bytes as a Java property file.

#![cfg_attr(fuzzing, no_main)]

use sokudo_fuzz::fuzz_target;

fuzz_target!(|bytes: &[u8]| sokudo_jmeter::entry::properties(bytes));
