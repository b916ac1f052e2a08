//! Dumps of PostgreSQL in the custom format: `pg_dump` and `pg_restore`.

use std::path::Path;
use std::time::Duration;

use super::program::Programs;
use super::watch::{Watch, Wrong};

/// Debian's package of both programs.
const PACKAGE: &str = "postgresql-client";

/// Dumps tables into a file.
pub(super) fn dump(
    programs: &Programs,
    tables: &[&str],
    file: &Path,
    watch: &Watch<'_>,
) -> Result<Duration, Wrong> {
    programs.run(&["pg_dump"], PACKAGE, None, watch, |command| {
        command.args(["--no-password", "--format=custom", "--file"]);
        command.arg(file);
        command.args(tables.iter().map(|table| format!("--table={table}")));
    })
}

/// Restores a dump into a database.
pub(super) fn restore(
    programs: &Programs,
    database: &str,
    file: &Path,
    watch: &Watch<'_>,
) -> Result<Duration, Wrong> {
    programs.run(&["pg_restore"], PACKAGE, None, watch, |command| {
        // Owners and rights are of the source.
        command.args(["--no-password", "--exit-on-error", "--no-owner", "--no-acl"]);
        command.arg(format!("--dbname={database}")).arg(file);
    })
}
