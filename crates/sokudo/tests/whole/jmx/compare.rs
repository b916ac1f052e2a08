//! Tests that plans send, record, sum up and write what they do in the real JMeter.
//!
//! Each plan of `tests/plans` is small and of one theme. `./dev compare-jmeter PLAN…` does the same
//! with others.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use sokudo_testkit::compare::compare;
use sokudo_testkit::jmeter::JMeter;
use sokudo_testkit::skip;

/// Plans that send nothing in JMeter, which is what they are about.
const SILENT: [&str; 1] = ["group-without-controller"];

/// The plans that are compared, in order.
fn plans() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/plans");
    let entries = std::fs::read_dir(&folder).expect("a folder of plans");
    let mut plans: Vec<PathBuf> = entries
        .map(|entry| entry.expect("a file of it").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "jmx"))
        .collect();
    plans.sort();
    plans
}

#[test]
fn plans_do_what_they_do_in_jmeter() {
    if let Err(why) = JMeter::find() {
        return skip(why);
    }
    let compared = compare(&plans(), &[]).expect("both programs run");
    let mut differing = String::new();
    for of in compared {
        let name = of.plan.file_stem().unwrap_or_default().to_string_lossy();
        let is_silent = SILENT.contains(&name.as_ref());
        assert_eq!(of.rows == 0, is_silent, "{name}: JMeter's results");
        for difference in of.differences {
            let _ = writeln!(differing, "{}: {difference}", of.plan.display());
        }
    }
    assert!(differing.is_empty(), "\n{differing}");
}
