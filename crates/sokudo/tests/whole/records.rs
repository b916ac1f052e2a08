//! Tests of the commands about records, and of those that print.

use std::fs;
use std::process::{Command, Stdio};

use sokudo_testkit::program::sokudo_bin;

use crate::vocabulary::{GENTLE, Place, no_panic, place, refused, serve, summary};

/// A place with one short run in it.
pub(crate) fn place_with_run() -> Place {
    let place = place();
    let server = serve(&place);
    place
        .run(&format!(
            "datagram {} --rate {GENTLE} --duration 1s",
            server.address
        ))
        .expect_code(0);
    place
}

#[test]
fn runs_are_listed_and_found_by_an_end_of_their_name() {
    let place = place_with_run();
    let record = place.record();
    let id = record.file_name().unwrap().to_str().unwrap();
    place.run("runs").expect_code(0).expect_stdout(id);
    let listed = place.run("runs --json");
    let line: serde_json::Value = serde_json::from_str(listed.stdout.trim()).unwrap();
    assert_eq!(line["run"], id);
    assert_eq!(line["status"], "ok");
    let (_, tag) = id.rsplit_once('-').expect("a name of parts");
    for name in [id, &id[..12], tag, "latest", record.to_str().unwrap()] {
        let shown = place.words(["show", name, "--json"]).run();
        shown.expect_code(0);
        assert_eq!(summary(&shown).text("run"), id);
    }
}

#[test]
fn no_runs_is_no_error() {
    let place = place();
    place
        .run("runs")
        .expect_code(0)
        .expect_stdout("No runs yet");
    let json = place.run("runs --json");
    json.expect_code(0);
    assert!(json.stdout.is_empty(), "{json}");
}

#[test]
fn reports_have_two_forms() {
    let place = place_with_run();
    let markdown = place.run("report --form markdown");
    markdown.expect_code(0).expect_stdout("| ");
    place
        .run("report latest --form markdown -o report.md")
        .expect_code(0)
        .expect_stdout("report.md");
    let written = fs::read_to_string(place.path().join("report.md")).unwrap();
    assert_eq!(written, markdown.stdout);
    place
        .run("report --output page.html")
        .expect_code(0)
        .expect_stdout("page.html");
    let page = fs::read_to_string(place.path().join("page.html")).unwrap();
    assert!(page.starts_with("<!") && page.contains("</html>"));
    let verified = sokudo_store::verify(&place.record()).unwrap();
    assert!(verified.is_intact(), "{verified:?}");
}

#[test]
fn records_are_exported_in_three_forms() {
    let place = place_with_run();
    for (form, files) in [
        ("csv", &["series.csv", "flows.csv"][..]),
        ("tsv", &["series.tsv", "flows.tsv"]),
        ("json", &["record.json"]),
    ] {
        let ended = place.run(&format!("export --to {form} --output out"));
        ended.expect_code(0);
        for file in files {
            ended.expect_stdout(file);
            let text = fs::read_to_string(place.path().join("out").join(file)).unwrap();
            assert!(text.contains("datagram."), "{file} says nothing");
        }
    }
    place.run("export --to csv").expect_code(0);
    assert!(place.record().join("export/series.csv").is_file());
    place.run("show").expect_code(0);
    let verified = sokudo_store::verify(&place.record()).unwrap();
    assert!(verified.is_intact(), "{verified:?}");
}

#[test]
fn what_cannot_be_written_is_told() {
    let place = place_with_run();
    for command in [
        "report --output no/such/place.html",
        "report --form markdown --output no/such/place.md",
        "export --to csv --output /dev/null/place",
    ] {
        refused(&place.run(command), "cannot be written", "name a place");
    }
}

#[test]
fn recovering_a_complete_record_changes_nothing() {
    let place = place_with_run();
    place
        .run("recover")
        .expect_code(0)
        .expect_stderr("nothing to recover");
}

#[test]
fn commands_that_print_print() {
    let place = place();
    for (command, expected) in [
        ("--version", "sokudo "),
        ("--help", "sokudo check"),
        ("datagram --help", "--find"),
        ("metrics", "datagram.delivered_packets_per_second"),
        ("metrics jitter", "seconds"),
        ("doctor", "facilities are available"),
        ("doctor --json", "\"available\""),
        ("completions bash", "complete"),
        ("completions zsh", "#compdef"),
        ("man", ".TH"),
    ] {
        let ended = place.run(command);
        ended.expect_code(0).expect_stdout(expected);
        assert!(ended.stderr.is_empty(), "{ended}");
    }
    place.run("man pages").expect_code(0);
    assert!(place.path().join("pages/sokudo-datagram.1").is_file());
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let place = place_with_run();
    for command in [
        "runs",
        "runs --json",
        "show",
        "show --json",
        "metrics",
        "doctor",
        "report --form markdown",
        "completions bash",
        "man",
        "--help",
    ] {
        let mut child = Command::new(sokudo_bin())
            .args(command.split_whitespace())
            .current_dir(place.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let ended = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr);
        assert!(said.is_empty(), "`sokudo {command} | head -0` said: {said}");
        assert!(ended.status.success(), "{command}: {:?}", ended.status);
    }
}

#[test]
fn damaged_records_are_named_and_never_shown_as_results() {
    let place = place_with_run();
    let record = place.record();
    let series = record.join("series.parquet");
    let intact = fs::read(&series).unwrap();
    let mut damaged = intact.clone();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 1;
    fs::write(&series, &damaged).unwrap();
    for command in ["show", "report", "export --to csv"] {
        refused(&place.run(command), "series.parquet` is damaged", "copy");
    }
    fs::remove_file(&series).unwrap();
    refused(&place.run("show"), "series.parquet` is damaged", "copy");
    fs::write(&series, &intact).unwrap();
    place.run("show").expect_code(0);
}

#[test]
fn a_record_whose_manifest_is_cut_off_is_listed_as_broken() {
    let place = place_with_run();
    let record = place.record();
    let manifest = record.join("run.json");
    let whole = fs::read(&manifest).unwrap();
    for length in [0, 1, whole.len() / 2, whole.len() - 2] {
        fs::write(&manifest, &whole[..length]).unwrap();
        let listed = place.run("runs");
        listed.expect_code(0).expect_stdout("broken");
        no_panic(&listed);
        let shown = place.words(["show", record.to_str().unwrap()]).run();
        refused(&shown, "run.json` is damaged", "");
    }
    let listed = place.run("runs --json");
    listed.expect_code(0).expect_stdout("\"broken\"");
}
