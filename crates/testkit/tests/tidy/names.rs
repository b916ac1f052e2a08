//! Names of workloads and metrics stand once: in their kind.
//!
//! Code that needs one refers to `sokudo_model::kinds` or `sokudo_model::metrics`, where a typo does
//! not compile and a workload that comes later is not forgotten.

use std::collections::BTreeSet;
use std::path::Path;

use sokudo_model::kinds::KINDS;
use sokudo_model::metric::{Stat, catalogue};

use crate::{none, texts_below};

/// Folders in which names are declared.
const DECLARED: &[&str] = &["crates/model/src/kinds", "crates/model/src/metrics"];

/// Folders in which the formats of others are read and written: their words may be the same.
const FOREIGN: &[&str] = &[
    "crates/coherence/src",
    "crates/jmeter/src",
    "crates/store/src/iperf3",
];

/// Words that are also the name of a workload or a metric, and what they mean there.
const OTHER_MEANING: &[(&str, &str, &str)] = &[
    ("crates/analyze/src", "probe", "role of a trial"),
    ("crates/analyze/src", "stream", "label of a flow"),
    (
        "crates/controller/src/health.rs",
        "bus",
        "source of events about links",
    ),
    (
        "crates/controller/src/search.rs",
        "probe",
        "role of a trial",
    ),
    ("crates/groovy/src", "stream", "method of Java"),
    ("crates/http/src", "http", "scheme of a URL"),
    ("crates/load-http/src", "http", "scheme of a URL"),
    ("crates/load-network/src/bus", "rr", "mode of the bus"),
    ("crates/load-network/src/bus", "stream", "mode of the bus"),
    (
        "crates/load-network/src/datagram",
        "stream",
        "label of a flow",
    ),
    ("crates/report/src", "probe", "role of a trial"),
    (
        "crates/report/src/summary.rs",
        "sweep.steps",
        "place in a JSON document",
    ),
    ("crates/sokudo/src/cli/jmx", "http", "scheme of a proxy"),
    (
        "crates/sokudo/src/cli/jmx",
        "probe",
        "what a probed plan says",
    ),
    (
        "crates/web/src/feed.rs",
        "bus",
        "source of events about links",
    ),
];

#[test]
fn names_of_workloads_and_metrics_stand_in_their_kind_only() {
    let metrics: BTreeSet<String> = catalogue()
        .flat_map(|metric| {
            let stats = Stat::ALL.map(|stat| metric.stat(stat));
            stats.into_iter().chain([metric.name.to_owned()])
        })
        .collect();
    let mut offences = Vec::new();
    for (path, text) in texts_below("crates", &["rs"]) {
        if !is_product(&path) || below(&path, DECLARED) || below(&path, FOREIGN) {
            continue;
        }
        for (line, word) in literals(&text) {
            let is_metric = metrics.contains(&word);
            let is_workload =
                KINDS.iter().any(|kind| kind.name == word) && !is_own_folder(&path, &word);
            if (is_metric || is_workload) && !has_other_meaning(&path, &word) {
                let at = path.display();
                offences.push(format!(
                    "{at}:{line}: \"{word}\" as text; refer to it in sokudo_model::kinds or ::metrics"
                ));
            }
        }
    }
    none(offences);
}

/// True for code that is in the program: not tests, examples and benches.
fn is_product(path: &Path) -> bool {
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    let is_source = parts.get(2).is_some_and(|part| part == "src");
    let of_tests =
        |part: &str| matches!(part, "tests" | "testdata" | "tests.rs" | "remembering.rs");
    let testkit = parts.get(1).is_some_and(|part| part == "testkit");
    is_source && !testkit && !parts.iter().any(|part| of_tests(part))
}

fn below(path: &Path, folders: &[&str]) -> bool {
    folders.iter().any(|folder| path.starts_with(folder))
}

/// A workload's own folder may say its name: `crates/load-network/src/rr`.
fn is_own_folder(path: &Path, workload: &str) -> bool {
    path.iter().any(|part| part == workload)
}

fn has_other_meaning(path: &Path, word: &str) -> bool {
    let mut known = OTHER_MEANING.iter();
    known.any(|(place, other, _)| *other == word && path.starts_with(place))
}

/// Texts in double quotes with their lines, outside comments and before the tests of the file.
fn literals(text: &str) -> Vec<(usize, String)> {
    let mut out = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        if line.starts_with("#[cfg(test)]") {
            break;
        }
        if line.trim_start().starts_with("//") {
            continue;
        }
        let parts = line.split('"').skip(1).step_by(2);
        out.extend(parts.map(|part| (number, part.to_owned())));
    }
    out
}

#[test]
fn texts_are_found_and_tests_are_left_out() {
    let text = "//! \"doc\"\nlet a = f(\"rr\", \"x\");\n#[cfg(test)]\nmod tests { \"rr\" }";
    let found = literals(text);
    assert_eq!(found, [(2, "rr".to_owned()), (2, "x".to_owned())]);
    assert!(is_product(Path::new("crates/web/src/feed.rs")));
    assert!(!is_product(Path::new("crates/web/src/tests.rs")));
    assert!(!is_product(Path::new(
        "crates/load-http/tests/http/main.rs"
    )));
}
