//! Tests of `sokudo check`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use sokudo_model::RunStatus;
use sokudo_testkit::hosts::Hosts;
use sokudo_testkit::program::{Sokudo, sokudo_bin};
use sokudo_testkit::skip;

use crate::vocabulary::{BOUND, GENTLE, Place, Summary, place, refused, serve_with, summary};

#[track_caller]
fn is_a_complete_check(said: &Summary) {
    assert_eq!(said.text("schema"), "sokudo.summary/1");
    assert_eq!(said.text("workload"), "check");
    assert_eq!(said.text("status"), "ok");
    assert!(said.number("datagram.best_rate_bytes_per_second") > 0.0);
}

/// Names of the network links that this test's own namespace shows.
fn links() -> Vec<String> {
    let table = fs::read_to_string("/proc/thread-self/net/dev").unwrap_or_default();
    let names = table.lines().filter_map(|line| line.split_once(':'));
    let mut links: Vec<_> = names.map(|(name, _)| name.trim().to_owned()).collect();
    links.retain(|name| name.starts_with("sk-") || name.starts_with("veth"));
    links.sort();
    links
}

#[test]
fn a_quick_check_finds_the_best_rate() {
    let place = place();
    let ended = place.run("check --quick --json");
    // One overloaded host may make a check of the numbers fail, which is told and recorded.
    assert!(matches!(ended.code, Some(0 | 1)), "{ended}");
    let said = summary(&ended);
    is_a_complete_check(&said);
    let record = place.load();
    // Each layer is measured three times, and the totals are those of the turn in the middle.
    let rate = "rr.transactions_per_second";
    let figure = &said.0["layers"]["rr"]["figures"][rate];
    assert_eq!(figure["runs"], 3, "{figure}");
    assert_eq!(figure["median"].as_f64(), Some(said.number(rate)));
    let database = &said.0["layers"]["tpcb"]["figures"];
    assert_eq!(
        database["sql.transactions_per_second"]["runs"], 3,
        "{database}"
    );
    // Of the application server the run tells the queues; its requests beside those of the layer `http`.
    let server = &said.0["layers"]["target"]["figures"]["http.requests_per_second"];
    assert_eq!(server["runs"], 3, "{server}");
    assert!(said.number("target.workers.done_per_second") > 0.0);
    assert!(said.number("target.workers.wait_seconds.mean") > 0.0);
    assert!(said.number("target.pool.hold_seconds.mean") > 0.0);
    let web = &said.0["layers"]["http"]["figures"]["http.requests_per_second"];
    let of_web = Some(said.number("http.requests_per_second"));
    assert_eq!(web["median"].as_f64(), of_web, "{web}");
    let phases: Vec<_> = record
        .manifest
        .phases
        .iter()
        .map(|p| p.name.as_str())
        .collect();
    for name in ["selftest", "search-1", "p2p", "both-ways", "mesh"] {
        assert!(phases.contains(&name), "{phases:?}");
    }
    assert_eq!(record.manifest.hosts.len(), 4);
}

#[test]
fn a_check_without_any_right_uses_loopback() {
    if !rustix::process::geteuid().is_root() {
        return skip("only root can give up rights; the other test runs without them");
    }
    let place = place();
    if let Some(why) = closed_to_others(place.path(), &sokudo_bin()) {
        return skip(why);
    }
    let bin = sokudo_bin();
    let ended = Sokudo::of(
        "setpriv".as_ref(),
        [
            "--reuid=65534",
            "--regid=65534",
            "--clear-groups",
            "--no-new-privs",
            bin.to_str().unwrap(),
            "check",
            "--quick",
            "--json",
        ],
    )
    .dir(place.path())
    .env("SOKUDO_RUNS", "runs")
    .bound(BOUND)
    .run();
    assert!(matches!(ended.code, Some(0 | 1)), "{ended}");
    is_a_complete_check(&summary(&ended));
    let notes = place.load().manifest.notes;
    assert!(
        notes.iter().any(|note| note.key == "engine-check-loopback"),
        "{notes:?}"
    );
}

/// Opens a directory to everybody; says when the program itself cannot be reached by others.
fn closed_to_others(directory: &Path, program: &Path) -> Option<String> {
    fs::set_permissions(directory, fs::Permissions::from_mode(0o777)).unwrap();
    let closed = program.ancestors().find(|path| {
        let mode = fs::metadata(path).map_or(0, |m| m.permissions().mode());
        mode & 0o001 == 0
    })?;
    Some(format!("others may not enter {}", closed.display()))
}

#[test]
fn an_interrupted_check_leaves_a_partial_record_and_no_network() {
    let place = place();
    let before = links();
    let mut check = place.sokudo("check --quick --json").start();
    check.wait_for(|line| line.contains("search-1").then_some(()));
    check.interrupt();
    let ended = check.finish();
    ended.expect_code(3).expect_stderr("interrupted");
    assert_eq!(summary(&ended).text("status"), "partial");
    assert_eq!(links(), before);
    let record = place.load();
    assert_eq!(record.manifest.status, RunStatus::Partial);
    assert!(!record.manifest.phases.is_empty());
}

#[test]
fn a_check_can_be_interrupted_before_it_has_measured() {
    let place = place();
    let check = place.sokudo("check --quick").start();
    // Whenever it comes, also before the program watches for it.
    check.interrupt();
    let ended = check.finish();
    assert!(matches!(ended.code, None | Some(3)), "{ended}");
    assert!(links().iter().all(|name| !name.starts_with("sk-")));
}

/// A command on one of several hosts, in a place of its own.
fn on_host(
    hosts: &Hosts,
    host: usize,
    place: &Place,
    arguments: &str,
) -> sokudo_testkit::program::Running {
    let command = place.sokudo(arguments);
    hosts.run_in(host, move || command.start())
}

#[test]
fn datagrams_larger_than_the_path_are_refused_unless_allowed() {
    let Some(hosts) = Hosts::with_mtu(2, Some(1500)) else {
        return;
    };
    let place = place();
    let (address, arguments) = (hosts.address(1), "serve --open --bind");
    let command = place.sokudo(&format!("{arguments} {address}:0"));
    let server = hosts.run_in(1, move || serve_with(command));
    let load = format!("datagram {} --rate {GENTLE} --duration 1s", server.address);
    let large = on_host(&hosts, 0, &place, &format!("{load} --size 4000")).finish();
    refused(&large, "4000 B", "--allow-fragments");
    assert!(place.records().is_empty(), "a record was left behind");
    let allowed = format!("{load} --size 4000 --allow-fragments --json");
    let ended = on_host(&hosts, 0, &place, &allowed).finish();
    ended.expect_code(0);
    summary(&ended).adds_up();
    // Without a size the datagrams fit: 1500 B less 28 B of headers.
    let ended = on_host(&hosts, 0, &place, &format!("{load} --json")).finish();
    ended.expect_code(0);
    let said = summary(&ended);
    let bytes = said.number("datagram.delivered_bytes_per_second");
    let packets = said.number("datagram.delivered_packets_per_second");
    assert_eq!((bytes / packets).round(), 1472.0);
}
