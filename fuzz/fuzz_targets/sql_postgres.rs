//! Any bytes as the messages of a PostgreSQL server.

#![cfg_attr(fuzzing, no_main)]

use sokudo_fuzz::fuzz_target;

fuzz_target!(|bytes: &[u8]| sokudo_sql::any_bytes_of_postgres(bytes));
