//! Scenarios: programs that load many hosts and decide by what came out.

use std::path::PathBuf;

use serde_json::Value;

use crate::vocabulary::{Place, place, summary};

/// A scenario of the folder `examples`.
fn example(name: &str) -> String {
    let crates = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let file = crates.join("../../examples").join(name);
    file.to_string_lossy().into_owned()
}

/// Runs an example, small, over hosts inside this machine; returns its manifest.
#[track_caller]
fn small(place: &Place, name: &str, hosts: &str, set: &[&str]) -> Value {
    let file = example(name);
    let mut words = vec!["run", file.as_str(), "--local", hosts, "--json"];
    for pair in set {
        words.extend(["--set", pair]);
    }
    place.words(words).run().expect_code(0);
    let text = std::fs::read_to_string(place.record().join("run.json")).expect("a manifest");
    serde_json::from_str(&text).expect("a manifest in JSON")
}

fn phases(manifest: &Value) -> Vec<&str> {
    let phases = manifest["phases"].as_array().expect("phases");
    let name = |phase: &'_ Value| phase["name"].as_str().unwrap_or_default().len();
    assert!(phases.iter().all(|phase| name(phase) > 0));
    let names = phases.iter().filter_map(|phase| phase["name"].as_str());
    names.collect()
}

#[test]
fn the_switch_experiment_runs_small() {
    let place = place();
    let set = ["pairs=1,2", "size=10kB", "times=10", "repeat=2"];
    let manifest = small(&place, "switch.js", "4", &set);
    // One phase to connect, then 2 numbers of pairs × 2 kinds of duplex × 2 trials.
    assert_eq!(phases(&manifest).len(), 9);
    let flows = |phase: &Value| phase["result"]["flows"].as_array().map_or(0, Vec::len);
    let all = manifest["phases"].as_array().expect("phases");
    let pairs: Vec<usize> = all[1..].iter().map(flows).collect();
    assert_eq!(pairs.iter().filter(|n| **n == 2).count(), 4, "{pairs:?}");
    let journal = place.record().join("plan/journal.jsonl");
    let journal = std::fs::read_to_string(journal).expect("a journal");
    let calls = journal
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    assert_eq!(calls.filter(|call| call["call"] == "phase").count(), 9);
}

#[test]
fn the_datagram_mesh_runs_small() {
    let manifest = small(
        &place(),
        "datagram-mesh.js",
        "4",
        &["duration=100ms", "rate=500/s"],
    );
    let names = phases(&manifest);
    assert_eq!((names.len(), names.last()), (7, Some(&"mesh")));
}

#[test]
fn the_bus_mesh_runs_small() {
    let set = ["duration=100ms", "rate=200/s", "full=500/s"];
    let manifest = small(&place(), "bus-mesh.js", "4", &set);
    assert_eq!(phases(&manifest), ["gentle", "full speed"]);
}

#[test]
fn the_test_before_production_runs_small() {
    let set = ["duration=100ms", "rate=300kB/s", "messages=200/s"];
    let manifest = small(&place(), "pre-production.js", "4", &set);
    let expected = ["one way", "both ways", "everybody to everybody"];
    let kinds = ["datagrams", "messages"];
    let each = kinds
        .iter()
        .flat_map(|kind| expected.map(|name| format!("{kind}, {name}")));
    assert_eq!(phases(&manifest), each.collect::<Vec<_>>());
    let notes = manifest["notes"].as_array().map_or(0, Vec::len);
    assert!(notes >= 6, "{}", manifest["notes"]);
}

#[test]
fn the_wireless_echo_runs_small() {
    let manifest = small(&place(), "wireless-echo.js", "2", &["size=10kB", "times=5"]);
    let names = phases(&manifest);
    assert_eq!(names, ["connect", "one way at a time", "both ways at once"]);
}

#[test]
fn pairs_are_written_as_scripts_that_run() {
    let place = place();
    let emit = [
        "scenario", "pairs", "--local", "4", "--size", "1kB", "--times", "5", "--emit",
    ];
    for (extra, file) in [(None, "mine.sks"), (Some("--javascript"), "mine.js")] {
        let emitted = place.words(emit.into_iter().chain(extra)).run();
        emitted.expect_code(0);
        assert!(place.records().is_empty(), "a script leaves no record");
        place.write(file, &emitted.stdout);
    }
    for file in ["mine.sks", "mine.js"] {
        let ended = place.words(["run", file, "--local", "4", "--json"]).run();
        ended.expect_code(0);
        assert_eq!(summary(&ended).number("rr.transactions"), 10.0);
    }
    let refused = place
        .words(["scenario", "pairs", "--local", "2", "--pairs", "2"])
        .run();
    refused
        .expect_code(2)
        .expect_stderr("2 pairs cannot be made of 2 hosts");
}

/// A scenario may look closer than the command does: what monitors see then reaches the record.
#[test]
fn monitors_look_as_often_as_a_scenario_says() {
    let looks = |script: &str| {
        let place = place();
        place.write("look.js", script);
        let words = [
            "run",
            "look.js",
            "--local",
            "2",
            "--interval",
            "60s",
            "--json",
        ];
        place.words(words).run().expect_code(0);
        let record = place.load();
        let hosts = &record.manifest.hosts;
        let of = |host: &str| {
            let own = |s: &&sokudo_model::Series| s.key.host == host && s.key.source == "host";
            let series = record.series.iter().filter(own);
            series.map(|series| series.points.len()).max().unwrap_or(0)
        };
        hosts.iter().map(|host| of(&host.name)).max().unwrap_or(0)
    };
    let phase = "phase('x', rr(1, 2, {duration: '1500ms', rate: '100/s'}));\n";
    let seldom = looks(phase);
    let often = looks(&format!("monitor({{every: '100ms'}});\n{phase}"));
    // Fifteen intervals; a busy machine may skip some.
    assert!(seldom <= 3 && often >= 6, "{seldom} and {often}");
}

#[test]
fn mistakes_of_a_scenario_are_told_with_their_place() {
    let place = place();
    place.write("wrong.js", "const a = hosts();\nphase('x', rr(a[0], 9));\n");
    let ended = place.words(["run", "wrong.js", "--local", "2"]).run();
    ended
        .expect_code(2)
        .expect_stderr("wrong.js: line 2, column")
        .expect_stderr("there is no host `9`");
    assert!(place.records().is_empty(), "nothing was measured");
    // What came before a mistake that only results bring about is kept, and the record says how it
    // ended.
    let late =
        "const made = phase('x', rr(1, 2, {count: 5}));\nif (made.bytes > 1) made.nobody();\n";
    place.write("late.js", late);
    let ended = place
        .words(["run", "late.js", "--local", "2", "--json"])
        .run();
    ended.expect_code(2).expect_stderr("late.js: line 2");
    assert_eq!(place.records().len(), 1);
    place.write("text.txt", "");
    let ended = place.words(["run", "text.txt", "--local", "2"]).run();
    ended.expect_code(2).expect_stderr("neither .sks nor .js");
}

#[test]
fn the_types_are_those_of_this_program() {
    let ended = place().words(["scenario", "types"]).run();
    ended.expect_code(0);
    for word in ["bus", "crr", "datagram", "probe", "rr", "stream"] {
        ended.expect_stdout(&format!("declare function {word}("));
    }
}

/// Every mistake and the hint, with its place, in the language that was asked for.
#[test]
fn mistakes_of_scripts_are_told_in_japanese() {
    let place = place();
    let program = "phase(\"a\", rr(1, 9));\npairs(9);\nnosuch(1);\nphase(\"b\", []);\n";
    place.write("wrong.js", program);
    let lines = "all rr 1 --count 5\nnode x enter\nwaittime\nnode 1 dance\n";
    place.write("wrong.sks", lines);
    for (file, told) in [
        (
            "wrong.js",
            &[
                "ホスト `9` はありません",
                "4 ホストで 9 組は作れません",
                "`nosuch` はありません",
                "フェーズ \"b\" に負荷がありません",
            ][..],
        ),
        (
            "wrong.sks",
            &[
                "2 行 6 列: `x` はホストの番号ではありません",
                "3 行 9 列: `waittime` の後に時間が必要です",
            ],
        ),
    ] {
        let ended = place.run(&format!("run {file} --local 4 --lang ja"));
        ended.expect_code(2).expect_stderr("ヒント: ");
        for says in told {
            ended.expect_stderr(says);
        }
        for english in ["there is", "needs", "line ", "write"] {
            assert!(!ended.stderr.contains(english), "{english}: {ended}");
        }
    }
    let ended = place
        .words(["console", "--local", "2", "--lang", "ja"])
        .stdin("node 3 enter\n")
        .run();
    let says = "エラー: 1 行 6 列: ホスト `3` はありません";
    ended.expect_code(2).expect_stderr(says);
}

/// A program is read as a whole for the hosts that it is for, before anything is sent.
#[test]
fn all_mistakes_of_a_program_are_told_before_anything_starts() {
    let place = place();
    let wrong =
        "syncTime();\nphase(\"a\", rr(1, 9));\nconst x = ;\nphase(\"b\", rr(1, 2, {colour: 1}));\n";
    place.write("wrong.js", wrong);
    let ended = place.run("run wrong.js --local 2");
    ended
        .expect_code(2)
        .expect_stderr("line 2, column")
        .expect_stderr("there is no host `9`")
        .expect_stderr("line 3, column")
        .expect_stderr("line 4, column")
        .expect_stderr("--colour");
    assert!(place.records().is_empty());
    let reads =
        "const made = phase(\"a\", rr(1, 2, {count: 5}));\nif (made.bytes > 0) say(\"more\");\n";
    place.write("reads.js", reads);
    let ended = place.run("run reads.js --local 2");
    ended.expect_code(0).expect_stderr("From line 2 on");
}
