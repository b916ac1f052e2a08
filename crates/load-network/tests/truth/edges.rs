//! Tests of phases that are impossible, end early or lack numbers.

use std::net::{IpAddr, UdpSocket};
use std::sync::Arc;

use proptest::prelude::*;
use sokudo_i18n::english;
use sokudo_load_network::datagram::{Datagram, DatagramOptions};
use sokudo_model::{PhaseResult, Refusal};
use sokudo_testkit::hosts::Hosts;
use sokudo_testkit::skip;
use sokudo_workload::{HostResult, Workload};

use crate::play::{Play, check, loopback, only_flow, options, specs, value};

#[track_caller]
fn refusal(options: &DatagramOptions) -> Refusal {
    match Play::prepare(options, &loopback(2)) {
        Err(refusal) => refusal,
        Ok(_) => panic!("this cannot be prepared"),
    }
}

#[track_caller]
fn mendable(refusal: &Refusal, words: &[&str]) {
    assert!(refusal.operator_error, "{refusal:?}");
    let hint = english(refusal.hint.as_ref().expect("a hint"));
    for word in words {
        let said = english(&refusal.says).contains(word) || hint.contains(word);
        assert!(said, "`{word}` is not in {refusal:?}");
    }
}

#[test]
fn smaller_buffers_are_refused_when_that_is_asked_for() {
    let plain = options(r#""rcvbuf":"1000MiB","count":"1""#);
    let result = crate::play::play(&plain, 2);
    let asked = value(&result.summary, "receive_buffer_asked_bytes");
    if value(&result.summary, "receive_buffer_granted_bytes") >= asked {
        return skip("this system grants every receive buffer");
    }
    let strict = options(r#""rcvbuf":"1000MiB","strict_buffers":true,"count":"1""#);
    mendable(
        &refusal(&strict),
        &["receive buffer", "1048576000", "net.core.rmem_max"],
    );
    let strict = options(r#""sndbuf":"1000MiB","strict_buffers":true,"count":"1""#);
    let mut play = Play::prepare(&strict, &loopback(2)).expect("prepare");
    let offers = play.offers();
    mendable(
        &play.arm(&offers).expect_err("refused"),
        &["send buffer", "net.core.wmem_max"],
    );
}

#[test]
fn a_port_in_use_is_refused() {
    let taken = UdpSocket::bind("127.0.0.1:0").expect("bind");
    let address = taken.local_addr().expect("address");
    let fields = format!(r#""bind":["{address}"],"direction":"down","count":"1""#);
    mendable(
        &refusal(&options(&fields)),
        &[&address.to_string(), "another program", "--bind"],
    );
}

#[test]
fn one_port_for_two_peers_is_refused_as_what_it_is() {
    let options = options(r#""bind":["127.0.0.1:9999"],"count":"1""#);
    let Err(refusal) = Play::prepare(&options, &loopback(3)) else {
        panic!("two sockets cannot share a port");
    };
    mendable(&refusal, &["2 sockets", "range of ports"]);
}

#[test]
fn datagrams_above_the_mtu_are_refused_or_cut_on_request() {
    let Some(hosts) = Hosts::new(2).map(Arc::new) else {
        return;
    };
    let large = options(r#""size":"1473","count":"10""#);
    let Err(refusal) = Play::on_hosts(&large, Arc::clone(&hosts)) else {
        panic!("1473 B and 28 B of headers do not fit 1500 B");
    };
    mendable(
        &refusal,
        &["1473", "1500", "--size 1472", "--allow-fragments"],
    );
    for fields in [
        r#""size":"1472","count":"10""#,
        r#""size":"4000","count":"10","allow_fragments":true"#,
        r#""count":"10""#,
    ] {
        let mut play = Play::on_hosts(&options(fields), Arc::clone(&hosts)).expect("prepare");
        let offers = play.offers();
        let result = play.finish(&offers);
        check(
            &result.summary,
            &[("received_packets", 10.0), ("path_mtu_bytes", 1500.0)],
        );
        if !fields.contains("size") {
            check(&result.summary, &[("size_bytes", 1472.0)]);
        }
    }
}

/// Bytes that left over the devices of the calling thread's host, but for loopback.
fn left_bytes() -> u64 {
    let devices = std::fs::read_to_string("/proc/thread-self/net/dev").expect("devices");
    let sent = devices.lines().filter_map(|line| {
        let (name, counters) = line.split_once(':')?;
        let counter = counters.split_whitespace().nth(8)?;
        counter.parse::<u64>().ok().filter(|_| name.trim() != "lo")
    });
    sent.sum()
}

#[test]
fn bytes_on_the_wire_are_those_of_every_fragment() {
    let Some(hosts) = Hosts::new(2).map(Arc::new) else {
        return;
    };
    for size in ["1472", "1473", "8000"] {
        let fields = format!(
            r#""size":"{size}","count":"500","rate":"2k/s","io":"plain","allow_fragments":true"#
        );
        let before = hosts.run_in(0, left_bytes);
        let mut play = Play::on_hosts(&options(&fields), Arc::clone(&hosts)).expect("prepare");
        let offers = play.offers();
        let metrics = play.finish(&offers).summary;
        let left = hosts.run_in(0, left_bytes) - before;
        let each = |way: &str| {
            let per_s = value(&metrics, &format!("{way}_packets_per_second"));
            value(&metrics, &format!("{way}_wire_bits_per_second")) / 8.0 / per_s
        };
        assert!((each("sent") - each("delivered")).abs() < 1e-6);
        let told = each("sent") * value(&metrics, "sent_packets");
        // Neighbours are looked for, and receivers are asked for their consent.
        let beside = left as f64 - told;
        assert!(
            (0.0..20_000.0).contains(&beside.round()),
            "{size}: {left} left, {told} told"
        );
    }
}

#[test]
fn parts_larger_than_the_datagram_are_refused() {
    for fields in [r#""payload":"65000""#, r#""verify":"2000""#] {
        mendable(&refusal(&options(fields)), &["--payload", "--size"]);
    }
}

#[test]
fn a_wait_for_stragglers_beyond_the_controllers_is_refused() {
    let endless = DatagramOptions {
        idle_timeout: "1h".parse().expect("a time"),
        ..options(r#""count":"1""#)
    };
    mendable(&refusal(&endless), &["--idle-timeout", "15s"]);
}

#[test]
fn a_plan_that_names_unknown_hosts_is_refused() {
    let good = specs(&options(r#""count":"1""#), &loopback(2)).remove(0);
    let emit = || Arc::new(|_| {});
    let refused = |change: fn(&mut sokudo_model::PhaseSpec)| {
        let mut spec = good.clone();
        change(&mut spec);
        assert!(Datagram.prepare(spec, emit()).is_err());
    };
    refused(|spec| spec.me = 2);
    refused(|spec| spec.phase.flows[0].to = 9);
    refused(|spec| spec.phase.flows[0].id = 7);
    refused(|spec| spec.phase.flows[0].stream = u32::MAX);
    refused(|spec| spec.tickets.clear());
    refused(|spec| spec.phase.options = "{".into());
    assert!(Datagram.prepare(good, emit()).is_ok());
}

fn offer_text() -> impl Strategy<Value = String> {
    let number = prop_oneof![Just(0u64), Just(1), Just(31), Just(65_508), any::<u64>()];
    let shaped = (number.clone(), number.clone(), number, ".{0,12}").prop_map(|(a, b, c, word)| {
        let shape = format!(r#"{{"size":"{a}..{b}","path_mtu":{}}}"#, c as u32);
        let word = serde_json::to_string(&word).expect("text");
        format!(
            r#"{{"ports":{{"0":{}}},"sends":{{"0":{shape}}},"tls_key":{word}}}"#,
            c as u16
        )
    });
    prop_oneof![".{0,80}", shaped, Just("{}".into()), Just("null".into())]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn offers_of_any_kind_are_survived(text in offer_text(), from in 0usize..2, io in 0usize..3) {
        let transport = ["udp", "tcp", "tls"][io];
        let fields = format!(r#""count":"1","size":"64","transport":"{transport}","io":"plain""#);
        let mut play = Play::prepare(&options(&fields), &loopback(2)).expect("prepare");
        let mut offers = play.offers();
        // Only one host hears the garbage; the other has nothing to wait for.
        play.phases[1 - from] = None;
        offers[from] = Some(text);
        // Refused or harmless; what matters is that it comes back.
        let _ = play.arm(&offers);
    }
}

#[test]
fn a_send_error_ends_a_flow_as_incomplete_with_its_reason() {
    let Some(hosts) = Hosts::new(2).map(Arc::new) else {
        return;
    };
    let fields = r#""duration":"2s","rate":"2k/s","size":"64","io":"plain""#;
    let mut play = Play::on_hosts(&options(fields), Arc::clone(&hosts)).expect("prepare");
    let offers = play.offers();
    play.arm(&offers).expect("arm");
    play.start();
    play.first_rate(0);
    if let Err(reason) = hosts.forbid(0, 1) {
        return skip(reason);
    }
    let sent = play.sent();
    let result = play.drain(sent);
    let flow = only_flow(&result);
    assert!(!flow.complete);
    let error = &flow.labels["sender_error"];
    assert!(error.contains("os error 13"), "{error}");
    // Over the whole load, of which the flow made use of a part.
    let sent = value(&flow.metrics, "sent_packets");
    assert!(sent > 0.0 && sent < 4000.0, "{sent}");
    check(&flow.metrics, &[("sent_packets_per_second", sent / 2.0)]);
}

#[test]
fn a_missing_offer_is_a_failure_of_the_run() {
    let mut play =
        Play::prepare(&options(r#""count":"1","size":"64""#), &loopback(2)).expect("prepare");
    let mut offers = play.offers();
    offers[1] = None;
    let refusal = play.arm(&offers).expect_err("there is nobody to send to");
    assert!(!refusal.operator_error);
    assert!(english(&refusal.says).contains("host1"), "{refusal:?}");
}

#[test]
fn halted_in_the_middle_the_books_are_still_closed() {
    let fields = r#""duration":"20s","rate":"2k/s","size":"64","io":"plain""#;
    let mut play = Play::prepare(&options(fields), &loopback(2)).expect("prepare");
    let offers = play.offers();
    play.arm(&offers).expect("arm");
    play.start();
    play.first_rate(0);
    for phase in play.phases.iter_mut().flatten() {
        phase.halt();
    }
    let sent = play.sent();
    let result = play.drain(sent);
    let flow = only_flow(&result);
    assert!(flow.complete);
    let sent = value(&flow.metrics, "sent_packets");
    assert!(sent > 0.0 && sent < 40_000.0, "{sent}");
    check(
        &flow.metrics,
        &[("missing_packets", 0.0), ("received_packets", sent)],
    );
}

/// Nothing is claimed about what the missing host alone could know.
fn check_one_sided(result: &PhaseResult, known: &str, unknown: &[&str]) {
    let flow = only_flow(result);
    assert!(!flow.complete);
    assert!(flow.metrics.contains_key(known), "{:?}", flow.metrics);
    for name in unknown {
        assert_eq!(flow.metrics.get(*name), None);
        assert_eq!(result.summary.get(*name), None, "{name}");
    }
}

#[test]
fn a_receiver_that_dies_leaves_the_senders_half() {
    let fields = r#""count":"1000","rate":"2k/s","size":"64","io":"plain""#;
    let mut play = Play::prepare(&options(fields), &loopback(2)).expect("prepare");
    let offers = play.offers();
    play.arm(&offers).expect("arm");
    play.start();
    play.first_rate(1);
    play.phases[1] = None;
    let sent = play.sent();
    let result = play.drain(sent);
    let unknown = [
        "datagram.received_packets",
        "datagram.missing_packets",
        "datagram.success_ratio",
        "datagram.loss_ratio",
        "datagram.foreign_packets",
        "datagram.lost_on_path_packets",
    ];
    check_one_sided(&result, "datagram.sent_packets", &unknown);
    check(&result.summary, &[("sent_packets", 1000.0)]);
}

#[test]
fn a_sender_that_dies_leaves_the_receivers_half() {
    let fields = r#""duration":"20s","rate":"2k/s","size":"64","io":"plain""#;
    let mut play = Play::prepare(&options(fields), &loopback(2)).expect("prepare");
    let offers = play.offers();
    play.arm(&offers).expect("arm");
    play.start();
    play.first_rate(1);
    play.phases[0] = None;
    let sent = play.sent();
    let result = play.drain(sent);
    check_one_sided(
        &result,
        "datagram.received_packets",
        &["datagram.sent_packets"],
    );
    assert!(value(&result.summary, "received_packets") > 0.0);
    check(
        &result.summary,
        &[("missing_packets", 0.0), ("success_ratio", 1.0)],
    );
}

#[test]
fn a_closed_port_is_noticed_and_costs_no_datagram() {
    for io in ["plain", "mmsg"] {
        // An address of its own: no other test's socket can take the port over.
        let addresses: Vec<IpAddr> = vec![[127, 0, 0, 1].into(), [127, 0, 7, 7].into()];
        let fields = format!(r#""count":"200","rate":"2k/s","size":"64","io":"{io}""#);
        let mut play = Play::prepare(&options(&fields), &addresses).expect("prepare");
        let offers = play.offers();
        play.arm(&offers).expect("arm");
        play.phases[1] = None;
        play.start();
        let sent = play.sent();
        let result = play.drain(sent);
        check(
            &result.summary,
            &[("sent_packets", 200.0), ("refused_sends", 0.0)],
        );
        // One answer per datagram at most; answers that come together are one error.
        let errors = value(&result.summary, "unreachable_errors");
        assert!((1.0..=200.0).contains(&errors), "{errors}");
    }
}

#[test]
fn a_stream_whose_peer_goes_away_ends_with_a_reason() {
    let fields = r#""duration":"20s","size":"1000","transport":"tcp""#;
    let mut play = Play::prepare(&options(fields), &loopback(2)).expect("prepare");
    let offers = play.offers();
    play.arm(&offers).expect("arm");
    play.start();
    play.first_rate(1);
    play.phases[1] = None;
    let sent = play.sent();
    let result = play.drain(sent);
    let flow = only_flow(&result);
    assert!(!flow.complete);
    let error = flow.labels.get("sender_error").expect("a reason");
    assert!(error.contains("stream ended"), "{error}");
}

#[test]
fn a_phase_that_never_started_has_no_result() {
    let mut play =
        Play::prepare(&options(r#""count":"1","size":"64""#), &loopback(2)).expect("prepare");
    let offers = play.offers();
    play.arm(&offers).expect("arm");
    let result = play.drain(vec![None, None]);
    assert!(
        result
            .flows
            .iter()
            .all(|flow| !flow.complete && flow.metrics.is_empty())
    );
}

/// A phase of 100 datagrams that is over, and in which the senders have `said` so much.
fn after(said: &str) -> PhaseResult {
    let fields = r#""count":"100","rate":"2k/s","size":"64""#;
    let mut play = Play::prepare(&options(fields), &loopback(2)).expect("prepare");
    let offers = play.offers();
    play.arm(&offers).expect("arm");
    play.start();
    play.sent();
    play.drain(vec![Some(said.into()), None])
}

#[test]
fn counts_that_cannot_be_read_leave_the_flow_incomplete_with_the_reason() {
    let result = after("{");
    let flow = only_flow(&result);
    assert!(!flow.complete && flow.metrics.is_empty());
    let error = &flow.labels["error"];
    let says = "the send count of host0 cannot be read: ";
    assert!(error.contains(says), "{error}");
}

#[test]
fn a_count_that_is_too_large_does_not_change_what_was_measured() {
    let result = after(r#"{"0":18446744073709551615}"#);
    check(
        &result.summary,
        &[("sent_packets", 100.0), ("received_packets", 100.0)],
    );
}

#[test]
fn results_of_other_hosts_may_be_garbage() {
    let spec = specs(&options(r#""count":"1""#), &loopback(2)).remove(0);
    for text in ["", "{", "null", "[]", r#"{"senders":[]}"#] {
        let results: Vec<HostResult> = vec![Ok(text.into()), Err("lost".into())];
        let result = Datagram.join(&spec, &results).expect("options");
        assert!(!only_flow(&result).complete);
        assert!(result.summary.is_empty(), "{:?}", result.summary);
    }
}
