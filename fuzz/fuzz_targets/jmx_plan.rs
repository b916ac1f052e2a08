//! Any bytes as a JMeter test plan.

#![cfg_attr(fuzzing, no_main)]

use sokudo_fuzz::fuzz_target;

fuzz_target!(|bytes: &[u8]| sokudo_jmeter::entry::plan(bytes));
