//! The study of a server's settings as one scenario, on a real PostgreSQL.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;
use sokudo_testkit::databases;

use crate::vocabulary::{place, refused};

/// The example runs with few short rounds; settings with which commits may be lost want to be allowed.
#[test]
fn the_study_of_settings_measures_each_of_them_in_turns_and_puts_them_back() {
    let Some(server) = databases::postgres(&[]) else {
        return;
    };
    let place = place();
    let dsn = server.dsn();
    place.run(&format!("db init --target {dsn}")).expect_code(0);
    let before = server.settings();
    let config = place.path().join("config").display().to_string();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/sql/settings.js");
    let sokudo = |more: &str| {
        let line = format!(
            "run {} --set dsn={dsn} --set seconds=0.3 {more}",
            example.display()
        );
        place.sokudo(&line).env("SOKUDO_CONFIG", &config)
    };
    refused(
        &sokudo("--set lazy=true").run(),
        "synchronous_commit=off a crash may",
        "--allow-unsafe",
    );
    let ended = sokudo("--set rounds=1 --set lazy=true --allow-unsafe").run();
    ended
        .expect_code(0)
        .expect_stdout("max_wal_size=8GB")
        .expect_stdout("With less than 6 rounds")
        .expect_stdout("A is default, B is default (again).")
        .expect_stdout("A is default, D is lazy.")
        .expect_stdout("no difference shown");
    assert_eq!(server.settings(), before);
    let records = place.records();
    assert_eq!(records.len(), 1);
    let run = std::fs::read_to_string(records[0].join("run.json")).expect("a record");
    let run: Value = serde_json::from_str(&run).expect("JSON");
    let monitors = run["plan"]["monitors"].as_array().expect("monitors");
    let mut names: Vec<&str> = monitors
        .iter()
        .filter_map(|it| it["name"].as_str())
        .collect();
    names.sort_unstable();
    // The server tells of itself, and its processes are no neighbours; once, over all phases.
    assert_eq!(names, ["postgres", "process"]);
    let report = place.run("report latest --form markdown --lang ja");
    report
        .expect_code(0)
        .expect_stdout("交互に測ったサーバーの設定");

    let shown = place.run("show latest --json");
    let told: Value = serde_json::from_str(&shown.stdout).expect("JSON");
    let pairs = told["profiles"]["pairs"].as_array().expect("pairs");
    let after: Vec<&str> = pairs.iter().filter_map(|it| it["after"].as_str()).collect();
    assert_eq!(
        (after[0], pairs[0]["is_same"].as_bool()),
        ("default (again)", Some(true))
    );
    assert!(after.contains(&"lazy"), "{after:?}");
    let rate = &pairs[0]["loads"][0]["figures"]["sql.transactions_per_second"];
    assert_eq!(rate["verdict"], "no difference shown", "{rate}");

    // What a killed one leaves changed is put back by the next.
    let running = sokudo("--set rounds=50").start();
    let begun = Instant::now();
    while server.settings() == before {
        assert!(
            begun.elapsed() < Duration::from_secs(60),
            "no setting was changed"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    running.kill();
    let next = sokudo("--set rounds=1").run();
    next.expect_code(0);
    assert!(next.stderr.contains("they are put back"), "{next}");
    assert_eq!(server.settings(), before);
}
