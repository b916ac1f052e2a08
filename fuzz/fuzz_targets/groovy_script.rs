//! Any bytes as a script in Groovy and in BeanShell.

#![cfg_attr(fuzzing, no_main)]

use sokudo_fuzz::fuzz_target;

fuzz_target!(|bytes: &[u8]| sokudo_groovy::any_bytes(bytes));
