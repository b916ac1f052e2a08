//! Every command of the guide for people who come from JMeter works.

use std::fs;
use std::path::Path;

use super::far::{far, says};
use crate::vocabulary::place;

/// The words of a command line, quotes undone.
fn words(line: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = line.trim();
    while !rest.is_empty() {
        let (word, behind) = match rest.strip_prefix('\'') {
            Some(quoted) => quoted.split_once('\'').expect("a closed quote"),
            None => rest.split_once(' ').unwrap_or((rest, "")),
        };
        found.push(word.to_owned());
        rest = behind.trim_start();
    }
    found
}

#[test]
fn every_command_of_the_guide_works() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide");
    let read = |lang: &str| fs::read_to_string(docs.join(lang).join("from-jmeter.md")).unwrap();
    let commands = |text: &str| -> Vec<String> {
        let lines = text.lines().filter_map(|line| line.strip_prefix("sokudo "));
        lines.map(str::to_owned).collect()
    };
    let commands_en = commands(&read("en"));
    assert_eq!(
        commands_en,
        commands(&read("ja")),
        "the same commands in both languages"
    );
    assert!(commands_en.len() >= 6, "{commands_en:?}");
    let place = place();
    let plan = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/shop.jmx");
    fs::copy(plan, place.path().join("shop.jmx")).unwrap();
    let shop = far(|_, request| match request.starts_with("GET /items ") {
        true => says(200, r#"[{"id": 1}, {"id": 2}]"#),
        false => says(
            if request.ends_with("item=1") || request.ends_with("item=2") {
                200
            } else {
                400
            },
            "",
        ),
    });
    for command in commands_en {
        let port = format!("port={}", shop.address.port());
        // As typed, against this server and for a shorter time.
        let command = command
            .replace("port=8080", &port)
            .replace("seconds=10", "seconds=1")
            .replace("--duration 10", "--duration 1")
            .replace("--duration 5", "--duration 1");
        let words = words(&command);
        let ended = place.words(words.iter().map(String::as_str)).run();
        // On a machine that is busy with other things arrivals may leave late: then the run failed.
        let said: Vec<&str> = ended.stdout.split_whitespace().collect();
        let was_late = said.join(" ").contains("did not keep its schedule");
        if !(command.contains("--model") && was_late) {
            ended.expect_code(0);
        }
    }
    let rows = fs::read_to_string(place.path().join("result.jtl")).unwrap();
    assert!(
        rows.lines().skip(1).all(|row| row.contains(",true,")),
        "{rows}"
    );
    assert!(place.path().join("dashboard").is_dir());
}
