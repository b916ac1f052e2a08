//! Any bytes as the packets of a MariaDB server.

#![cfg_attr(fuzzing, no_main)]

use sokudo_fuzz::fuzz_target;

fuzz_target!(|bytes: &[u8]| sokudo_sql::any_bytes_of_mysql(bytes));
