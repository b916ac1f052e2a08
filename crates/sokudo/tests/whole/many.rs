//! Tests of many connections, clients and hosts with one server, some of which vanish.

use std::fs;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use sokudo_model::RunStatus;
use sokudo_testkit::program::Running;
use sokudo_testkit::skip;

use crate::vocabulary::{BOUND, Place, Server, no_panic, pid, place, serve, serve_with, summary};

/// Connections of the large test.
const MANY: u64 = 1000;
/// Memory that each of them may cost an end, bytes.
const EACH_BYTES: u64 = 64 * 1024;

/// Largest memory that a process has had so far, bytes; `None` when it has ended or the system does
/// not tell.
fn peak_bytes(id: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024)
}

/// Runs a client to its end; returns the largest memory that it had, bytes.
fn peak_until_end(client: Running) -> Option<u64> {
    let (deadline, mut peak) = (Instant::now() + BOUND, None);
    while let Some(now) = peak_bytes(client.id()) {
        peak = Some(now);
        assert!(Instant::now() < deadline, "the client does not end");
        std::thread::sleep(Duration::from_millis(10));
    }
    let ended = client.finish();
    ended.expect_code(0);
    let said = summary(&ended);
    assert_eq!(said.number("rr.errors"), 0.0);
    assert_eq!(said.number("rr.lost_connections"), 0.0);
    peak
}

#[test]
fn a_thousand_connections_cost_little_memory_on_either_end() {
    let place = place();
    let server = serve(&place);
    let client = |connections: u64| {
        let arguments = format!(
            "rr {} --connections {connections} --duration 2s --json",
            server.address
        );
        peak_until_end(place.sokudo(&arguments).start())
    };
    let few = client(1);
    let before = peak_bytes(server.running.id());
    let many = client(MANY);
    let after = peak_bytes(server.running.id());
    for (end, few, many) in [("asking", few, many), ("answering", before, after)] {
        let Some((few, many)) = few.zip(many) else {
            skip("this system does not tell a process's memory");
            return;
        };
        let each = many.saturating_sub(few) / MANY;
        eprintln!("{end} end: {each} B per connection");
        assert!(each <= EACH_BYTES, "{end} end: {each} B per connection");
    }
}

#[test]
fn seven_of_ten_clients_finish_when_three_vanish() {
    let place = place();
    let mut server = serve_with(place.sokudo("serve --bind 127.0.0.1:0 --max-clients 16"));
    let start = |place: &Place, n: u32, duration: &str| {
        let arguments = format!(
            "rr {} --rate {}/s --duration {duration} --warmup 1s --timeout 4s --json",
            server.address,
            50 + n
        );
        place.sokudo(&arguments).start()
    };
    let apart = crate::vocabulary::place();
    let mut frozen = start(&apart, 9, "10min");
    let mut clients: Vec<Running> = (0..9).map(|n| start(&place, n, "5s")).collect();
    for _ in 0..10 {
        server
            .running
            .wait_for(|line| line.ends_with("has come").then_some(()));
    }
    // Two die, one stands still in the middle of its load.
    clients.pop().expect("nine clients").kill();
    clients.pop().expect("eight clients").kill();
    apart.wait_until_recorded_by("rr", &mut frozen);
    kill_process(pid(&frozen), Signal::STOP).expect("the client runs");
    for (n, client) in (0..).zip(clients) {
        let ended = client.finish();
        ended.expect_code(0);
        let said = summary(&ended);
        assert_eq!(said.number("rr.errors"), 0.0, "{ended}");
        let asked = f64::from(50 + n) * 5.0;
        assert_eq!(said.number("rr.transactions"), asked, "{ended}");
    }
    // The server gives the silent one up by itself, and serves on.
    server
        .running
        .wait_for(|line| line.contains("no sign of life").then_some(()));
    let again = place.run(&format!("rr {} --count 100 --json", server.address));
    again.expect_code(0);
    frozen.kill();
    no_panic(&again);
}

#[test]
fn a_run_with_ten_hosts_names_the_three_that_die() {
    let place = place();
    let servers: Vec<Server> = (0..10).map(|_| serve(&place)).collect();
    let hosts: Vec<String> = servers.iter().map(|s| s.address.to_string()).collect();
    let mut client = place
        .sokudo(&format!(
            "rr {} --rate 500/s --duration 8s --timeout 2s --json",
            hosts.join(" ")
        ))
        .start();
    let ids: Vec<Pid> = servers.iter().map(|server| pid(&server.running)).collect();
    place.wait_until_recorded_by("rr", &mut client);
    for (victim, signal) in [(2, Signal::KILL), (4, Signal::KILL), (6, Signal::STOP)] {
        kill_process(ids[victim], signal).expect("the server runs");
    }
    let ended = client.finish();
    ended.expect_code(3);
    no_panic(&ended);
    assert_eq!(summary(&ended).text("status"), "partial");
    let record = place.load();
    assert_eq!(record.manifest.status, RunStatus::Partial);
    let lost: Vec<&str> = [3, 5, 7]
        .map(|host: usize| record.manifest.hosts[host].name.as_str())
        .into();
    let mut named: Vec<&str> = record
        .manifest
        .problems
        .iter()
        .map(|p| p.host.as_str())
        .collect();
    named.retain(|host| !host.is_empty());
    named.sort_unstable();
    named.dedup();
    assert_eq!(named, lost);
    let flows = &record.manifest.phases[0].result.flows;
    for flow in flows {
        let gone = lost.contains(&flow.to.as_str());
        assert_eq!(flow.complete, !gone, "{flow:?}");
        assert_eq!(flow.labels.contains_key("error"), gone, "{flow:?}");
        if !gone {
            // 50 requests per second and host, for 8 s.
            assert_eq!(flow.metrics["rr.transactions"], 400.0);
        }
    }
    let text = place.run("show latest");
    let shown: String = text.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for host in lost {
        assert!(shown.contains(host), "{host} is not named: {shown}");
    }
}
