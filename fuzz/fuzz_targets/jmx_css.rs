//! Any bytes as a CSS selector and a page.

#![cfg_attr(fuzzing, no_main)]

use sokudo_fuzz::fuzz_target;

fuzz_target!(|bytes: &[u8]| sokudo_jmeter::entry::css(bytes));
