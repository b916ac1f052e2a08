//! Any bytes as what comes over the pipe of controller and agent.

#![cfg_attr(fuzzing, no_main)]

use sokudo_fuzz::fuzz_target;

fuzz_target!(|bytes: &[u8]| sokudo_bus::entry::pipe(bytes));
