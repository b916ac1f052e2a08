//! Tests that what the operator asks for stands with its outcome and the measured value wherever a
//! result is told.

use std::net::TcpListener;

use serde_json::Value;

use super::http::server;
use super::jmx::far::{get, plan};
use crate::vocabulary::{Place, place};

const ANSWER: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

fn read(place: &Place, file: &str) -> String {
    std::fs::read_to_string(place.path().join(file)).expect("it was written")
}

/// Terminal, page, JSON and list of the newest run say that `kept` was kept and `missed` was not.
#[track_caller]
fn told_everywhere(place: &Place, terminal: &str, kept: &[&str], missed: &[&str]) {
    let page = place.run("report latest --form html --output page.html");
    page.expect_code(0);
    let page = read(place, "page.html");
    let json = place.run("show latest --json");
    let json: Value = serde_json::from_str(&json.stdout).expect("one object");
    let checks = json["checks"].as_array().expect("checks");
    let outcomes = [(kept, true, "✓", "kept"), (missed, false, "✗", "missed")];
    for (demands, passed, sign, class) in outcomes {
        for demand in demands {
            let line = format!("{sign} {demand}");
            assert!(terminal.contains(&line), "{line}: {terminal}");
            let check = checks.iter().find(|check| check["asked"] == **demand);
            let check = check.unwrap_or_else(|| panic!("no {demand} in {checks:?}"));
            assert_eq!(check["passed"], passed, "{check:?}");
            assert_eq!(
                check["measured"].is_number(),
                !terminal.contains("not measured")
            );
            let asked = demand.replace('<', "&lt;").replace('>', "&gt;");
            let row = page.find(&format!("<code>{asked}</code>"));
            let row = row.unwrap_or_else(|| panic!("no {demand} on the page"));
            let begin = page[..row].rfind("<li ").expect("a line of its own");
            assert!(page[begin..].starts_with(&format!("<li class=\"{class}\">")));
        }
    }
    let runs = place.run("runs");
    let newest = runs.stdout.lines().next().expect("a run");
    let status = if missed.is_empty() {
        " ok "
    } else {
        " missed "
    };
    assert!(newest.contains(status), "{newest}");
}

#[test]
fn a_load_tells_what_was_kept_and_what_was_not() {
    let place = place();
    let address = server(ANSWER);
    // One request, so that no rate that is asked for could be late.
    let load = format!("http {address}/ -c 1 -n 1");
    let ended = place.run(&format!("{load} --slo p95<1h,errors<1%,rps>0.001/s"));
    ended.expect_code(0);
    told_everywhere(
        &place,
        &ended.stdout,
        &["p95<3600s", "errors<1%", "rps>0.001"],
        &[],
    );
    let ended = place.run(&format!("{load} --slo p95<1ns,errors<1%"));
    ended.expect_code(1);
    told_everywhere(&place, &ended.stdout, &["errors<1%"], &["p95<1ns"]);
    let first = ended.stdout.trim_start();
    assert!(first.starts_with("Not kept: p95<1ns ("), "{first}");
}

#[test]
fn a_plan_tells_what_was_kept_and_what_was_not() {
    let place = place();
    let address = server(ANSWER);
    place.write("plan.jmx", &plan(1, 5, &get(address, "/a", "")));
    let ended = place.run("jmx run plan.jmx --slo p95<1h,err<1%,rps>0.001");
    ended.expect_code(0);
    told_everywhere(
        &place,
        &ended.stdout,
        &["p95<3600s", "errors<1%", "rps>0.001"],
        &[],
    );
    let ended = place.run("jmx run plan.jmx -l rows.jtl -e -o dash --slo p95<1ns,err<1%");
    ended.expect_code(1);
    told_everywhere(&place, &ended.stdout, &["errors<1%"], &["p95<1ns"]);
    let dashboard = read(&place, "dash/index.html");
    assert!(dashboard.contains("<code>p95&lt;1ns</code>"));
}

/// A demand without a measured value is not kept, and the first sentence names the reason.
#[test]
fn a_plan_against_a_closed_port_says_so_first_and_fails() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let address = listener.local_addr().expect("it is bound");
    drop(listener);
    let place = place();
    place.write("plan.jmx", &plan(1, 5, &get(address, "/a", "")));
    let ended = place.run("jmx run plan.jmx");
    ended.expect_code(1);
    let first = ended.stdout.trim_start().replace("\n  ", " ");
    assert!(
        first.contains("5 requests (100 %) got no answer. First error: connect: refused"),
        "{first}"
    );
    let ended = place.run("jmx run plan.jmx --slo p95<1h");
    ended.expect_code(1);
    told_everywhere(&place, &ended.stdout, &[], &["p95<3600s"]);
}

#[test]
fn a_search_that_finds_nothing_says_so_first() {
    let place = place();
    let address = server(ANSWER);
    let ended = place.run(&format!("http {address}/ -c 1 -d 1s --find p99<1ns"));
    ended.expect_code(1);
    let first = ended.stdout.trim_start();
    assert!(
        first.starts_with("No rate that was tried kept the bounds: p99<1ns."),
        "{first}"
    );
    assert!(!first.contains("--find"), "{first}");
    told_everywhere(&place, &ended.stdout, &[], &["p99<1ns"]);
}
