//! Sessions on DuckDB, within this process, where it is built in (cargo feature `duckdb`).

#[cfg(not(feature = "duckdb"))]
mod absent;
#[cfg(feature = "duckdb")]
mod linked;
#[cfg(all(test, feature = "duckdb"))]
mod tests;

#[cfg(not(feature = "duckdb"))]
pub(crate) use absent::DuckDb;
#[cfg(feature = "duckdb")]
pub(crate) use linked::{DuckDb, DuckRow};
