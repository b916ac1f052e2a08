//! Tests of the bytes sent to the server, against JMeter.

use sokudo_testkit::skip;

use crate::cases::{Case, all};
use crate::recorder::{Answer, Recorder};
use crate::{golden, plan, play};

const GOLDEN: &str = "requests.txt";

pub fn answers(cases: &[Case]) -> Vec<Answer> {
    cases.iter().flat_map(|case| case.answers.clone()).collect()
}

pub fn whole_plan(cases: &[Case]) -> String {
    let below: String = cases
        .iter()
        .map(|case| plan::controller(case.name, &case.xml))
        .collect();
    plan::plan(&plan::group("users", 1, &below))
}

/// A directory with the files that are uploaded.
fn directory() -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("make a temporary directory");
    std::fs::write(directory.path().join("one.txt"), "first\nsecond\n").expect("write a file");
    std::fs::write(directory.path().join("日本.bin"), [0, 1, 254, 255]).expect("write a file");
    directory
}

/// Executes all cases and tells what was sent and written.
fn record(execute: impl FnOnce(&std::path::Path, &str, &[(&str, String)]) -> String) -> String {
    let cases = all();
    let recorder = Recorder::start(answers(&cases));
    let directory = directory();
    let rows = execute(
        directory.path(),
        &whole_plan(&cases),
        &[
            ("port", recorder.port.to_string()),
            ("files", directory.path().display().to_string()),
        ],
    );
    let names: Vec<&str> = cases.iter().map(|case| case.name).collect();
    let files = directory.path().display().to_string();
    golden::told(&names, &recorder.take(), &rows, &[(recorder.port, "port")])
        .replace(&files, "{files}")
}

#[test]
fn every_request_is_what_jmeter_sends() {
    let golden = std::fs::read_to_string(golden::path(GOLDEN)).unwrap_or_default();
    golden::assert_same(&record(play::sokudo), &golden);
}

#[test]
fn the_recording_is_what_jmeter_sends_today() {
    if let Err(why) = sokudo_testkit::jmeter::JMeter::find() {
        return skip(why);
    }
    let today = record(|directory, plan, properties| {
        play::jmeter(directory, plan, properties).unwrap_or_else(|why| panic!("{why}"))
    });
    golden::compare_or_bless(GOLDEN, &today);
}
