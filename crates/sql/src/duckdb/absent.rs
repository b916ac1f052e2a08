//! DuckDB in a program that was built without it: a session cannot be opened.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::error::{Class, SqlError};
use crate::row::EachRow;
use crate::rows::NextRow;
use crate::value::Value;

/// Why there is no session. It stands in `reasons.ftl`, too.
const NOT_BUILT_IN: &str = "this program was built without DuckDB (cargo feature `duckdb`)";

/// A session, of which there is none.
pub(crate) enum DuckDb {}

impl DuckDb {
    pub(crate) fn open(_: &Path) -> Result<Self, SqlError> {
        Err(SqlError {
            class: Class::Other,
            ..SqlError::lost(NOT_BUILT_IN)
        })
    }

    pub(crate) fn limit(&mut self, _: Duration, _: Arc<AtomicBool>) -> Result<(), SqlError> {
        match *self {}
    }

    pub(crate) fn prepare(&mut self, _: &str) -> Result<Arc<str>, SqlError> {
        match *self {}
    }

    pub(crate) fn batch(&mut self, _: &str) -> Result<(), SqlError> {
        match *self {}
    }

    pub(crate) fn execute(&mut self, _: &str, _: &[Value<'_>]) -> Result<u64, SqlError> {
        match *self {}
    }

    pub(crate) fn query(
        &mut self,
        _: &str,
        _: &[Value<'_>],
        _: EachRow<'_>,
    ) -> Result<(), SqlError> {
        match *self {}
    }

    pub(crate) fn load(&mut self, _: &str, _: &[&str], _: NextRow<'_>) -> Result<u64, SqlError> {
        match *self {}
    }
}
