//! Tests of the bus that need no second host: options, flows, joining.

use sokudo_model::{HostSpec, PhasePlan, PhaseResult, PhaseSpec, Rate, RunId};
use sokudo_workload::contract::{Options, Workload};
use sokudo_workload::flows::Direction;

use super::options::BusOptions;
use super::{Bus, flows};

#[test]
fn a_chain_leads_from_each_host_to_the_next() {
    let options = BusOptions {
        relay: true,
        tx_threads: 2,
        ..BusOptions::default()
    };
    let pairs: Vec<_> = flows(3, &options)
        .into_iter()
        .map(|flow| (flow.from, flow.to, flow.stream))
        .collect();
    assert_eq!(pairs, [(0, 1, 0), (0, 1, 1), (1, 2, 0), (1, 2, 1)]);
}

#[test]
fn directions_say_who_sends() {
    let pairs = |direction| -> Vec<(u32, u32)> {
        let options = BusOptions {
            direction,
            ..BusOptions::default()
        };
        let flows = flows(3, &options).into_iter();
        flows.map(|flow| (flow.from, flow.to)).collect()
    };
    assert_eq!(pairs(Direction::Up), [(0, 1), (0, 2)]);
    assert_eq!(pairs(Direction::Down), [(1, 0), (2, 0)]);
    assert_eq!(pairs(Direction::Both).len(), 4);
    assert_eq!(pairs(Direction::Mesh).len(), 6);
}

#[test]
fn a_trial_has_its_own_rate_and_length() {
    let options = BusOptions {
        count: Some("5".parse().unwrap()),
        ..BusOptions::default()
    };
    let text = Bus.trial(&options.to_json(), Some(500.0), 7).unwrap();
    let trial: BusOptions = serde_json::from_str(&text).unwrap();
    assert_eq!(trial.rate.map(|rate| rate.0), Some(Rate::Events(500.0)));
    assert_eq!((trial.count, trial.duration_ns()), (None, 7));
}

#[test]
fn an_outcome_tells_a_slow_generator_from_a_slow_far_end() {
    let result = |late: f64| PhaseResult {
        summary: [
            ("bus.messages_per_second", 500.0),
            ("bus.asked_per_second", 1000.0),
            ("bus.late_ratio", late),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into(),
        ..PhaseResult::default()
    };
    assert!(Bus.outcome(&result(0.9)).unwrap().generator_limited);
    assert!(!Bus.outcome(&result(0.0)).unwrap().generator_limited);
    assert!(Bus.outcome(&PhaseResult::default()).is_none());
}

/// Numbers of a thread that counted so many messages of 100 B from the first to the last of these moments, with
/// these fields.
fn ended(end: &str, messages: u64, (first_ns, last_ns): (i64, i64), fields: &str) -> String {
    format!(
        r#"{{"flow":0,"end":"{end}","totals":{{"messages":{messages},"bytes":{},"all_messages":{messages},
        "answers":0,"backlog_bytes":0,"backlog_peak_bytes":0,"backlog_peak_messages":0,"backlog_ns":0,
        "backlog_events":0,"idle_ns":0,"late":0,"window_full":0,"first_ns":{first_ns},"last_ns":{last_ns}}},
        "start_late_ns":null,"unacknowledged":0,"unanswered":0,"unstarted":0,"connections":1,"strangers":0,
        "cpu_ns":null,"wait_ns":null,"elapsed_ns":5000000000,{fields}}}"#,
        messages * 100
    )
}

/// The result of `bus` with these options and threads on hosts whose load started after a second.
fn joined(options: &BusOptions, sent: &str, received: &str) -> PhaseResult {
    let host = |name: &str| HostSpec {
        name: name.into(),
        address: "127.0.0.1".into(),
    };
    let spec = PhaseSpec {
        run: RunId("test".into()),
        phase: PhasePlan {
            name: "bus".into(),
            workload: "bus".into(),
            options: options.to_json(),
            flows: flows(2, options),
            duration_ns: options.duration_ns(),
            bound_ns: 60_000_000_000,
            labels: Default::default(),
        },
        hosts: vec![host("hosta"), host("hostb")],
        me: 0,
        seed: 1,
        tickets: vec![1],
    };
    let told = |sent: &str, received: &str| {
        Ok(format!(
            r#"{{"sent":[{sent}],"received":[{received}],"relayed":[],"flows":{{}},"asked_per_s":null,
            "start_ns":1000000000}}"#
        ))
    };
    let told = [told(sent, ""), told("", received)];
    Bus.join(&spec, &told).expect("options")
}

const S: i64 = 1_000_000_000;

#[test]
fn a_connection_that_breaks_carried_what_arrived_over_the_whole_load() {
    let options = BusOptions {
        duration: Some("5s".parse().unwrap()),
        ..BusOptions::default()
    };
    let broken = r#""failure":{"kind":"Reset","says":"the far end reset the connection"}"#;
    let sent = ended("Sending", 1000, (S, 2 * S), broken);
    let received = ended("Receiving", 1000, (S, 2 * S), r#""failure":null"#);
    let result = joined(&options, &sent, &received);
    let of = |name: &str| result.summary[name];
    assert_eq!(of("bus.messages_per_second"), 200.0);
    assert_eq!(of("bus.bits_per_second"), 200.0 * 800.0);
    // The other four seconds could not be tried.
    assert_eq!(of("bus.unstarted_messages"), 4000.0);
    assert_eq!(of("bus.error_ratio"), 4001.0 / 5000.0);
    let flow = &result.flows[0].metrics;
    assert_eq!(flow["group.load_seconds"], 5.0);
    assert_eq!(flow["group.last_through_seconds"], 1.0);
}

#[test]
fn a_count_that_was_sent_ends_the_load() {
    let options = BusOptions {
        count: Some("1000".parse().unwrap()),
        ..BusOptions::default()
    };
    let whole = format!(r#""failure":null,"reached_ns":{}"#, 3 * S);
    let sent = ended("Sending", 1000, (S, 2 * S), &whole);
    let received = ended("Receiving", 1000, (S, 2 * S), r#""failure":null"#);
    let result = joined(&options, &sent, &received);
    assert_eq!(result.summary["bus.messages_per_second"], 500.0);
    assert_eq!(result.summary["bus.error_ratio"], 0.0);
    // What queued up arrives later than it was sent.
    let late = ended("Receiving", 1000, (S, 5 * S), r#""failure":null"#);
    let result = joined(&options, &sent, &late);
    assert_eq!(result.summary["bus.messages_per_second"], 250.0);
}
