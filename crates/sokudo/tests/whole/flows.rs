//! Tests of every direction and way of sending.

use std::fs;

use crate::vocabulary::{GENTLE, Summary, place, serve, summary};

/// One run against one server with these options, gentle unless they say otherwise.
#[track_caller]
fn run(options: &str) -> Summary {
    let place = place();
    let server = serve(&place);
    let ended = place.run(&format!("datagram {} {options} --json", server.address));
    ended.expect_code(0);
    summary(&ended)
}

#[test]
fn a_count_is_exact() {
    let said = run("--count 5000 --rate 10k/s");
    assert_eq!(said.number("datagram.sent_packets"), 5000.0);
    said.adds_up();
}

#[test]
fn a_count_is_exact_for_every_stream() {
    let said = run("--count 1000 --rate 4k/s --streams 2");
    assert_eq!(said.flows().len(), 2);
    for flow in said.flows() {
        assert_eq!(flow["metrics"]["datagram.sent_packets"], 1000.0);
    }
}

#[test]
fn streams_over_tcp_and_tls_lose_nothing() {
    for transport in ["tcp", "tls"] {
        let said = run(&format!("--transport {transport} --count 3000"));
        said.adds_up();
        assert_eq!(
            said.number("datagram.received_packets"),
            3000.0,
            "{transport}"
        );
        assert_eq!(
            said.number("datagram.out_of_order_packets"),
            0.0,
            "{transport}"
        );
    }
}

#[test]
fn directions_say_who_sends() {
    let names = |said: &Summary| -> Vec<(String, String)> {
        let name = |flow: &serde_json::Value, end| flow[end].as_str().unwrap().to_owned();
        said.flows()
            .iter()
            .map(|flow| (name(flow, "from"), name(flow, "to")))
            .collect()
    };
    let up = run(&format!("--rate {GENTLE} --duration 1s --direction up"));
    let down = run(&format!("--rate {GENTLE} --duration 1s --direction down"));
    let both = run(&format!("--rate {GENTLE} --duration 1s --direction both"));
    for said in [&up, &down, &both] {
        said.adds_up();
    }
    let [(own, peer)] = &names(&up)[..] else {
        panic!("one flow up: {:?}", names(&up));
    };
    assert_eq!(names(&down), [(peer.clone(), own.clone())]);
    let mut two = names(&both);
    two.sort();
    let mut expected = [(own.clone(), peer.clone()), (peer.clone(), own.clone())];
    expected.sort();
    assert_eq!(two, expected);
}

#[test]
fn a_mesh_joins_all_hosts() {
    let place = place();
    let (one, other) = (serve(&place), serve(&place));
    let ended = place.run(&format!(
        "datagram {} {} --direction mesh --rate {GENTLE} --duration 1s --json",
        one.address, other.address
    ));
    ended.expect_code(0);
    let said = summary(&ended);
    said.adds_up();
    assert_eq!(said.flows().len(), 6, "three hosts, each to two others");
    assert_eq!(place.load().manifest.hosts.len(), 3);
}

#[test]
fn being_polite_waits_for_the_other_side() {
    let said = run("--direction both --polite --count 500 --rate 2k/s");
    said.adds_up();
    assert_eq!(said.number("datagram.sent_packets"), 1000.0);
}

#[test]
fn every_binding_is_a_stream() {
    let said = run(&format!(
        "--bind 127.0.0.1 --bind 127.0.0.2 --rate {GENTLE} --duration 1s"
    ));
    said.adds_up();
    assert_eq!(said.flows().len(), 2);
}

#[test]
fn sizes_are_drawn_from_a_range() {
    let said = run("--size 100..1100 --count 4000 --rate 20k/s");
    said.adds_up();
    let sizes = said.number("datagram.delivered_bytes_per_second")
        / said.number("datagram.delivered_packets_per_second");
    // The mean of 4000 draws lies within 5 standard errors of 600.
    assert!((575.0..625.0).contains(&sizes), "{sizes} B on average");
}

#[test]
fn every_io_mode_delivers() {
    for mode in ["plain", "mmsg", "gso"] {
        let said = run(&format!(
            "--io {mode} --count 2000 --rate 10k/s --verify 1468"
        ));
        said.adds_up();
        assert_eq!(said.number("datagram.sent_packets"), 2000.0, "{mode}");
    }
}

#[test]
fn a_table_can_be_written() {
    let place = place();
    let server = serve(&place);
    place
        .run(&format!(
            "datagram {} --rate {GENTLE} --duration 1s --tsv table.tsv",
            server.address
        ))
        .expect_code(0)
        .expect_stdout("delivered");
    let table = fs::read_to_string(place.path().join("table.tsv")).unwrap();
    let rows: Vec<Vec<&str>> = table.lines().map(|l| l.split('\t').collect()).collect();
    assert!(rows.len() > 3, "{table}");
    assert_eq!(rows[0][..3], ["time_seconds", "host", "flow"]);
    for row in &rows[1..] {
        assert_eq!(row.len(), rows[0].len(), "{table}");
        assert!(row[0].parse::<f64>().is_ok(), "{table}");
    }
}

#[test]
fn ticks_and_lines_are_for_people_only() {
    let place = place();
    let server = serve(&place);
    let ended = place.run(&format!(
        "datagram {} --count 4000 --rate 4k/s --ticks 100 --report-every 500ms --json",
        server.address
    ));
    ended.expect_code(0);
    for mark in ['o', 'O', 'i', 'I'] {
        let drawn = |line: &str| line.contains(mark) && line.chars().all(|c| "oOiI".contains(c));
        let marks: String = ended
            .stderr
            .chars()
            .filter(|c| "oOiI\n".contains(*c))
            .collect();
        assert!(marks.lines().any(drawn), "no {mark}: {ended}");
    }
    ended.expect_stderr("datagrams delivered, now");
    summary(&ended).adds_up();
}
