//! `sokudo serve` holds to the policy of its host, and notes who asked for what.

use std::fs;

use sokudo_testkit::program::Running;

use crate::jmx::far::{far, says};
use crate::vocabulary::{Place, place};

/// A server of this machine with a policy, and its address.
fn served(place: &Place, policy: &str) -> (Running, String) {
    place.write("policy.toml", policy);
    let words = ["serve", "--bind", "127.0.0.1:0", "--policy", "policy.toml"];
    let home = place.path().join("home");
    let call = place.words(words);
    let mut server = call.env("SOKUDO_CONFIG", &home.to_string_lossy()).start();
    let address = server.wait_for(|line| Some(line.strip_prefix("serving on ")?.to_owned()));
    (server, address)
}

/// Actions in the log of that server, a word per line.
fn noted(place: &Place) -> Vec<String> {
    let log = fs::read_to_string(place.path().join("home/audit.jsonl")).expect("a log");
    let what = |line: &str| {
        let line: serde_json::Value = serde_json::from_str(line).expect("an object per line");
        line["what"].as_str().unwrap_or_default().to_owned()
    };
    log.lines().map(what).collect()
}

#[test]
fn a_server_sends_to_strangers_only_when_its_owner_allows_it() {
    let web = far(|_, _| says(200, "ok"));
    let url = format!("http://{}/", web.address);
    let place = place();
    let (_server, address) = served(&place, "");
    let words = ["http", &url, "--on", &address, "--count", "10"];
    let ended = place.words(words).run();
    ended
        .expect_code(2)
        .expect_stderr("the policy of this host forbids it");
    assert_eq!(web.asked().len(), 0);
    assert!(
        noted(&place).contains(&"refused".into()),
        "{:?}",
        noted(&place)
    );
    // Between the hosts of the run nothing needs to be named.
    let asked = place.run(&format!("rr {address} --count 10"));
    asked.expect_code(0);
    let noted_now = noted(&place);
    for what in ["prepare", "start"] {
        assert!(noted_now.iter().any(|said| said == what), "{noted_now:?}");
    }
}

#[test]
fn a_policy_that_is_named_and_missing_opens_no_door() {
    let place = place();
    for command in ["serve", "agent"] {
        let words = [command, "--policy", "missing.toml", "--print-policy"];
        let ended = place.words(words).run();
        ended
            .expect_code(2)
            .expect_stderr("`missing.toml` cannot be read");
    }
}

#[test]
fn a_server_with_a_policy_bounds_rate_time_and_connections() {
    let place = place();
    let policy = "reach = [\"hosts\"]\nmax_rate = \"1Mb/s\"\nmax_duration = \"1s\"\nmax_flows = 2";
    let (_server, address) = served(&place, policy);
    for (line, why) in [
        ("rr ADDRESS --duration 1s", "as much as it can"),
        (
            "rr ADDRESS --duration 1s --rate 100/s --size 64:10000",
            "8 Mb/s was asked for",
        ),
        ("rr ADDRESS --duration 6s --rate 10/s", "1 s at a time"),
        (
            "rr ADDRESS --duration 1s --rate 10/s --connections 3",
            "2 connections at a time",
        ),
        (
            "stream ADDRESS --duration 1s --rate 1Mb/s --streams 3",
            "2 connections at a time",
        ),
        (
            "stream ADDRESS --duration 1s --direction down",
            "as much as it can",
        ),
    ] {
        let ended = place.run(&line.replace("ADDRESS", &address));
        ended.expect_code(2).expect_stderr(why);
    }
    let fits =
        "rr ADDRESS --duration 200ms --warmup 0s --rate 100/s --size 64:1000 --connections 2";
    place.run(&fits.replace("ADDRESS", &address)).expect_code(0);
}
