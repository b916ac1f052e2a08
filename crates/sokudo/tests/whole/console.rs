//! Many hosts that are told what to do, line by line.

use crate::vocabulary::{place, summary};

/// The experiment of the group tester, small: two pairs, staged, then started together.
const STAGED: &str = "\
syncTime
node 1 set connectnode 3   # each pair has its own command …
node 2 set connectnode 4
all enter                  # … and all start at once
all sendreceive-n 10kB 20
waitallresults 2 60s
node 1 set rr 3 --count 50
node 2 set stream 4 --bytes 1MB
all enter
waitallresults 2 60s
";

#[test]
fn a_script_stages_different_commands_and_starts_them_together() {
    let place = place();
    place.write("staged.sks", STAGED);
    let ended = place
        .words(["run", "staged.sks", "--local", "4", "--json"])
        .run();
    ended.expect_code(0).expect_stderr("hosts with results: 2");
    let summary = summary(&ended);
    assert_eq!(summary.number("group.hosts"), 4.0);
    assert_eq!(summary.number("group.clock_error_seconds.max"), 0.0);
    let record = &place.records()[0];
    let kept = std::fs::read_to_string(record.join("plan/scenario.sks")).expect("the script");
    assert_eq!(kept, STAGED);
    let table = std::fs::read_to_string(record.join("commands.csv")).expect("a table");
    let mut lines = table.lines();
    let heads = "start_ms,end_ms,command,from,to,bytes,bits_per_second,complete,phase";
    assert_eq!(lines.next(), Some(heads));
    assert_eq!(lines.count(), 6, "{table}");
    // Each host has what it took part in: the second pair's connection, echo and stream.
    for host in ["hostb", "hostd"] {
        let own = record.join(format!("commands/{host}.csv"));
        let own = std::fs::read_to_string(own).expect("a table of its own");
        assert_eq!(own.lines().next(), Some(heads));
        let others: Vec<&str> = table.lines().filter(|line| line.contains(host)).collect();
        assert_eq!(own.lines().skip(1).collect::<Vec<_>>(), others);
        assert_eq!(others.len(), 3, "{own}");
    }
    let report = std::fs::read_to_string(record.join("report.html")).expect("a report");
    assert!(report.contains("Many flows at once"), "no section of pairs");
    assert!(summary.number("group.start_spread_seconds.max") >= 0.0);
    let manifest = std::fs::read_to_string(record.join("run.json")).expect("the manifest");
    for phase in ["1-connect", "2-sendreceive-n", "3-rr+stream"] {
        assert!(manifest.contains(phase), "no phase {phase}");
    }
}

#[test]
fn lines_may_come_through_a_pipe() {
    let place = place();
    let console = || place.words(["console", "--local", "2"]);
    let ended = console().stdin("node 1 rr 2 --count 20\nquit\n").run();
    ended.expect_code(0).expect_stdout("→ hostb");
    let ended = console().stdin("hosts\nhelp rr\n").run();
    ended.expect_code(0).expect_stdout("hostb");
    assert_eq!(
        place.records().len(),
        1,
        "nothing was loaded the second time"
    );
}

#[test]
fn mistakes_are_told_before_anything_starts() {
    let place = place();
    place.write("wrong.sks", "all rr 1 --count 5\nnode x enter\nwaittime\n");
    let ended = place.words(["run", "wrong.sks", "--local", "2"]).run();
    ended
        .expect_code(2)
        .expect_stderr("line 2, column 6: `x` names no hosts")
        .expect_stderr("line 3, column 9")
        .expect_stderr("hint");
    assert!(place.records().is_empty());
    let ended = place
        .words(["console", "--local", "1"])
        .stdin("node 3 enter\n")
        .run();
    ended.expect_code(2).expect_stderr("there is no host `3`");
    let ended = place.words(["console"]).run();
    ended.expect_code(2).expect_stderr("no hosts are named");
}

/// Every kind of load says how late each of its flows began, and a bound on that is kept or told.
#[test]
fn flows_begin_together_or_a_check_says_that_they_do_not() {
    let place = place();
    let lines = "\
node 1 set stream 2 --bytes 100kB
node 2 set bus 3 --count 50
node 3 set datagram 4 --count 50 --rate 1000/s
node 4 set probe 1 --duration 200ms
all enter
waitallresults 4 60s
";
    place.write("begin.sks", lines);
    let run = |most: &str| {
        let words = [
            "run",
            "begin.sks",
            "--local",
            "4",
            "--json",
            "--max-skew",
            most,
        ];
        place.words(words).run()
    };
    let kept = run("10s");
    kept.expect_code(0);
    let said = summary(&kept);
    let flows = said.0["flows"].as_array().expect("flows");
    assert_eq!(flows.len(), 4);
    for flow in flows {
        let late = &flow["metrics"]["group.start_late_seconds"];
        assert!(late.as_f64().is_some_and(|late| late >= 0.0), "{flow}");
    }
    assert!(said.number("group.start_spread_seconds.max") < 10.0);
    let missed = run("1ns");
    missed.expect_code(1);
    let said = summary(&missed);
    let checks = said.0["checks"].as_array().expect("checks");
    let skew = checks.iter().find(|check| check["name"] == "skew");
    assert_eq!(skew.expect("a check")["passed"], false);
    let findings = said.0["findings"].as_array().expect("findings");
    assert!(
        findings
            .iter()
            .any(|finding| finding["rule"] == "uneven_start")
    );
    let shown = place.run("show latest");
    shown
        .expect_stdout("was repeated")
        .expect_stdout("more than the");
}

/// Requests and bytes do not add up: wherever a result is told, each load has its own numbers.
#[test]
fn loads_that_run_at_the_same_moment_are_told_one_by_one() {
    let place = place();
    let lines = "\
node 1 set rr 2 --count 50
node 2 set stream 1 --bytes 1MB
all enter
waitallresults 2 60s
";
    place.write("mixed.sks", lines);
    let ended = place.run("run mixed.sks --local 2");
    ended
        .expect_code(0)
        .expect_stdout("2 loads ran at the same moment")
        .expect_stdout("rr: hosta → hostb")
        .expect_stdout("stream: hostb → hosta")
        .expect_stdout("rr: answers per second")
        .expect_stdout("stream: payload that arrived");
    assert!(!ended.stdout.contains("flows together"), "{}", ended.stdout);
    let said = summary(&place.run("show latest --json"));
    let phases = said.0["phases"].as_array().expect("phases");
    let named: Vec<(&str, &str)> = phases
        .iter()
        .map(|phase| {
            let text = |key: &str| phase[key].as_str().expect("a text");
            (text("name"), text("moment"))
        })
        .collect();
    let moment = "1-rr+stream";
    assert_eq!(
        named,
        [("1-rr+stream/rr", moment), ("1-rr+stream/stream", moment)]
    );
    for (phase, source) in phases.iter().zip(["rr.", "stream."]) {
        let numbers = phase["summary"].as_object().expect("numbers");
        assert!(!numbers.is_empty() && numbers.keys().all(|name| name.starts_with(source)));
    }
    assert_eq!(said.0["flows"].as_array().expect("flows").len(), 2);
    let report = place.run("report latest --form markdown --output page.md");
    report.expect_code(0);
    let page = std::fs::read_to_string(place.path().join("page.md")).expect("a page");
    for load in ["1-rr+stream/rr", "1-rr+stream/stream"] {
        assert!(page.contains(load), "{page}");
    }
    assert!(!page.contains("flows together"), "{page}");
}
