//! Any bytes as a text with `${…}` in it, parsed and rendered.

#![cfg_attr(fuzzing, no_main)]

use sokudo_fuzz::fuzz_target;

fuzz_target!(|bytes: &[u8]| sokudo_jmeter::entry::expression(bytes));
