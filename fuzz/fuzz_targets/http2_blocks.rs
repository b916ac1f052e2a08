//! Any bytes as header blocks of one connection of HTTP/2, each as long as the byte before it says.

#![cfg_attr(fuzzing, no_main)]

use sokudo_fuzz::fuzz_target;

fuzz_target!(|bytes: &[u8]| sokudo_http::h2::any_blocks(bytes));
