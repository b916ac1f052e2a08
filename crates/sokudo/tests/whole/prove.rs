//! Tests of measurements with and without a change, and of causes that are put to the test.

use serde_json::Value;
use sokudo_model::settings::Setting;
use sokudo_testkit::databases;
use sokudo_testkit::program::Ended;

use crate::vocabulary::{place, refused, serve, summary};

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
        (
            "http 127.0.0.1:9/ --versus setting.fsync=off",
            "none is loaded",
        ),
        (
            "tpcb --versus setting.fsync=off --allow-unsafe",
            "none is loaded",
        ),
        ("tpcb --allow-unsafe", "--versus"),
        ("why nothing --prove", "nothing"),
    ] {
        place.run(typed).expect_code(2).expect_stderr(why);
    }
}

/// A setting of a server is changed for every second run, and put back, also by the next command after this one was
/// killed.
#[test]
fn a_setting_of_a_server_is_changed_in_turns_and_put_back() {
    let Some(server) = databases::mariadb() else {
        return;
    };
    let place = place();
    // Other tests' programs would put back what this one's leave.
    let config = place.path().join("config");
    let sokudo = |line: &str| {
        let line = place.sokudo(line);
        line.env("SOKUDO_CONFIG", &config.display().to_string())
    };
    let dsn = server.dsn();
    sokudo(&format!("db init --target {dsn}"))
        .run()
        .expect_code(0);
    let change = "--versus setting.innodb_flush_log_at_trx_commit=2";
    let line = format!("tpcb --target {dsn} -n 20 {change}");
    refused(
        &sokudo(&line).run(),
        "innodb_flush_log_at_trx_commit=2 a crash may",
        "--allow-unsafe",
    );
    let ended = sokudo(&format!("{line} --allow-unsafe --json")).run();
    ended.expect_code(0);
    assert!(summary(&ended).number("versus.effect") > 0.0, "{ended}");
    let in_force = |ended: &Ended| -> Vec<String> {
        let told = summary(ended);
        let record = place
            .path()
            .join(told.0["record"].as_str().expect("a record"));
        let series = sokudo_store::load(&record)
            .expect("a record")
            .series
            .into_iter();
        let settings = series.filter_map(|series| Setting::of(&series.key));
        let own = settings.filter(|it| it.name == "innodb_flush_log_at_trx_commit");
        let mut values: Vec<String> = own.map(|it| it.value).collect();
        values.sort();
        values
    };
    assert_eq!(in_force(&ended), ["1", "2"]);
    let back = "settings of the database server put back: innodb_flush_log_at_trx_commit=1";
    assert!(ended.stderr.contains(back), "{ended}");

    let notes = config.join("databases");
    // Nothing is changed before a note has its name.
    let left = || {
        let files = std::fs::read_dir(&notes).into_iter().flatten().flatten();
        let names = files.map(|file| file.path());
        names
            .filter(|name| name.extension().is_some_and(|it| it == "json"))
            .count()
    };
    let running = sokudo(&format!("{line} --allow-unsafe")).start();
    let begun = std::time::Instant::now();
    while left() == 0 {
        assert!(begun.elapsed().as_secs() < 30, "no setting was changed");
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    running.kill();
    let is_left = left() > 0;
    let next = sokudo(&format!("tpcb --target {dsn} -n 20 --json")).run();
    next.expect_code(0);
    // It may have been put back just when the program was killed.
    assert_eq!(next.stderr.contains("they are put back"), is_left, "{next}");
    assert_eq!((in_force(&next), left()), (vec!["1".to_owned()], 0));
}
