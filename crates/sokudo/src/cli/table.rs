//! Files of tab-separated values that a command is asked for.

use std::path::Path;

use super::Failure;

/// Creates the file before the load: better told then than after it.
pub fn must_be_writable(file: &Path) -> Result<(), Failure> {
    write(file, "")
}

/// Writes the table.
pub fn write(file: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(file, text).map_err(|error| Failure::cannot_write(file, &error))
}
