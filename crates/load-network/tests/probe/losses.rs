//! Tests of loss per direction, apart from repetition, reordering and foreign datagrams.

use std::net::{Ipv4Addr, UdpSocket};

use sokudo_testkit::hosts::Hosts;
use sokudo_testkit::relay::Script;
use sokudo_testkit::skip;

use super::play::{port, probe};

/// Numbers that the script is about are there also when a busy host leaves some probes out.
const PLAN: &str = r#""every":"4ms","count":"150","timeout":"1s""#;

#[test]
fn loss_is_told_apart_by_direction() {
    let up = Script::new().drop_exactly([3, 10, 11, 12]);
    let down = Script::new().drop_exactly([20, 40, 41]);
    let played = probe(PLAN).play_through(up, down);
    let sent = played.get("sent_packets");
    assert_eq!(played.get("lost_up_packets"), 4.0);
    assert_eq!(played.get("lost_down_packets"), 3.0);
    assert_eq!(played.get("lost_packets"), 7.0);
    assert_eq!(played.get("answered_packets"), sent - 7.0);
    assert_eq!(played.get("answers_sent_packets"), sent - 4.0);
    assert_eq!(played.get("loss_up_ratio"), 4.0 / sent);
    assert_eq!(played.get("loss_down_ratio"), 3.0 / (sent - 4.0));
    let runs = |way: &str| &played.result.histograms[&format!("probe.loss_run_{way}_packets")];
    assert_eq!((runs("up").n, runs("up").max), (2, 3.0));
    assert_eq!((runs("down").n, runs("down").max), (2, 2.0));
    let lost: f64 = played
        .points("loss_ratio")
        .iter()
        .map(|(_, ratio)| ratio)
        .sum();
    assert!(lost > 0.0, "the series shows when");
}

#[test]
fn a_far_end_that_dies_answered_over_the_whole_load() {
    let down = Script::new().drop_exactly(50..1000);
    let played = probe(r#""every":"4ms","duration":"1s","timeout":"200ms""#)
        .play_through(Script::new(), down);
    let answered = played.get("answered_packets");
    assert!(answered > 0.0 && answered <= 50.0, "{answered}");
    assert_eq!(played.get("answered_packets_per_second"), answered);
    let of = |name: &str| played.result.flows[0].metrics[name];
    assert_eq!(of("group.load_seconds"), 1.0);
    assert!(of("group.last_through_seconds") < 1.0);
}

#[test]
fn head_and_tail_are_counted() {
    let up = Script::new().drop_exactly([0, 1]);
    let tail = Script::new().rule(
        sokudo_testkit::relay::Which::Share(1.0),
        sokudo_testkit::relay::Fate::Drop,
    );
    let head = probe(PLAN).play_through(up, Script::new());
    assert_eq!(
        (head.get("lost_up_packets"), head.get("lost_down_packets")),
        (2.0, 0.0)
    );
    let nothing =
        probe(r#""every":"4ms","count":"20","timeout":"200ms""#).play_through(Script::new(), tail);
    let sent = nothing.get("sent_packets");
    assert_eq!(nothing.get("lost_up_packets"), 0.0);
    assert_eq!(nothing.get("lost_down_packets"), sent);
    assert_eq!(
        nothing.result.histograms["probe.loss_run_down_packets"].max,
        sent
    );
    assert!(!nothing.result.flows[0].complete, "nobody answered");
}

#[test]
fn repetitions_are_counted_where_they_happen() {
    let up = Script::new().duplicate([5, 30]);
    let down = Script::new().duplicate([50, 51, 52]);
    let played = probe(PLAN).play_through(up, down);
    assert_eq!(played.get("duplicate_up_packets"), 2.0);
    assert_eq!(played.get("duplicate_down_packets"), 3.0);
    assert_eq!(played.get("lost_packets"), 0.0);
    assert_eq!(
        played.get("lost_up_packets") + played.get("lost_down_packets"),
        0.0
    );
    let sent = played.get("sent_packets");
    assert_eq!(
        played.get("answered_packets"),
        sent,
        "each probe counts once"
    );
    assert_eq!(played.get("answers_sent_packets"), sent + 2.0);
}

#[test]
fn order_is_told_apart_by_direction() {
    let up = Script::new().hold([7, 40], 2);
    let down = Script::new().hold([60], 3);
    let played = probe(PLAN).play_through(up, down);
    assert_eq!(played.get("out_of_order_up_packets"), 2.0);
    assert_eq!(played.get("out_of_order_down_packets"), 1.0);
    assert_eq!(played.get("lost_packets"), 0.0);
}

#[test]
fn damaged_probes_are_lost_and_never_answered() {
    let up = Script::new().corrupt([4, 9], 20);
    let down = Script::new().corrupt([30], 47);
    let played = probe(PLAN).play_through(up, down);
    assert_eq!(played.get("lost_up_packets"), 2.0);
    assert_eq!(played.get("lost_down_packets"), 1.0);
    assert_eq!(played.get("foreign_packets"), 3.0);
}

#[test]
fn strangers_are_never_taken_for_probes() {
    let plan = probe(PLAN);
    let mut ends = plan.ends();
    let offers = [None, Some(ends.answering.offer())];
    ends.asking.arm(&offers).expect("a far end");
    let target = (Ipv4Addr::LOCALHOST, port(&ends.answering.offer()));
    let stranger = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a socket");
    for length in [0, 1, 47, 48, 64, 65, 1400] {
        stranger.send_to(&vec![0xa5; length], target).expect("sent");
    }
    let played = plan.carry_out(ends);
    // Those that came after the ends had met are counted as what they are.
    assert!(played.find("foreign_packets").unwrap_or(0.0) <= 7.0);
    assert_eq!(played.get("answered_packets"), played.get("sent_packets"));
    assert_eq!(played.get("duplicate_up_packets"), 0.0);
    stranger.set_nonblocking(true).expect("a socket");
    assert!(
        stranger.recv(&mut [0; 100]).is_err(),
        "strangers get no answer"
    );
}

#[test]
fn a_far_end_that_is_gone_leaves_the_round_trips() {
    let plan = probe(r#""every":"2ms","count":"50""#);
    let mut ends = plan.ends();
    let offers = [None, Some(ends.answering.offer())];
    ends.asking.arm(&offers).expect("a far end");
    let ([asked, _], _) = plan.measure(ends);
    let result = plan.join(&[Ok(asked), Err("host1 is gone".into())]);
    let get = |name: &str| result.summary.get(&format!("probe.{name}")).copied();
    assert!(get("rtt_seconds.p50").is_some());
    assert_eq!(get("lost_up_packets"), None, "only both ends together know");
    assert!(!result.flows[0].complete);
}

#[test]
fn a_send_error_ends_the_probes_as_incomplete_with_its_reason() {
    let Some(hosts) = Hosts::new(2).map(std::sync::Arc::new) else {
        return;
    };
    let plan = probe(r#""every":"2ms","duration":"2s","timeout":"200ms""#)
        .between([hosts.address(0), hosts.address(1)]);
    let forbidding = std::sync::Arc::clone(&hosts);
    let forbidden = std::thread::spawn(move || {
        // When probes are on their way: the host has sent some.
        while forbidding.run_in(0, sent_datagrams) < 50 {
            std::thread::yield_now();
        }
        forbidding.forbid(0, 1)
    });
    let played = plan.play_on(&hosts);
    if let Err(reason) = forbidden.join().expect("no panic") {
        return skip(reason);
    }
    let flow = &played.result.flows[0];
    assert!(!flow.complete);
    assert!(flow.labels["error"].contains("os error 13"), "{flow:?}");
    let answered = played.get("answered_packets");
    assert!(answered > 0.0 && answered < 1000.0, "{answered}");
    assert_eq!(played.get("answered_packets_per_second"), answered / 2.0);
}

/// UDP datagrams that the calling thread's host has sent.
fn sent_datagrams() -> u64 {
    let counters = std::fs::read_to_string("/proc/thread-self/net/snmp").expect("counters");
    let mut udp = counters.lines().filter(|line| line.starts_with("Udp:"));
    let (names, values) = (udp.next().expect("names"), udp.next().expect("values"));
    let both = names.split_whitespace().zip(values.split_whitespace());
    let mut sent = both.filter(|(name, _)| *name == "OutDatagrams");
    sent.next()
        .map_or(0, |(_, value)| value.parse().expect("a number"))
}
