//! Tests of findings about the server, with servers that have exactly that fault.

use std::time::Duration;

use super::far::{Does, Far, far, get, plan, says};
use crate::vocabulary::{Place, place};

/// The findings of a run of this plan.
#[track_caller]
fn found(place: &Place, content: &str, users: u32, loops: i64) -> Vec<String> {
    place.write("plan.jmx", &plan(users, loops, content));
    let ended = place.run("jmx run plan.jmx --json --threads 1");
    assert!([Some(0), Some(1)].contains(&ended.code), "{ended:?}");
    let said: serde_json::Value = serde_json::from_str(&ended.stdout).expect("one object");
    let findings = said["findings"].as_array().expect("findings");
    let rule = |finding: &serde_json::Value| {
        let word = |name: &str| finding[name].as_str().unwrap_or_default().to_owned();
        format!("{}: {}", word("rule"), word("says"))
    };
    findings.iter().map(rule).collect()
}

#[track_caller]
fn expect(findings: &[String], rule: &str, says: &str) {
    let fits = |finding: &&String| finding.starts_with(rule) && finding.contains(says);
    assert!(
        findings.iter().any(|finding| fits(&finding)),
        "{findings:#?}"
    );
}

fn failing(does: fn() -> Does) -> Far {
    far(move |number, _| match number % 2 {
        0 => does(),
        _ => says(200, "ok"),
    })
}

#[test]
fn resets_and_closed_connections_are_told_apart() {
    let resets = failing(|| Does::Resets);
    let findings = found(&place(), &get(resets.address, "/a", ""), 2, 50);
    expect(&findings, "request_failures", "accepted and then reset");
    let closes = failing(|| Does::Closes);
    let findings = found(&place(), &get(closes.address, "/a", ""), 2, 50);
    expect(
        &findings,
        "request_failures",
        "closed 50 connections before it had answered",
    );
}

#[test]
fn nobody_there_and_no_answer_are_told_apart() {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let address = listener.local_addr().expect("it is bound");
    drop(listener);
    let findings = found(&place(), &get(address, "/a", ""), 2, 10);
    expect(&findings, "request_failures", "connections were refused");
    let late = failing(|| Does::Later(Duration::from_millis(500), Vec::new()));
    let impatient = get(late.address, "/a", "").replace(
        "<boolProp",
        "<stringProp name=\"HTTPSampler.response_timeout\">50</stringProp><boolProp",
    );
    let findings = found(&place(), &impatient, 2, 10);
    expect(
        &findings,
        "request_failures",
        "answers did not come in time",
    );
}

#[test]
fn a_connection_per_request_and_one_slow_label_are_told() {
    let far = far(|_, request| match request.starts_with("GET /slow") {
        true => Does::Later(
            Duration::from_millis(60),
            b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".to_vec(),
        ),
        false => says(200, "ok"),
    });
    let both = get(far.address, "/quick", "") + &get(far.address, "/slow", "");
    let fresh = both.replace("use_keepalive\">true", "use_keepalive\">false");
    let findings = found(&place(), &fresh, 4, 30);
    expect(&findings, "connection_churn", "connections were made for");
    expect(&findings, "slow_label", "“/slow” takes");
}
