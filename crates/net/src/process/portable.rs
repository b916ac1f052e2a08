//! Other systems: nothing is limited.

use std::io;
use std::path::PathBuf;

pub(super) fn own_program() -> io::Result<PathBuf> {
    std::env::current_exe()
}

pub(super) fn confine(_share: f64) {}
