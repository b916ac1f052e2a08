//! The files of a plan: its folder, the current one, and what the operator names.

use std::fs;

use crate::jmx::far::{Far, far, get, plan, says};
use crate::vocabulary::{Place, place};

/// A plan in `plans/` that reads and writes files outside of it and of the current folder.
fn intruder(place: &Place, elsewhere: &tempfile::TempDir) -> Far {
    let far = far(|_, _| says(200, "ok"));
    let outside = elsewhere.path().display();
    fs::write(elsewhere.path().join("secret.txt"), "hidden").expect("a file");
    let listener = format!(
        r#"<ResultCollector guiclass="SimpleDataWriter" testname="w"><stringProp name="filename">{outside}/out.jtl</stringProp></ResultCollector><hashTree/>"#
    );
    let path = format!("/a?x=${{__FileToString({outside}/secret.txt)}}");
    place.write("plan.jmx", &plan(1, 1, &get(far.address, &path, &listener)));
    far
}

#[test]
fn a_plan_reads_and_writes_elsewhere_only_where_it_is_named() {
    let (place, elsewhere) = (place(), tempfile::tempdir().expect("a directory"));
    let outside = elsewhere.path().display().to_string();
    let far = intruder(&place, &elsewhere);
    let told = place.words(["jmx", "run", "plan.jmx"]).run();
    told.expect_stderr("`--with` names further ones");
    assert!(
        far.asked()
            .iter()
            .all(|request| !request.contains("hidden"))
    );
    assert!(!elsewhere.path().join("out.jtl").exists());
    let named = place.words(["jmx", "run", "plan.jmx", "--with", &outside]);
    named.run().expect_code(0);
    assert!(far.asked().iter().any(|request| request.contains("hidden")));
    assert!(elsewhere.path().join("out.jtl").exists());
}

#[test]
fn the_tools_own_command_trusts_its_plans() {
    let (place, elsewhere) = (place(), tempfile::tempdir().expect("a directory"));
    let far = intruder(&place, &elsewhere);
    let words = ["compat", "jmeter", "-n", "-t", "plan.jmx"];
    place.words(words).run().expect_code(0);
    assert!(far.asked().iter().any(|request| request.contains("hidden")));
    assert!(elsewhere.path().join("out.jtl").exists());
}

#[test]
fn the_check_lists_every_file_and_what_must_be_named() {
    let (place, elsewhere) = (place(), tempfile::tempdir().expect("a directory"));
    let outside = elsewhere.path().display().to_string();
    let _far = intruder(&place, &elsewhere);
    let needs = |more: &[&str]| -> Vec<(String, bool, Option<bool>)> {
        let words = [&["jmx", "check", "plan.jmx", "--json"], more].concat();
        let ended = place.words(words).run();
        let told: serde_json::Value = serde_json::from_str(&ended.stdout).expect("JSON");
        let files = told["files"].as_array().expect("a list").iter();
        let one = |file: &serde_json::Value| {
            let path = file["path"].as_str().expect("a path").to_owned();
            let is_written = file["is_written"].as_bool().expect("a flag");
            (path, is_written, file["needs_with"].as_bool())
        };
        files.map(one).collect()
    };
    let expected = |needs_with: bool| {
        [
            (format!("{outside}/out.jtl"), true, Some(needs_with)),
            (format!("{outside}/secret.txt"), false, Some(needs_with)),
        ]
    };
    assert_eq!(needs(&[]), expected(true));
    assert_eq!(needs(&["--with", &outside]), expected(false));
    let text = place.words(["jmx", "check", "plan.jmx"]).run();
    text.expect_stdout("secret.txt")
        .expect_stdout("needs --with");
}
