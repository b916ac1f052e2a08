//! Tests of `sokudo compare`: figures of the same load beside each other, and what was different.

use serde_json::Value;

use crate::vocabulary::{Place, place, serve};

/// Name of the newest run.
fn newest(place: &Place) -> String {
    let runs = place.run("runs");
    let first = runs.stdout.split_whitespace().next();
    first.expect("a run").to_owned()
}

#[test]
fn runs_of_one_load_stand_beside_each_other() {
    let place = place();
    let server = serve(&place);
    let rr = format!("rr {} --duration 100ms --interval 20ms", server.address);
    place.run(&format!("{rr} --repeat 4")).expect_code(0);
    let before = newest(&place);
    place
        .run(&format!("{rr} --repeat 4 --size 100kB"))
        .expect_code(0);
    let after = newest(&place);
    let ended = place.run(&format!(
        "compare {before} {after} --json --output page.html"
    ));
    assert!([Some(0), Some(1)].contains(&ended.code), "{}", ended.stderr);
    let said: Value = serde_json::from_str(&ended.stdout).expect("one object");
    let differences = sokudo_testkit::document::differences(
        &sokudo_report::compare::COMPARISON,
        std::slice::from_ref(&said),
    );
    assert!(differences.is_empty(), "{differences:#?}");
    let one = &said["comparisons"][0];
    assert_eq!(said["before"], before.as_str());
    let figure = &one["loads"][0]["figures"]["rr.latency_seconds.p50"];
    assert_eq!(
        (&figure["before_runs"], &figure["after_runs"]),
        (&4.into(), &4.into())
    );
    let number = |key: &str| figure[key].as_f64().expect("a number");
    assert!(number("low") <= number("change") && number("change") <= number("high"));
    assert!(number("confidence") >= 0.95);
    let conditions = one["conditions"].as_array().expect("conditions");
    assert!(
        conditions.iter().any(|it| it["name"] == "measure: size"),
        "{conditions:?}"
    );
    let page = std::fs::read_to_string(place.path().join("page.html")).expect("a page");
    assert!(page.contains(&before) && page.contains(&after));
    // A run beside itself.
    place
        .run(&format!("compare {before} {before}"))
        .expect_code(0)
        .expect_stdout("No difference of at least 5 %")
        .expect_stdout("no difference shown");
}

#[test]
fn single_runs_and_loads_that_are_not_alike_say_so() {
    let place = place();
    let server = serve(&place);
    let to = &server.address;
    place.run(&format!("rr {to} --count 50")).expect_code(0);
    let requests = newest(&place);
    place.run(&format!("stream {to} --bytes 1MB"));
    let bytes = newest(&place);
    place
        .run(&format!("compare {requests} {bytes}"))
        .expect_code(2)
        .expect_stderr("no load in common: rr on one side, stream on the other");
    place
        .run(&format!("compare {requests} {requests}"))
        .expect_code(0)
        .expect_stdout("has 1 run");
    place.run(&format!("compare {requests}")).expect_code(2);
    place
        .run(&format!("compare {requests} latest --min-effect much"))
        .expect_code(2)
        .expect_stderr("not a valid share");
}
