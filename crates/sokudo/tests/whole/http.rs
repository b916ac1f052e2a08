//! Does `sokudo http` keep its promises as a command, also when the server does not?

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::thread;

use crate::vocabulary::{place, summary};

const PROMISED: [&str; 8] = [
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
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("loopback has ports");
    let address = listener.local_addr().expect("it is bound");
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            thread::spawn(move || {
                let mut portion = [0; 4096];
                // A request fits into one portion, and none follows before its answer.
                while let Ok(1..) = stream.read(&mut portion) {
                    if stream.write_all(answer.as_bytes()).is_err() {
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
        "http {address}/x --rate 200/s --duration 1s --slo errors<1% --json"
    ));
    ended.expect_code(0);
    let said = summary(&ended);
    assert_eq!(said.text("workload"), "http");
    for metric in PROMISED {
        said.number(metric);
    }
    assert_eq!(said.number("http.requests"), 200.0);
    assert_eq!(said.number("http.status_2xx"), 200.0);
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

#[test]
fn what_is_no_url_is_refused() {
    let place = place();
    place.run("http ftp://a/").expect_code(2);
    place
        .run("http localhost:1/ --arrival poisson")
        .expect_code(2);
}
