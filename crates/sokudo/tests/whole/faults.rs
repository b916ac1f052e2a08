//! Tests of what is kept when a process, a host or a disk fails.

use std::fs;
use std::net::{Ipv4Addr, UdpSocket};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::process::{Signal, kill_process};
use sokudo_model::RunStatus;
use sokudo_testkit::cutter::Cutter;
use sokudo_testkit::program::{Running, Sokudo, sokudo_bin};
use sokudo_testkit::skip;

use crate::vocabulary::{
    BOUND, GENTLE, Place, Server, no_panic, pid, place, refused, serve, summary,
};

/// A long run under way: it has already reported what was delivered.
fn under_way(place: &Place, server: &Server, options: &str) -> Running {
    let mut client = place
        .sokudo(&format!(
            "datagram {} --rate {GENTLE} --duration 10min --report-every 200ms --json {options}",
            server.address
        ))
        .start();
    // A line is printed just before its report is recorded: the third proves that the first is.
    for _ in 0..3 {
        client.wait_for(|line| line.contains("datagrams delivered").then_some(()));
    }
    client
}

/// Fails unless the only record is partial, its problem names the lost host, and the series up to
/// the loss are in it.
#[track_caller]
fn lost_host_is_recorded(place: &Place) {
    let record = place.load();
    assert_eq!(record.manifest.status, RunStatus::Partial);
    let lost = &record.manifest.hosts[1].name;
    let problems = &record.manifest.problems;
    let named: Vec<_> = problems.iter().filter(|p| p.host == *lost).collect();
    assert_eq!(named.len(), 1, "{problems:?}");
    let own = &record.manifest.hosts[0].name;
    for (host, metric) in [
        (own, "datagram.sent_packets_per_second"),
        (lost, "datagram.delivered_packets_per_second"),
    ] {
        let series = record.series_of(metric);
        let points: usize = series
            .filter(|s| s.key.host == *host)
            .map(|s| s.points.len())
            .sum();
        assert!(points > 0, "no {metric} of {host}");
    }
    let verified = sokudo_store::verify(&place.record()).unwrap();
    assert!(verified.is_intact(), "{verified:?}");
}

#[test]
fn a_server_that_is_killed_leaves_a_partial_run() {
    let place = place();
    let server = serve(&place);
    let client = under_way(&place, &server, "");
    server.running.kill();
    let ended = client.finish();
    ended.expect_code(3).expect_stderr("was lost");
    assert_eq!(summary(&ended).text("status"), "partial");
    lost_host_is_recorded(&place);
    no_panic(&ended);
}

#[test]
fn a_server_that_freezes_is_given_up() {
    let place = place();
    let server = serve(&place);
    let client = under_way(&place, &server, "");
    kill_process(pid(&server.running), Signal::STOP).unwrap();
    let ended = client.finish();
    ended.expect_code(3).expect_stderr("no sign of life");
    assert_eq!(summary(&ended).text("status"), "partial");
    lost_host_is_recorded(&place);
}

/// Load goes on, and what is under way comes over the next connection.
#[test]
fn a_control_connection_that_is_cut_costs_nothing() {
    for command in [
        "datagram --rate 2k/s --report-every 200ms",
        "rr",
        "stream --rate 50Mb/s",
    ] {
        let place = place();
        let server = serve(&place);
        let cutter = Cutter::before(server.address).expect("a relay");
        let mut client = place
            .sokudo(&format!(
                "{command} --duration 3s --json {}",
                cutter.address()
            ))
            .start();
        let workload = command.split(' ').next().unwrap_or_default();
        for _ in 0..2 {
            place.wait_until_recorded_by(workload, &mut client);
            cutter.cut();
        }
        let ended = client.finish();
        ended.expect_code(0);
        no_panic(&ended);
        assert!(cutter.accepted() > 1, "{command}: nothing was cut");
        let record = place.load();
        let manifest = &record.manifest;
        assert_eq!(manifest.status, RunStatus::Ok, "{:?}", manifest.problems);
        let flows = &manifest.phases[0].result.flows;
        assert!(flows.iter().all(|flow| flow.complete), "{flows:?}");
        server.running.interrupt();
        server.running.finish().expect_code(0);
    }
}

#[test]
fn a_server_that_is_stopped_by_its_operator_ends_the_run() {
    let place = place();
    let server = serve(&place);
    let client = under_way(&place, &server, "");
    server.running.interrupt();
    let ended = client.finish();
    ended.expect_code(3).expect_stderr("was lost");
    lost_host_is_recorded(&place);
    server.running.finish().expect_code(0);
}

#[test]
fn one_lost_host_of_two_leaves_the_other_ones_result() {
    let place = place();
    let (one, other) = (serve(&place), serve(&place));
    let mut client = place
        .sokudo(&format!(
            "datagram {} {} --rate {GENTLE} --duration 4s --report-every 200ms --json",
            one.address, other.address
        ))
        .start();
    client.wait_for(|line| line.contains("datagrams delivered").then_some(()));
    other.running.kill();
    let ended = client.finish();
    ended.expect_code(3);
    let said = summary(&ended);
    assert_eq!(said.text("status"), "partial");
    let complete = |n: usize| said.flows()[n]["complete"].as_bool().unwrap();
    assert!(complete(0) && !complete(1), "{:#}", said.0["flows"]);
}

#[test]
fn a_client_that_is_killed_frees_the_server() {
    let place = place();
    let mut server = serve(&place);
    let idle = sockets(&server.running);
    let client = under_way(&place, &server, "--direction both");
    client.kill();
    server
        .running
        .wait_for(|line| line.contains("has left").then_some(()));
    closes_down_to(&server.running, idle);
    place
        .run(&format!(
            "datagram {} --rate {GENTLE} --duration 1s",
            server.address
        ))
        .expect_code(0);
}

#[test]
fn a_client_that_freezes_is_given_up_by_the_server() {
    let place = place();
    let mut server = serve(&place);
    let idle = sockets(&server.running);
    let client = under_way(&place, &server, "--direction down");
    kill_process(pid(&client), Signal::STOP).unwrap();
    server
        .running
        .wait_for(|line| line.contains("no sign of life").then_some(()));
    closes_down_to(&server.running, idle);
    kill_process(pid(&client), Signal::CONT).unwrap();
    let ended = client.finish();
    ended.expect_code(3);
    assert_eq!(place.load().manifest.status, RunStatus::Partial);
}

/// Waits until a server holds no more sockets than when it was idle: no load is left. The line about
/// the client is written while its connection is still being closed.
fn closes_down_to(running: &Running, idle: Option<usize>) {
    let give_up = Instant::now() + Duration::from_secs(20);
    while sockets(running) != idle {
        assert!(
            Instant::now() < give_up,
            "{:?} sockets, idle {idle:?}",
            sockets(running)
        );
        std::thread::yield_now();
    }
}

/// Sockets that a process holds open; `None` where the system does not tell.
fn sockets(running: &Running) -> Option<usize> {
    let entries = fs::read_dir(format!("/proc/{}/fd", running.id())).ok()?;
    let targets = entries
        .flatten()
        .filter_map(|e| fs::read_link(e.path()).ok());
    let is_socket = |target: &PathBuf| target.to_string_lossy().starts_with("socket:");
    Some(targets.filter(is_socket).count())
}

/// Ports of a process's UDP sockets over IPv4, from the table of all and its open files.
fn udp_ports(running: &Running) -> Vec<u16> {
    let entries = fs::read_dir(format!("/proc/{}/fd", running.id()));
    let links = entries.into_iter().flatten().flatten();
    let own: Vec<String> = links
        .filter_map(|e| {
            fs::read_link(e.path())
                .ok()?
                .into_os_string()
                .into_string()
                .ok()
        })
        .collect();
    let table = fs::read_to_string(format!("/proc/{}/net/udp", running.id())).unwrap_or_default();
    let port = |line: &str| {
        let columns: Vec<&str> = line.split_whitespace().collect();
        let inode = columns.get(9)?;
        own.contains(&format!("socket:[{inode}]")).then_some(())?;
        u16::from_str_radix(columns.get(1)?.split(':').nth(1)?, 16).ok()
    };
    table.lines().skip(1).filter_map(port).collect()
}

#[test]
fn garbage_on_the_measured_ports_is_not_counted() {
    let place = place();
    let server = serve(&place);
    let mut client = place
        .sokudo(&format!(
            "datagram {} --rate {GENTLE} --duration 4s --report-every 200ms --json",
            server.address
        ))
        .start();
    client.wait_for(|line| line.contains("datagrams delivered").then_some(()));
    let ports = udp_ports(&server.running);
    if ports.is_empty() {
        return skip("this system does not tell which ports a program uses");
    }
    let stranger = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    for length in [0, 1, 31, 32, 33, 64, 1000, 1472].iter().cycle().take(2000) {
        let bytes: Vec<u8> = (0..*length).map(|i| (i * 31 + length) as u8).collect();
        for port in &ports {
            // A socket that refuses strangers does right.
            let _ = stranger.send_to(&bytes, (Ipv4Addr::LOCALHOST, *port));
        }
    }
    let ended = client.finish();
    ended.expect_code(0);
    let said = summary(&ended);
    said.adds_up();
    assert_eq!(said.number("datagram.duplicate_packets"), 0.0);
    place.run("runs").expect_code(0);
    server.running.interrupt();
    no_panic(&server.running.finish());
}

#[test]
fn a_record_whose_program_was_killed_can_be_completed() {
    let place = place();
    let server = serve(&place);
    let client = under_way(&place, &server, "");
    client.kill();
    let record = place.record();
    let id = record.file_name().unwrap().to_str().unwrap();
    place.run("runs").expect_code(0).expect_stdout("running");
    let advice = format!("sokudo recover {id}");
    refused(&place.run("show"), "was never closed", &advice);
    refused(&place.run("export --to csv"), "was never closed", &advice);
    place
        .run(&advice["sokudo ".len()..])
        .expect_code(0)
        .expect_stderr("recovered");
    place.run("runs").expect_code(0).expect_stdout("partial");
    place
        .run("show")
        .expect_code(3)
        .expect_stdout("The program that recorded this run died");
    let record = place.load();
    let delivered = record.series_of("datagram.delivered_packets_per_second");
    assert!(delivered.map(|s| s.points.len()).sum::<usize>() > 0);
    let verified = sokudo_store::verify(&place.record()).unwrap();
    assert!(verified.is_intact(), "{verified:?}");
}

#[test]
fn a_run_that_goes_on_is_not_recovered() {
    let place = place();
    let server = serve(&place);
    let client = under_way(&place, &server, "");
    refused(&place.run("recover"), "is in use", "wait");
    client.interrupt();
    client.finish().expect_code(3);
    place.run("show").expect_code(3);
}

#[test]
fn ctrl_c_keeps_what_was_measured() {
    let place = place();
    let server = serve(&place);
    let client = under_way(&place, &server, "");
    client.interrupt();
    let ended = client.finish();
    ended.expect_code(3).expect_stderr("interrupted");
    let said = summary(&ended);
    assert_eq!(said.text("status"), "partial");
    said.adds_up();
    let problems = place.load().manifest.problems;
    assert_eq!(problems.len(), 1, "{problems:?}");
    place
        .run("show")
        .expect_code(3)
        .expect_stdout("interrupted");
}

#[test]
fn a_second_ctrl_c_ends_at_once_and_loses_nothing_recorded() {
    let place = place();
    let server = serve(&place);
    let mut client = under_way(&place, &server, "");
    // A frozen server keeps the client waiting after the first Ctrl-C.
    kill_process(pid(&server.running), Signal::STOP).unwrap();
    client.interrupt();
    client.wait_for(|line| line.contains("interrupted").then_some(()));
    client.interrupt();
    let ended = client.finish();
    ended.expect_code(130);
    no_panic(&ended);
    place.run("recover").expect_code(0);
    place.run("show").expect_code(3);
}

#[test]
fn a_full_disk_ends_nothing_and_is_told() {
    let place = place();
    let server = serve(&place);
    // The disk is filled while the run goes on, and everything is looked at before it vanishes
    // together with its mount namespace.
    let script = format!(
        r#"
        set -u
        mkdir small && mount -t tmpfs -o size=3m tmpfs small || exit 77
        export SOKUDO_RUNS=small
        {bin} datagram {address} --rate {GENTLE} --duration 4s --interval 10ms --report-every 200ms 2>said >shown &
        run=$!
        until grep -q delivered said; do kill -0 $run || break; done
        dd if=/dev/zero of=small/ballast bs=64k 2>dd.log
        wait $run; echo run $?
        rm small/ballast
        if {bin} runs | grep -q running; then {bin} recover >recovered 2>&1; echo recover $?; fi
        {bin} show >again 2>&1; echo show $?
        cat shown again
        grep "no space left" said
        grep "hint: " said
        "#,
        bin = sokudo_bin().display(),
        address = server.address,
    );
    let ended = Sokudo::of("unshare".as_ref(), ["--mount", "sh", "-c", script.as_str()])
        .dir(place.path())
        .env("SOKUDO_LANG", "en")
        .bound(BOUND)
        .run();
    if ended.stderr.contains("unshare") || ended.code == Some(77) {
        return skip(format!(
            "no small disk can be made: {}",
            ended.stderr.trim()
        ));
    }
    no_panic(&ended);
    ended
        .expect_stdout("run 3")
        .expect_stdout("recover 0")
        .expect_stdout("show 3")
        .expect_stdout("sokudo recover");
    assert_eq!(ended.stdout.matches("no space left").count(), 1, "{ended}");
}
