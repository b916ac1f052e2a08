//! Any bytes as links of a page and redirects.

#![cfg_attr(fuzzing, no_main)]

use sokudo_fuzz::fuzz_target;

fuzz_target!(|bytes: &[u8]| sokudo_jmeter::entry::link(bytes));
