//! Any bytes as messages of iperf3's control connection, and as its datagrams.

#![cfg_attr(fuzzing, no_main)]

use sokudo_fuzz::fuzz_target;

fuzz_target!(|bytes: &[u8]| sokudo_iperf::any_bytes(bytes));
