//! Tests of causes that only counters of one place, or the order of events, distinguish.
//!
//! Each test makes one cause for real between two hosts inside this machine. Where the program does not
//! name it, it must not name another one with certainty.

use std::process::Command;
use std::time::Duration;

use sokudo_testkit::hosts::Hosts;
use sokudo_testkit::relay::{Fate, Script, Which};
use sokudo_testkit::skip;
use sokudo_testkit::way::Way;

use crate::bottlenecks::{Pair, Told};
use crate::vocabulary::{place, serve};

/// Byte of an IP packet behind the headers of UDP and of TCP with its options.
const PAYLOAD_BYTE: usize = 60;

/// Fails unless the limit is one of these, or this machine was too busy to tell.
#[track_caller]
fn limited_by_one_of(told: &Told, rules: &[&str]) {
    if told.disturbed() {
        return skip("other programs use this machine's cores");
    }
    let limit = told.limit().map(|limit| limit.rule);
    let limit = limit.as_deref().unwrap_or("undetermined");
    assert!(rules.contains(&limit), "{limit}: {}", told.ended);
}

#[test]
fn a_cable_that_is_pulled_is_told_by_when() {
    let Some(hosts) = Hosts::new(2) else { return };
    let place = place();
    let pair = Pair::new(&place, &hosts, hosts.address(1));
    let line = format!(
        "rr {} --rate 200/s --duration 4s --timeout 5s --json",
        pair.server.address
    );
    let command = place.sokudo(&line);
    let client = hosts.run_in(0, move || command.start());
    place.wait_until_recorded("rr");
    hosts.pull_cable(1).expect("the link is there");
    std::thread::sleep(Duration::from_millis(1_200));
    hosts.plug_cable(1).expect("the link is there");
    let told = Told::of(&place, client.finish());
    limited_by_one_of(&told, &["interrupted", "stalled_flow"]);
    let found = told.limit().expect("a limit");
    if found.rule == "interrupted" {
        assert_eq!(found.says.key, "rule-interrupted-interface-says");
    }
}

#[test]
fn what_a_firewall_drops_is_not_lost_on_the_path() {
    let Some(hosts) = Hosts::new(2) else { return };
    let rules = "add table inet t; add chain inet t c { type filter hook input priority 0; }; \
                 add rule inet t c meta l4proto udp numgen random mod 10 0 drop";
    let made = hosts.run_in(1, move || Command::new("nft").arg(rules).output());
    match made {
        Ok(done) if done.status.success() => {}
        Ok(done) => return skip(String::from_utf8_lossy(&done.stderr)),
        Err(reason) => return skip(reason),
    }
    let place = place();
    let pair = Pair::new(&place, &hosts, hosts.address(1));
    let told = pair.run("datagram", "--rate 2k/s --duration 3s");
    limited_by_one_of(&told, &["filter_drops"]);
}

#[test]
fn damaged_datagrams_found_no_full_buffer() {
    let Some(hosts) = Hosts::new(2) else { return };
    let damaging = Script::new().rule(Which::Share(0.05), Fate::Corrupt(PAYLOAD_BYTE));
    let Some(_way) = Way::open(&hosts, damaging, Script::new()) else {
        return;
    };
    let place = place();
    let pair = Pair::new(&place, &hosts, Way::address(1));
    let told = pair.run("datagram", "--rate 1k/s --duration 3s");
    limited_by_one_of(&told, &["checksum_errors"]);
}

#[test]
fn segments_that_are_overtaken_are_not_lost() {
    let Some(hosts) = Hosts::new(2) else { return };
    let delay = Duration::from_millis(10);
    let overtaking = Script::new()
        .delay(delay)
        .rule(Which::Share(0.03), Fate::Hold(6));
    let Some(_way) = Way::open(&hosts, overtaking, Script::new().delay(delay)) else {
        return;
    };
    let place = place();
    let pair = Pair::new(&place, &hosts, Way::address(1));
    let told = pair.run("stream", "--cc cubic --duration 4s");
    let limit = told.limit().map(|limit| limit.rule);
    assert_ne!(limit.as_deref(), Some("loss_limited"), "{}", told.ended);
}

#[test]
fn a_short_transfer_on_a_long_way() {
    let Some(hosts) = Hosts::new(2) else { return };
    let delay = || Script::new().delay(Duration::from_millis(50));
    let Some(_way) = Way::open(&hosts, delay(), delay()) else {
        return;
    };
    let place = place();
    let pair = Pair::new(&place, &hosts, Way::address(1));
    let told = pair.run("stream", "--duration 1s");
    limited_by_one_of(&told, &["slow_start", "undetermined"]);
}

#[test]
fn a_load_that_is_carried_is_limited_by_its_request() {
    for load in [
        "rr --rate 50/s",
        "datagram --rate 500/s",
        "bus --rate 200/s",
    ] {
        let place = place();
        let server = serve(&place);
        let (workload, rate) = load.split_once(' ').expect("two words");
        let line = format!("{workload} {} {rate} --duration 2s --json", server.address);
        let told = Told::of(&place, place.run(&line));
        limited_by_one_of(&told, &["application_limited"]);
        assert_eq!(told.json["limit"]["cause"], "application_limited");
        assert!(
            told.json["limit"]["for"]
                .as_array()
                .is_some_and(|rows| rows.len() >= 2)
        );
    }
}
