//! Tests of measurements with and without a change, and of causes that are put to the test.

use serde_json::Value;

use crate::vocabulary::{place, serve, summary};

#[test]
fn a_change_that_lets_more_through_is_told_with_its_effect() {
    let place = place();
    let server = serve(&place);
    let ended = place.run(&format!(
        "stream {} --pacing 8Mb/s --duration 500ms --versus pacing=32Mb/s --json",
        server.address
    ));
    let said = summary(&ended);
    let [low, ratio, high] =
        ["versus.effect.low", "versus.effect", "versus.effect.high"].map(|name| said.number(name));
    assert!(low <= ratio && ratio <= high, "{low} {ratio} {high}");
    // The kernel keeps the pace whatever else the machine does, until it lacks the CPU for 32 Mb/s.
    assert!(low > 1.0, "{said:?}");
    let phases = place.load().manifest.phases;
    let arms: Vec<&str> = phases.iter().map(|p| p.labels["arm"].as_str()).collect();
    let [a, b] = ["without", "with"];
    assert_eq!(arms, [a, b, b, a, a, b, b, a]);
}

#[test]
fn a_cause_is_confirmed_by_relieving_it() {
    let place = place();
    let server = serve(&place);
    let address = server.address;
    place
        .run(&format!("stream {address} --pacing 8Mb/s --duration 1s"))
        .expect_code(0);
    let record = place.record();
    let run = record.to_str().expect("a path of letters");
    let before = place.run(&format!("why {run} --json"));
    let before: Value = serde_json::from_str(&before.stdout).expect("JSON");
    assert_eq!(before["confirmed"], Value::Null, "{before}");
    if before["cause"] != "application_limited" {
        eprintln!(
            "skipped: this machine named {} instead of the pacing",
            before["cause"]
        );
        return;
    }
    let proved = place.run(&format!("why {run} --prove --json"));
    let object = proved.stdout.rfind("\n{").map_or(0, |at| at + 1);
    let after: Value = serde_json::from_str(&proved.stdout[object..]).expect("JSON");
    assert_eq!(after["confirmed"], Value::Bool(true), "{after}");
}

#[test]
fn what_cannot_be_changed_or_tested_is_refused() {
    let place = place();
    for (typed, why) in [
        ("http 127.0.0.1:9/ --versus connections", "names no change"),
        (
            "http 127.0.0.1:9/ --versus colour=red",
            "no option `--colour`",
        ),
        (
            "http 127.0.0.1:9/ --versus connections=64",
            "changes nothing",
        ),
        ("http 127.0.0.1:9/ --versus connections=0", "connections"),
        ("http 127.0.0.1:9/ --versus threads=", "changes nothing"),
        ("why nothing --prove", "nothing"),
    ] {
        place.run(typed).expect_code(2).expect_stderr(why);
    }
}
