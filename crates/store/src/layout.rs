//! Paths of the files of a record.

use std::path::PathBuf;

use sokudo_model::RunId;

use crate::StoreError;

/// The manifest.
pub const RUN_JSON: &str = "run.json";
/// The executed plan, in a file of its own.
pub const PLAN_JSON: &str = "plan/plan.json";
/// All series.
pub const SERIES: &str = "series.parquet";
/// All interval distributions.
pub const HISTOGRAMS: &str = "histograms.parquet";
/// All events.
pub const EVENTS: &str = "events.parquet";
/// Findings and checks.
pub const FINDINGS: &str = "findings.json";
/// The report for people, written by the report writers through [`crate::attach`].
pub const REPORT: &str = "report.html";
/// Directory of the facts about each host.
pub const ENVIRONMENT: &str = "environment";
/// Directory of the clock readings of each host.
pub const CLOCK: &str = "clock";
/// Table of everything that many hosts did, see [`crate::export::commands`].
pub const COMMANDS: &str = "commands.csv";
/// Directory of the same table of each host.
pub const COMMANDS_OF_HOSTS: &str = "commands";
/// Directory of what was recorded, while the run goes on.
pub const SPOOL: &str = "spool";
/// Ending of a file that is not complete yet.
pub(crate) const TEMPORARY: &str = ".tmp";

/// Longest name of a run, bytes.
const ID_BYTES_MAX: usize = 128;

/// Directory that holds the records: `$SOKUDO_RUNS`, or `runs` in the current directory.
pub fn runs_root() -> PathBuf {
    std::env::var_os("SOKUDO_RUNS")
        .filter(|root| !root.is_empty())
        .map_or_else(|| PathBuf::from("runs"), PathBuf::from)
}

/// Accepts only names that are one harmless directory name on every system.
pub(crate) fn check_id(id: &RunId) -> Result<(), StoreError> {
    let bad = |why| {
        Err(StoreError::BadId {
            id: id.0.clone(),
            why,
        })
    };
    if id.0.is_empty() {
        return bad("it is empty");
    }
    if id.0.len() > ID_BYTES_MAX {
        return bad("it is too long");
    }
    if id.0.starts_with('.') || id.0.ends_with('.') {
        return bad("it starts or ends with a dot");
    }
    if !id.0.bytes().all(plain) {
        return bad("it has a character other than letters, digits, `-`, `_` and `.`");
    }
    Ok(())
}

/// File name for something about a host, `<host>.<extension>`.
///
/// Bytes other than letters, digits, `-`, `_` and `.` become `%XX`, a leading dot too, so that a
/// host's name can never leave its directory. Names longer than 64 bytes are cut and closed with
/// a checksum of the whole.
pub(crate) fn host_file(host: &str, extension: &str) -> String {
    const BYTES_MAX: usize = 64;
    let mut name = String::new();
    for (i, byte) in host.bytes().take(BYTES_MAX).enumerate() {
        if plain(byte) && !(i == 0 && byte == b'.') {
            name.push(char::from(byte));
        } else {
            name.push_str(&format!("%{byte:02X}"));
        }
    }
    if host.is_empty() || host.len() > BYTES_MAX {
        name.push_str(&format!("%~{:08x}", crc32fast::hash(host.as_bytes())));
    }
    format!("{name}.{extension}")
}

fn plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_cannot_leave_the_root() {
        for good in ["2026-11-20T13-57-28-datagram-7f3a", "a", "v1.2_x"] {
            assert!(check_id(&RunId(good.into())).is_ok(), "{good}");
        }
        let long = "x".repeat(200);
        for bad in [
            "", ".", "..", "../x", "a/b", "a\\b", ".hidden", "a b", "é", &long,
        ] {
            assert!(check_id(&RunId(bad.into())).is_err(), "{bad}");
        }
    }

    #[test]
    fn host_files_stay_in_their_directory() {
        assert_eq!(host_file("hosta", "json"), "hosta.json");
        assert_eq!(host_file("../x", "json"), "%2E.%2Fx.json");
        assert_eq!(host_file("fe80::1%eth0", "csv"), "fe80%3A%3A1%25eth0.csv");
        assert!(host_file("", "csv").len() > 4);
        assert!(host_file(&"ホスト".repeat(100), "json").len() < 255);
        assert_ne!(
            host_file(&("x".repeat(99) + "a"), "json"),
            host_file(&("x".repeat(99) + "b"), "json")
        );
    }
}
