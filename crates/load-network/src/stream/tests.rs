//! Tests of joining, whatever the ends report, and of options that are refused.

use proptest::prelude::*;
use sokudo_i18n::english;
use sokudo_model::{HostSpec, PhasePlan, PhaseSpec, RunId};
use sokudo_workload::contract::{HostResult, Options, Workload};
use sokudo_workload::flows::Direction;
use sokudo_workload::link::Transport;
use sokudo_workload::values::ByteSize;

use super::join::EndNumbers;
use super::options::IoMode;
use super::*;

fn spec(flows: Vec<FlowPlan>) -> PhaseSpec {
    let host = |index: u32| HostSpec {
        name: format!("host{index}"),
        address: "127.0.0.1".into(),
    };
    PhaseSpec {
        run: RunId("test".into()),
        phase: PhasePlan {
            name: "truth".into(),
            workload: NAME.into(),
            options: StreamOptions::default().to_json(),
            flows,
            duration_ns: 0,
            bound_ns: 30_000_000_000,
            labels: Default::default(),
        },
        hosts: vec![host(0), host(1)],
        me: 0,
        seed: 7,
        tickets: vec![1; 8],
    }
}

/// Numbers of an end: these fields, and nothing of the others.
fn end(fields: &str) -> String {
    if fields.is_empty() {
        return String::new();
    }
    let nothing = serde_json::to_value(EndNumbers::default());
    let mut end = nothing.expect("numbers of a test");
    let fields: serde_json::Value = serde_json::from_str(fields).expect("fields of a test");
    for (name, value) in fields.as_object().expect("fields of a test") {
        end[name] = value.clone();
    }
    end.to_string()
}

fn joined(sent: &str, received: &str) -> PhaseResult {
    let (sent, received) = (end(sent), end(received));
    let results = [
        Ok(format!(r#"{{"sent":[{sent}],"received":[]}}"#)),
        Ok(format!(r#"{{"sent":[],"received":[{received}]}}"#)),
    ];
    of_hosts(flows(2, 1, Direction::Up), &results)
}

fn of_hosts(flows: Vec<FlowPlan>, results: &[HostResult]) -> PhaseResult {
    Stream.join(&spec(flows), results).expect("options")
}

#[track_caller]
fn check_ending(sent: &str, received: &str, expected: Option<&str>) {
    let result = joined(sent, received);
    let flow = &result.flows[0];
    let error = flow.labels.get("error").map(String::as_str);
    assert_eq!(error.is_some(), expected.is_some(), "{error:?}");
    assert!(
        error
            .unwrap_or_default()
            .contains(expected.unwrap_or_default()),
        "{error:?}"
    );
    assert_eq!(flow.complete, expected.is_none());
}

#[test]
fn a_flow_is_complete_only_when_both_ends_agree() {
    let whole = r#"{"flow":0,"bytes":100,"whole":true}"#;
    check_ending(whole, whole, None);
    let short = r#"{"flow":0,"bytes":60,"whole":true}"#;
    check_ending(whole, short, Some("ended on the way"));
    let waiting = r#"{"flow":0,"bytes":60,"whole":false}"#;
    check_ending(whole, waiting, Some("still on their way"));
    let reset = r#"{"flow":0,"bytes":60,"error":"the far end reset the connection"}"#;
    check_ending(reset, whole, Some("reset"));
    assert!(!joined(whole, "").flows[0].complete);
    assert!(!joined("", whole).flows[0].complete);
    let gone = of_hosts(flows(2, 1, Direction::Up), &[Err("it went away".into())]);
    assert_eq!(
        gone.flows[0].labels["error"],
        "host0 gave no numbers: it went away"
    );
    let summary = joined(whole, short).summary;
    assert_eq!(summary["stream.missing_bytes"], 40.0);
}

#[test]
fn a_host_speaks_for_its_own_flows_only() {
    let (own, unknown) = (end(r#"{"flow":0,"bytes":9}"#), end(r#"{"flow":77}"#));
    let liar = Ok(format!(r#"{{"sent":[],"received":[{own},{unknown}]}}"#));
    let result = of_hosts(flows(2, 1, Direction::Up), &[liar, Err("gone".into())]);
    assert!(!result.summary.contains_key("stream.received_bytes"));
    assert!(!result.flows[0].complete);
}

#[test]
fn every_number_is_in_the_catalogue() {
    let end = r#"{"flow":0,"bytes":100,"counted_bytes":100,"counted_calls":2,"counted_ns":10,
        "cost_ns":5.0,"cpu_ratio":0.5,"wait_ratio":0.1,"socket_ratio":0.4,"asked_bits_per_s":1.0,
        "late_ratio":0.0,"copied_ratio":1.0,"write_size_bytes":50,
        "tcp":{"sent_segments":2.0,"retransmitted_segments":1.0,"busy_us":1.0,
        "receive_window_limited_us":1.0,"send_buffer_limited_us":1.0,"smoothed_rtt_us":1.0,
        "min_rtt_us":1.0,"congestion_window_segments":1.0,"segment_bytes":1.0},
        "granted":{"send_buffer_bytes":1,"receive_buffer_bytes":1,"congestion_control":null,"multipath":null},"whole":true}"#;
    let result = joined(end, end);
    let names = result.summary.keys().chain(result.flows[0].metrics.keys());
    for name in names {
        assert!(sokudo_model::metric::find(name).is_some(), "{name}");
    }
    for name in report::SENDER.iter().chain(&report::RECEIVER) {
        assert!(name.of(&result.summary).is_some(), "{name}");
    }
    // 100 B in the 10 s of the load.
    assert_eq!(result.summary["stream.goodput_bits_per_second"], 80.0);
    assert_eq!(result.summary["stream.retransmitted_ratio"], 0.5);
}

#[test]
fn options_survive_json() {
    let options = StreamOptions {
        rate: Some("500Mb/s".parse().unwrap()),
        bytes: Some("1GiB".parse().unwrap()),
        cc: Some("cubic".into()),
        dscp: Some(46),
        io: IoMode::Auto,
        transport: Transport::Mptcp,
        threads: Some(2),
        ..StreamOptions::default()
    };
    let read: StreamOptions = serde_json::from_str(&options.to_json()).unwrap();
    assert_eq!(read, options);
    // A rate in bytes without a size leaves in small pieces.
    assert_eq!(options.size_bytes(), 128 << 10);
    let gentle = StreamOptions {
        rate: Some("8Mb/s".parse().unwrap()),
        ..StreamOptions::default()
    };
    assert_eq!(gentle.size_bytes(), 5000);
}

#[test]
fn what_cannot_work_is_said_with_a_hint() {
    let check = |fields: &str, word: &str| {
        let options: StreamOptions = serde_json::from_str(&format!("{{{fields}}}")).unwrap();
        let refusal = options.validate().unwrap_err();
        assert!(
            english(&refusal.says).contains(word),
            "{}",
            english(&refusal.says)
        );
        assert!(refusal.operator_error && refusal.hint.is_some());
    };
    check(r#""transport":"udp""#, "UDP");
    check(r#""transport":"quic","cc":"bbr""#, "no TCP connection");
    check(r#""transport":"tls","io":"sendfile""#, "TCP sockets");
    check(
        r#""transport":"shm","streams":4,"threads":2"#,
        "one shm connection",
    );
    check(r#""size":"1GiB""#, "--size");
    check(r#""bytes":"0""#, "sends nothing");
    check(r#""bins":"1us""#, "--bins");
    check(r#""pacing":"10/s""#, "counts bytes");
    check(r#""read_rate":"10/s""#, "counts bytes");
    check(r#""timeout":"60s""#, "--timeout");
    check(r#""bytes":"1","warmup":"1s""#, "--warmup");
    let pinned = StreamOptions {
        sndbuf: Some(ByteSize(1 << 16)),
        transport: Transport::Tls,
        ..StreamOptions::default()
    };
    assert!(pinned.validate().is_ok());
}

proptest! {
    #[test]
    fn any_text_is_joined_without_harm(text in ".{0,200}") {
        let results = [Ok(text.clone()), Ok(text)];
        let result = of_hosts(flows(2, 2, Direction::Both), &results);
        prop_assert!(result.flows.iter().all(|flow| !flow.complete));
    }
}

#[test]
fn readers_gather_only_where_auto_is_free_to_choose() {
    let check = |fields: &str, cpus: usize, expected: Option<usize>| {
        let options: StreamOptions = serde_json::from_str(fields).unwrap();
        assert_eq!(options.gather_bytes(cpus), expected, "{fields} on {cpus}");
    };
    check(r#"{"io":"auto"}"#, 2, Some(256 << 10));
    check(r#"{"io":"auto","streams":2}"#, 8, Some(128 << 10));
    check(r#"{"io":"auto","streams":64}"#, 128, Some(64 << 10));
    check(r#"{"io":"auto"}"#, 1, None);
    check(r#"{"io":"auto","streams":4}"#, 2, None);
    check(r#"{"io":"plain"}"#, 2, None);
    for slow in [
        r#""rate":"1Mb/s""#,
        r#""read_rate":"1Mb/s""#,
        r#""rcvbuf":"64KiB""#,
    ] {
        check(&format!(r#"{{"io":"auto",{slow}}}"#), 2, None);
    }
}
