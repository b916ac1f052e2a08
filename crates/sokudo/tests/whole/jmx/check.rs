//! Tests of `sokudo jmx check`: the contents of a plan, and the reasons to refuse it.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use sokudo_testkit::program::Ended;

use crate::vocabulary::{Place, place};

/// A plan of the crate that reads them.
fn plan(name: &str) -> String {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let path: PathBuf = crates.join("jmeter/testdata").join(name);
    path.display().to_string()
}

fn check(place: &Place, name: &str, more: &[&str]) -> Ended {
    let plan = plan(name);
    let words = ["jmx", "check", &plan];
    place.words(words.iter().chain(more).copied()).run()
}

fn json(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout).expect("one JSON object on stdout")
}

#[test]
fn a_plan_that_is_understood_is_told_with_users_and_warnings() {
    let ended = check(
        &place(),
        "plans/stress.jmx",
        &[
            "-J",
            "THREAD_NUMBER=40",
            "-JSUSTAIN=300",
            "--generators",
            "3",
        ],
    );
    ended
        .expect_code(0)
        .expect_stdout("240 users on 3 generators")
        .expect_stdout("583 ms on average, not 500 ms")
        .expect_stdout("40 + 40 = 80 users on each generator")
        .expect_stdout("This plan can be executed completely");
}

#[test]
fn a_refused_plan_is_told_with_all_reasons_and_exit_2() {
    let ended = check(&place(), "refused/unknown.jmx", &[]);
    ended
        .expect_code(2)
        .expect_stdout("unknown.jmx:15:9")
        .expect_stdout("`MagicSampler` (“magic”) is an unknown element")
        .expect_stdout("`TurboController`")
        .expect_stdout("the script is in jython: Groovy, BeanShell and JavaScript are supported")
        .expect_stdout("This plan is refused: 7 errors");
    check(&place(), "refused/unknown.jmx", &["--unsupported", "skip"]).expect_code(0);
}

#[test]
fn every_sentence_exists_in_both_languages() {
    let folders = ["plans", "refused"];
    for folder in folders {
        for file in fs::read_dir(plan(folder)).unwrap().flatten() {
            let name = file.file_name().into_string().unwrap();
            if !name.ends_with(".jmx") {
                continue;
            }
            for lang in ["en", "ja"] {
                let ended = check(&place(), &format!("{folder}/{name}"), &["--lang", lang]);
                assert!(
                    !ended.stdout.contains("[jmx-"),
                    "{name} {lang}:\n{}",
                    ended.stdout
                );
            }
        }
    }
}

#[test]
fn properties_win_in_jmeters_order() {
    let place = place();
    fs::write(
        place.path().join("user.properties"),
        "THREAD_NUMBER=1\nSUSTAIN=10",
    )
    .unwrap();
    fs::write(place.path().join("a.properties"), "THREAD_NUMBER=2").unwrap();
    fs::write(place.path().join("b.properties"), "THREAD_NUMBER=3").unwrap();
    let users = |more: &[&str]| {
        let all = [&["--json"], more].concat();
        let ended = check(&place, "plans/stress.jmx", &all);
        json(&ended)["load"]["groups"][0]["users"].clone()
    };
    assert_eq!(users(&[]), 1);
    assert_eq!(users(&["-q", "a.properties", "-q", "b.properties"]), 3);
    assert_eq!(users(&["-q", "a.properties", "-J", "THREAD_NUMBER=4"]), 4);
    assert_eq!(
        users(&["-G", "THREAD_NUMBER=5", "-J", "THREAD_NUMBER=4"]),
        5
    );
    assert_eq!(users(&["-D", "THREAD_NUMBER=6"]), 1);
}

#[test]
fn the_json_holds_everything_and_the_plan_when_asked() {
    let place = place();
    let short = json(&check(
        &place,
        "plans/stress.jmx",
        &["--json", "-JTHREAD_NUMBER=40"],
    ));
    assert_eq!(short["schema"], "sokudo.jmx-check/1");
    assert_eq!(short["accepted"], true);
    assert_eq!(short["load"]["users"], 80);
    assert_eq!(short["elements"][1]["element"], "ThreadGroup");
    assert!(short["resolved"].is_null());
    let unset = short["problems"]
        .as_array()
        .unwrap()
        .iter()
        .find(|p| p["key"] == "jmx-property-unset");
    assert!(
        unset.unwrap()["says"]
            .as_str()
            .unwrap()
            .contains("`SUSTAIN`")
    );
    let whole = json(&check(
        &place,
        "plans/stress.jmx",
        &["--json", "--resolved"],
    ));
    assert_eq!(
        whole["resolved"]["samplers"][0]["arguments"][0]["name"],
        "searchTime"
    );
}

#[test]
fn what_cannot_be_read_is_an_operator_error() {
    let place = place();
    check(&place, "plans/none.jmx", &[])
        .expect_code(2)
        .expect_stderr("none.jmx` cannot be read");
    check(&place, "plans/stress.jmx", &["-q", "none.properties"])
        .expect_code(2)
        .expect_stderr("none.properties` cannot be read");
    check(&place, "plans/stress.jmx", &["-J", "=1"])
        .expect_code(2)
        .expect_stderr("NAME=VALUE");
}

/// The pages in `docs/reference` are the program's own output. Run with `SOKUDO_BLESS=1` to write
/// them anew.
#[test]
fn the_reference_pages_are_what_the_program_prints() {
    for lang in ["en", "ja"] {
        let ended = place().run(&format!("jmx elements --lang {lang}"));
        ended.expect_code(0);
        let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference");
        let page = docs.join(lang).join("jmx-coverage.md");
        if std::env::var_os("SOKUDO_BLESS").is_some() {
            fs::write(&page, &ended.stdout).unwrap();
        }
        let written = fs::read_to_string(&page).unwrap_or_default();
        assert!(
            ended.stdout == written,
            "{} is old: run this test with SOKUDO_BLESS=1",
            page.display()
        );
    }
}
