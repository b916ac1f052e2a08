//! Tests of predictions: `sokudo advise`, and the time that a replication tells beforehand.

use std::fs;

use serde_json::Value;

use crate::vocabulary::{Place, place, serve_with, summary};

/// A server for the directory `target`, and words that lead to it.
fn far(place: &Place) -> (crate::vocabulary::Server, String) {
    let target = place.path().join("target");
    fs::create_dir(&target).expect("a directory");
    let target = target.to_str().expect("a path of a test").to_owned();
    let server = serve_with(place.words(["serve", "--bind", "127.0.0.1:0", "--path", &target]));
    let far = format!("{}:{target}", server.address);
    (server, far)
}

fn names(place: &Place) -> usize {
    fs::read_dir(place.path().join("target"))
        .expect("the target")
        .count()
}

#[test]
fn advice_is_predicted_tried_and_written_as_a_specification() {
    let place = place();
    let (_server, far) = far(&place);
    let words = format!("advise dataset:300x10KB {far} --rounds 1 --apply copy.toml --json");
    let advised = place.run(&words);
    advised.expect_code(0);
    let said: Value = serde_json::from_str(&advised.stdout).expect("one JSON object");
    let advice = &said["advice"];
    assert_eq!(advice["predicted_settings"], 60);
    assert_eq!(advice["tried_settings"], 4);
    assert_eq!(advice["rules"].as_array().map(Vec::len), Some(4));
    let settings = advice["settings"].as_array().expect("settings");
    let tried = settings
        .iter()
        .filter(|it| it["trials"][0]["measured_seconds"].is_number());
    assert_eq!(tried.count(), 4);
    assert!(settings.iter().any(|it| it["is_default"] == true));
    let chosen = advice["chosen"].as_u64().expect("a choice") as usize;
    let range = |name: &str| settings[chosen][name].as_f64().expect("a time");
    assert!(range("low_seconds") < range("predicted_seconds"));
    assert!(range("predicted_seconds") < range("high_seconds"));
    // What trials wrote is gone.
    assert_eq!(names(&place), 0, "{advised}");
    let specification = fs::read_to_string(place.path().join("copy.toml")).expect("a file");
    assert!(specification.contains("[spec.advised]"), "{specification}");
}

#[test]
fn the_time_is_told_before_and_compared_after() {
    let place = place();
    let (_server, far) = far(&place);
    let source = place.path().join("source");
    fs::create_dir(&source).expect("a directory");
    for number in 0..50 {
        let text = format!("line {number}\n").repeat(1_000);
        fs::write(source.join(number.to_string()), text).expect("a file");
    }
    let from = source.display();
    let dry = place.run(&format!("replicate {from} {far} --dry-run --json"));
    dry.expect_code(0);
    let said = summary(&dry);
    assert_eq!(said.number("replicate.files_written"), 50.0);
    assert!(said.number("replicate.predicted_seconds") > 0.0);
    assert!(dry.stdout.contains("It would take about"), "{dry}");
    assert_eq!(names(&place), 0, "{dry}");

    let sent = place.run(&format!("replicate {from} {far} --predict --json"));
    sent.expect_code(0);
    let said = summary(&sent);
    assert_eq!(said.number("replicate.files_written"), 50.0);
    assert!(said.number("replicate.predicted_seconds") > 0.0);
    assert!(sent.stdout.contains("were predicted"), "{sent}");
    assert_eq!(names(&place), 50);
}
