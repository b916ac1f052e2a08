//! Any bytes as a JMESPath and a document.

#![cfg_attr(fuzzing, no_main)]

use sokudo_fuzz::fuzz_target;

fuzz_target!(|bytes: &[u8]| sokudo_jmeter::entry::jmes_path(bytes));
