//! Tests of `sokudo http` as a command, also with a server that misbehaves.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use sokudo_testkit::hosts::Hosts;
use sokudo_testkit::servers;

use crate::vocabulary::{place, refused, summary};

/// Numbers that every HTTP load tells in its object.
pub const PROMISED: [&str; 8] = [
    "http.requests_per_second",
    "http.latency_seconds.p50",
    "http.latency_seconds.p95",
    "http.latency_seconds.p99",
    "http.service_seconds.p99",
    "http.error_ratio",
    "http.late_starts",
    "http.requests_per_cpu_second",
];

/// A web server that gives this answer to every request.
pub fn server(answer: &'static str) -> SocketAddr {
    server_that(move |_| answer)
}

/// A web server whose answer hangs on the number of the request, from 0.
fn server_that(answer: impl Fn(u64) -> &'static str + Send + Sync + 'static) -> SocketAddr {
    let (answer, number) = (Arc::new(answer), Arc::new(AtomicU64::new(0)));
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("loopback has ports");
    let address = listener.local_addr().expect("it is bound");
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let (answer, number) = (Arc::clone(&answer), Arc::clone(&number));
            thread::spawn(move || {
                let mut portion = [0; 4096];
                // A request fits into one portion, and none follows before its answer.
                while let Ok(1..) = stream.read(&mut portion) {
                    let says = answer(number.fetch_add(1, Ordering::Relaxed));
                    if stream.write_all(says.as_bytes()).is_err() {
                        return;
                    }
                }
            });
        }
    });
    address
}

#[test]
fn a_server_is_loaded_and_told_in_one_object() {
    let place = place();
    let address = server("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    let ended = place.run(&format!(
        "http {address}/x --rate 200 --duration 1s --slo errors<1% --json"
    ));
    let said = summary(&ended);
    // On a machine that is busy with other things requests may leave late: then nothing holds.
    let checks = said.0["checks"].as_array().expect("checks").iter();
    let mut broken = checks.filter(|check| check["passed"] == false);
    assert!(broken.all(|check| check["name"] == "generator"), "{said:?}");
    said.promises("http", &PROMISED);
    assert_eq!(said.number("http.requests"), 200.0);
    assert_eq!(said.number("http.status_2xx"), 200.0);
    // Each request either waited for a connection or left by the generator's own delay.
    let flows = said.flows().iter();
    let of_flow = |flow: &serde_json::Value| {
        flow["histograms"]["http.start_delay_seconds"]["n"]
            .as_f64()
            .unwrap_or(0.0)
    };
    let own: f64 = flows.map(of_flow).sum();
    let waited = 200.0 * said.number("http.window_full_ratio");
    assert!((own + waited - 200.0).abs() < 1e-6, "{own} and {waited}");
    let record = place.load();
    let points = |metric: &str| -> usize {
        let series = record.series_of(metric);
        series.map(|series| series.points.len()).sum()
    };
    assert!(points("http.latency_p99_seconds") > 0 && points("http.requests_per_second") > 0);
}

#[test]
fn a_broken_bound_is_a_failed_check() {
    let place = place();
    let address = server("HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n");
    let ended = place.run(&format!(
        "http {address} --count 20 --connections 2 --slo errors<1% --json"
    ));
    ended.expect_code(1);
    assert_eq!(summary(&ended).number("http.status_5xx"), 20.0);
}

/// Findings, as `rule: sentence`.
fn findings(said: &serde_json::Value) -> Vec<String> {
    let findings = said["findings"].as_array().expect("findings").iter();
    let word = |one: &serde_json::Value, name: &str| one[name].as_str().unwrap_or("").to_owned();
    findings
        .map(|one| format!("{}: {}", word(one, "rule"), word(one, "says")))
        .collect()
}

/// Leaves the calling thread's namespace so few local ports that they run out at once.
fn few_ports() -> std::io::Result<()> {
    let set = |name: &str, value: &str| std::fs::write(format!("/proc/sys/net/ipv4/{name}"), value);
    set("ip_local_port_range", "40000 40039")?;
    // Ports of connections that are over would be taken again at once on the loopback device.
    set("tcp_tw_reuse", "0")
}

#[test]
fn a_generator_without_local_ports_is_named_and_its_run_is_invalid() {
    let Some(hosts) = Hosts::new(1) else {
        return;
    };
    let place = place();
    let address = hosts.run_in(0, || {
        server("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    });
    let command = place.sokudo(&format!(
        "http {address} --no-keepalive --connections 4 --duration 1s --json"
    ));
    let ended = hosts.run_in(0, move || few_ports().map(|()| command.run()));
    let ended = match ended {
        Ok(ended) => ended,
        Err(error) => {
            sokudo_testkit::skip(format!("the range of local ports cannot be set: {error}"));
            return;
        }
    };
    ended.expect_code(1);
    let said = summary(&ended);
    assert!(said.number("http.ports_exhausted") > 0.0);
    let found = findings(&said.0);
    let named =
        |one: &String| one.starts_with("generator_limited") && one.contains("no local port");
    assert!(found.iter().any(named), "{found:#?}");
    let checks = said.0["checks"].as_array().expect("checks").iter();
    let failed = |one: &serde_json::Value| one["name"] == "generator" && one["passed"] == false;
    assert!(checks.clone().any(failed), "{checks:?}");
    let record = place.load();
    let peak = |metric: &str| {
        let points = record.series_of(metric).flat_map(|series| &series.points);
        points.map(|(_, value)| *value).fold(0.0, f64::max)
    };
    assert_eq!(peak("host.tcp_local_ports"), 40.0);
    assert!(peak("host.tcp_time_wait_connections") > 0.0);
}

#[test]
fn failures_that_stand_together_are_told_as_a_burst() {
    let place = place();
    let address = server_that(|number| match (400..440).contains(&number) {
        true => "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n",
        false => "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
    });
    let ended = place.run(&format!(
        "http {address} --rate 200/s --duration 4s --interval 100ms --json"
    ));
    let said = summary(&ended);
    assert_eq!(said.number("http.status_5xx"), 40.0);
    let found = findings(&said.0);
    let told = |one: &String| one.starts_with("error_burst") && one.contains("failed within");
    assert!(found.iter().any(told), "{found:#?}");
}

#[test]
fn the_time_of_a_request_is_taken_apart() {
    let place = place();
    let address = server("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    let ended = place.run(&format!(
        "http {address} --count 200 --connections 2 --json"
    ));
    ended.expect_code(0);
    let said = summary(&ended);
    let stages: f64 = sokudo_model::spent::STAGE_MEANS
        .map(|mean| said.number(mean.name))
        .iter()
        .sum();
    let whole = said.number("http.latency_seconds.mean");
    // The whole comes from a histogram with three significant digits.
    assert!((stages / whole - 1.0).abs() < 0.01, "{stages} of {whole}");
    let page = std::fs::read_to_string(place.record().join("report.html")).expect("a report");
    assert!(page.contains("<section id=\"budget\">"));
}

#[test]
fn a_server_of_http2_that_renews_its_connections_answers_everything() {
    let server = servers::nginx("http2", |place| {
        std::fs::write(place.join("www/index.html"), "x".repeat(100)).expect("a file");
        "keepalive_requests 50; http2_max_concurrent_streams 4;".into()
    });
    let Some(server) = server else {
        return;
    };
    let place = place();
    let ended = place.run(&format!(
        "http 127.0.0.1:{}/ --http2 -c 2 -m 10 --count 400 --json",
        server.port
    ));
    ended.expect_code(0);
    let said = summary(&ended);
    for (name, expected) in [
        ("http.requests", 400.0),
        ("http.status_2xx", 400.0),
        ("http.errors", 0.0),
        ("http.body_bytes", 40_000.0),
    ] {
        assert_eq!(said.number(name), expected, "{name}");
    }
    // It says goodbye after 50 requests on each.
    assert!(said.number("http.made_connections") >= 8.0);
}

#[test]
fn a_server_without_http2_is_named_and_the_next_step_said() {
    let place = place();
    let address = server("HTTP/1.1 400 Bad\r\nContent-Length: 0\r\n\r\n");
    let ended = place.run(&format!("http {address} --http2 --duration 60s"));
    let says = format!("{address} speaks no HTTP/2");
    refused(&ended, &says, "leave --http2 out");
}

#[test]
fn what_is_no_url_is_refused() {
    let place = place();
    place.run("http ftp://a/").expect_code(2);
    place
        .run("http localhost:1/ --arrival poisson")
        .expect_code(2);
}
