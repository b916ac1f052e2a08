//! Dumps of MariaDB and MySQL as SQL: `mariadb-dump` or `mysqldump`, and `mariadb` or `mysql`.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::program::Programs;
use super::watch::{Watch, Wrong};

/// Dumps tables of a database into a file, as of one moment.
pub(super) fn dump(
    programs: &Programs,
    database: &str,
    tables: &[&str],
    file: &Path,
    watch: &Watch<'_>,
) -> Result<Duration, Wrong> {
    let names = in_order(programs, ["mariadb-dump", "mysqldump"]);
    programs.run(&names, package(programs), None, watch, |command| {
        own_options(command, programs);
        command.args(["--single-transaction", "--quick", "--no-tablespaces"]);
        let mut result = std::ffi::OsString::from("--result-file=");
        result.push(file);
        command.arg(result).arg(database).args(tables);
    })
}

/// Restores a dump into a database.
pub(super) fn restore(
    programs: &Programs,
    database: &str,
    file: &Path,
    watch: &Watch<'_>,
) -> Result<Duration, Wrong> {
    let names = in_order(programs, ["mariadb", "mysql"]);
    programs.run(&names, package(programs), Some(file), watch, |command| {
        own_options(command, programs);
        command.arg("--batch").arg(database);
    })
}

/// Options from the private file only, also the password: this has to be the first argument.
fn own_options(command: &mut Command, programs: &Programs) {
    let mut defaults = std::ffi::OsString::from("--defaults-file=");
    defaults.push(programs.options());
    command.arg(defaults);
}

/// MariaDB's program and MySQL's, that of the server first.
fn in_order(programs: &Programs, mut names: [&'static str; 2]) -> [&'static str; 2] {
    if !programs.is_mariadb {
        names.reverse();
    }
    names
}

/// Debian's package of the programs.
fn package(programs: &Programs) -> &'static str {
    match programs.is_mariadb {
        true => "mariadb-client",
        false => "mysql-client",
    }
}
