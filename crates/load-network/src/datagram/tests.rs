//! Tests of the parts between the sockets and the result.

use std::collections::BTreeMap;
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use serde_json::Value;
use sokudo_model::metric::{MetricKind, find};
use sokudo_model::{HostSpec, PhasePlan, PhaseResult, PhaseSpec, Rate, RunId, SeriesKey, Summary};
use sokudo_net::counters::HostCounters;
use sokudo_stats::Histogram;
use sokudo_workload::contract::{Emitted, HostResult, Options, Workload};
use sokudo_workload::flows::Direction;
use sokudo_workload::handover::{Lent, Records, Reusable};

use super::client::{ClientCounts, ClientDone, Sizes, next_report_ns, rest_is_worth_it};
use super::join::{Numbers, SenderSettings, SocketSettings};
use super::options::SizeRange;
use super::report::{
    AckInterval, ClientInterval, Collected, Names, Report, Reporter, ServerFlowReport,
    ServerInterval,
};
use super::sequence::Tracker;
use super::server::{ServerDone, ServerFlowDone};
use super::*;

/// A phase in which host 0 sends to the others.
fn spec(hosts: u32, options: &str) -> PhaseSpec {
    let host = |index: u32| HostSpec {
        name: format!("host{index}"),
        address: "127.0.0.1".into(),
    };
    PhaseSpec {
        run: RunId("test".into()),
        phase: PhasePlan {
            name: "test".into(),
            workload: NAME.into(),
            options: options.into(),
            flows: flows(hosts, 1, Direction::Up),
            duration_ns: 0,
            bound_ns: 1_000_000_000,
            labels: BTreeMap::new(),
        },
        hosts: (0..hosts).map(host).collect(),
        me: 0,
        seed: 0,
        tickets: vec![1; hosts as usize],
    }
}

/// Numbers of a sender that sent `sent` datagrams of 100 B on flow 0 in a second.
fn sender(sent: u64, mode: &str) -> Value {
    let counts = ClientCounts {
        sent,
        bytes: sent * 100,
        calls: sent / 46,
        first_ns: Some(5_000_000_000),
        last_ns: 6_000_000_000,
        ..ClientCounts::default()
    };
    let done = ClientDone {
        stream: 0,
        flows: vec![(0, counts)],
        cpu_ns: Some(500_000_000),
        wait_ns: Some(0),
        elapsed_ns: 1_000_000_000,
    };
    let mut rtt = Histogram::new();
    rtt.record(1_000_000);
    let collected = Collected {
        clients: vec![done],
        rtt: BTreeMap::from([(0, rtt)]),
        ..Collected::default()
    };
    let settings = SenderSettings {
        size: SizeRange { min: 100, max: 100 },
        path_mtu: Some(1500),
        header_bytes: Some(28),
        sndbuf_asked: Some(1000),
        sndbuf_granted: Some(1000),
        mode: mode.into(),
        mode_reason: "a reason".into(),
        asked_per_s: Some(1000.0),
    };
    let settings = BTreeMap::from([(0, settings)]);
    numbers(
        collected,
        &settings,
        &BTreeMap::new(),
        HostCounters::default(),
    )
}

/// Numbers of a receiver that got the first `received` numbers of flow 0, in buffers of `fill`.
fn receiver(received: u64, fill: u64, drops: u64, softnet_drops: u64, gro: bool) -> Value {
    let mut tracker = Tracker::new(Some(0));
    for number in 0..received {
        tracker.arrive(number, number as i64 * 1000);
    }
    let flow = ServerFlowDone {
        flow: 0,
        account: tracker.close(),
        bytes: received * 100,
        corrupted: 0,
        jitter_ns: Some(10.0),
        interarrival: Histogram::new(),
    };
    let done = ServerDone {
        stream: 0,
        flows: vec![flow],
        drops: Some(drops),
        foreign: 3,
        calls: received,
        buffers: received / fill,
        datagrams: received,
        cpu_ns: Some(1),
        wait_ns: Some(1),
        elapsed_ns: 1000,
        error: None,
    };
    let collected = Collected {
        servers: vec![done],
        ..Collected::default()
    };
    let settings = SocketSettings {
        rcvbuf_asked: 1000,
        rcvbuf_granted: 500,
        gro,
    };
    let counters = HostCounters {
        softnet_drops: Some(softnet_drops),
        udp_receive_buffer_errors: Some(drops),
    };
    numbers(
        collected,
        &BTreeMap::new(),
        &BTreeMap::from([(0, settings)]),
        counters,
    )
}

fn numbers(
    collected: Collected,
    senders: &BTreeMap<u32, SenderSettings>,
    sockets: &BTreeMap<u32, SocketSettings>,
    counters: HostCounters,
) -> Value {
    serde_json::to_value(Numbers::new(collected, senders, sockets, counters, 0)).expect("JSON")
}

fn joined(hosts: u32, parts: &[Option<&Value>]) -> PhaseResult {
    let host =
        |part: &Option<&Value>| part.map_or(Err("lost".into()), |value| Ok(value.to_string()));
    let results: Vec<HostResult> = parts.iter().map(host).collect();
    Datagram
        .join(&spec(hosts, "{}"), &results)
        .expect("options")
}

fn get(metrics: &Summary, name: &str) -> Option<f64> {
    metrics.get(&format!("datagram.{name}")).copied()
}

#[test]
fn every_direction_has_its_flows() {
    let pairs = |hosts, direction| -> Vec<(u32, u32)> {
        let flows = flows(hosts, 1, direction);
        assert!(flows.iter().zip(0..).all(|(flow, id)| flow.id == id));
        flows.iter().map(|flow| (flow.from, flow.to)).collect()
    };
    assert_eq!(pairs(3, Direction::Up), [(0, 1), (0, 2)]);
    assert_eq!(pairs(3, Direction::Down), [(1, 0), (2, 0)]);
    assert_eq!(pairs(2, Direction::Both), [(0, 1), (1, 0)]);
    assert_eq!(pairs(3, Direction::Mesh).len(), 6);
    assert_eq!(
        pairs(2, Direction::MeshSelf),
        [(0, 0), (0, 1), (1, 0), (1, 1)]
    );
    assert_eq!(pairs(1, Direction::Up), []);
    let streams = flows(2, 3, Direction::Up);
    assert_eq!(
        streams.iter().map(|flow| flow.stream).collect::<Vec<_>>(),
        [0, 1, 2]
    );
}

#[test]
fn both_ends_make_a_complete_flow() {
    let result = joined(
        2,
        &[
            Some(&sender(1000, "plain")),
            Some(&receiver(900, 1, 0, 0, false)),
        ],
    );
    let flow = &result.flows[0];
    assert!(flow.complete);
    assert_eq!((flow.from.as_str(), flow.to.as_str()), ("host0", "host1"));
    let expected = [
        ("missing_packets", 100.0),
        ("success_ratio", 0.9),
        ("loss_ratio", 0.1),
        // In the second of the load, although all arrived in the first millisecond of it.
        ("sent_packets_per_second", 1000.0),
        ("sent_bits_per_second", 1000.0 * 800.0),
        ("delivered_packets_per_second", 900.0),
        // 100 B in frames of 142 B.
        ("sent_wire_bits_per_second", 1000.0 * 1136.0),
        ("delivered_wire_bits_per_second", 900.0 * 1136.0),
        ("lost_on_path_packets", 100.0),
    ];
    for (name, value) in expected {
        let (of_flow, total) = (get(&flow.metrics, name), get(&result.summary, name));
        assert_eq!(of_flow.map(f64::round), Some(f64::round(value)), "{name}");
        assert_eq!(of_flow, total, "{name}");
    }
    assert_eq!(get(&result.summary, "foreign_packets"), Some(3.0));
}

#[test]
fn every_name_is_in_the_catalogue() {
    let result = joined(
        2,
        &[
            Some(&sender(1000, "gso")),
            Some(&receiver(900, 1, 5, 1, true)),
        ],
    );
    let flow = &result.flows[0];
    for name in result.summary.keys().chain(flow.metrics.keys()) {
        let metric = find(name).unwrap_or_else(|| panic!("{name} is not in the catalogue"));
        assert_ne!(metric.kind, MetricKind::Histogram, "{name}");
    }
    assert!(!flow.histograms.is_empty());
    for name in result.histograms.keys().chain(flow.histograms.keys()) {
        assert_eq!(
            find(name).map(|metric| metric.kind),
            Some(MetricKind::Histogram),
            "{name}"
        );
    }
}

#[test]
fn a_missing_host_leaves_its_flows_incomplete() {
    for parts in [vec![], vec![None, None], vec![None]] {
        let result = joined(2, &parts);
        assert!(!result.flows[0].complete);
        assert!(result.summary.is_empty(), "{:?}", result.summary);
    }
    let only_sender = joined(2, &[Some(&sender(1000, "plain")), None]);
    assert!(!only_sender.flows[0].complete);
    assert_eq!(get(&only_sender.summary, "sent_packets"), Some(1000.0));
    assert_eq!(get(&only_sender.summary, "loss_ratio"), None);
    let only_receiver = joined(2, &[None, Some(&receiver(900, 1, 0, 0, false))]);
    assert!(!only_receiver.flows[0].complete);
    // What lies between the first and the last arrival is all that is known.
    assert_eq!(get(&only_receiver.summary, "missing_packets"), Some(0.0));
}

#[test]
fn a_receiver_that_said_nothing_is_no_loss_of_the_others() {
    let mut both = sender(1000, "plain");
    let mut second = both["senders"][0].clone();
    second["flow"] = 1.into();
    both["senders"].as_array_mut().expect("list").push(second);
    let result = joined(
        3,
        &[Some(&both), Some(&receiver(1000, 1, 0, 0, false)), None],
    );
    assert_eq!(get(&result.summary, "sent_packets"), Some(2000.0));
    assert_eq!(get(&result.summary, "loss_ratio"), Some(0.0));
    assert_eq!(get(&result.summary, "success_ratio"), Some(1.0));
}

#[test]
fn a_host_speaks_for_its_own_flows_only() {
    // Host 1 receives flow 0: it can neither have sent it nor received flow 1.
    let mut liar = receiver(900, 1, 0, 0, false);
    liar["senders"] = sender(5, "plain")["senders"].clone();
    let mut foreign = liar["sockets"][0].clone();
    foreign["done"]["flows"][0]["flow"] = 1.into();
    liar["sockets"].as_array_mut().expect("list").push(foreign);
    let result = joined(3, &[Some(&sender(1000, "plain")), Some(&liar), None]);
    assert_eq!(get(&result.flows[0].metrics, "sent_packets"), Some(1000.0));
    assert!(result.flows[1].metrics.is_empty());
}

/// Places of 920 missing out of 1840: socket, host, path.
fn places(mode: &str, fill: u64, drops: u64, softnet: u64, gro: bool) -> (f64, f64, f64) {
    let receiver = receiver(920, fill, drops, softnet, gro);
    let result = joined(2, &[Some(&sender(1840, mode)), Some(&receiver)]);
    let place =
        |name: &str| get(&result.summary, &format!("lost_{name}_packets")).expect("a place");
    let places = (
        place("at_receiver_socket"),
        place("at_receiver_host"),
        place("on_path"),
    );
    assert_eq!(places.0 + places.1 + places.2, 920.0);
    places
}

#[test]
fn each_missing_datagram_has_one_place() {
    assert_eq!(places("plain", 1, 0, 0, false), (0.0, 0.0, 920.0));
    assert_eq!(places("plain", 1, 300, 0, false), (300.0, 0.0, 620.0));
    assert_eq!(places("plain", 1, 300, 20, false), (300.0, 20.0, 600.0));
    // Counters of others explain no more than is missing.
    assert_eq!(places("plain", 1, 5000, 5000, false), (920.0, 0.0, 0.0));
    // A segmented buffer is cut in front of a socket without GRO, and counted in pieces.
    assert_eq!(places("gso", 1, 300, 0, false), (300.0, 0.0, 620.0));
    // With GRO a drop is a whole buffer.
    assert_eq!(places("gso", 46, 10, 0, true), (460.0, 0.0, 460.0));
    assert_eq!(places("gso", 46, 20, 0, true), (920.0, 0.0, 0.0));
    // Buffers may have been a little emptier than the mean.
    assert_eq!(places("gso", 46, 19, 0, true), (920.0, 0.0, 0.0));
    // The network card may have put together what was sent one by one.
    assert_eq!(places("plain", 10, 9, 0, true), (90.0, 0.0, 830.0));
    // A core's backlog holds what the sender cut, GRO or not: 1840 / 40 calls.
    assert_eq!(places("gso", 1, 0, 5, false), (0.0, 230.0, 690.0));
    assert_eq!(places("plain", 1, 0, 5, false), (0.0, 5.0, 915.0));
}

/// Paths to all numbers and texts inside a JSON value.
fn leaves(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                leaves(value, &format!("{at}/{name}"), found);
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                leaves(value, &format!("{at}/{index}"), found);
            }
        }
        _ => found.push(at.into()),
    }
}

fn nasty() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        Just(Value::from(u64::MAX)),
        Just(Value::from(i64::MIN)),
        Just(Value::from(i64::MAX)),
        Just(Value::from(-1)),
        Just(Value::from(0)),
        Just(Value::from(1e308)),
        "[0-9a-f]{0,120}".prop_map(Value::from),
        ".{0,9}".prop_map(Value::from),
    ]
}

proptest! {
    /// Whatever a host says in its own words, the join comes back, with numbers that are numbers.
    #[test]
    fn changed_numbers_are_survived(
        changes in prop::collection::vec((any::<prop::sample::Index>(), nasty()), 1..6),
    ) {
        let mut parts = [sender(1000, "gso"), receiver(900, 46, 5, 1, true)];
        for (which, value) in changes {
            let part = which.index(2);
            let mut paths = Vec::new();
            leaves(&parts[part], "", &mut paths);
            let path = &paths[which.index(paths.len())];
            if let Some(leaf) = parts[part].pointer_mut(path) {
                *leaf = value;
            }
        }
        let result = joined(2, &[Some(&parts[0]), Some(&parts[1])]);
        prop_assert!(result.summary.values().all(|value| value.is_finite()));
        prop_assert_eq!(result.flows.len(), 1);
    }

    #[test]
    fn sizes_stay_in_their_range(seed: u64, min in 32u32..60_000, more in 0u32..5000) {
        let range = SizeRange { min, max: min + more };
        let mut sizes = Sizes(seed);
        for _ in 0..100 {
            prop_assert!((range.min..=range.max).contains(&sizes.draw(range)));
        }
    }

    #[test]
    fn reports_stay_on_their_grid(due: i32, behind in 0i64..10_000_000, interval in 1u64..1_000_000) {
        let due = i64::from(due);
        let next = next_report_ns(due, due + behind, interval);
        prop_assert!(next > due + behind);
        prop_assert!(next <= due + behind + interval as i64);
        prop_assert_eq!((next - due) % interval as i64, 0);
    }
}

#[test]
fn sizes_are_uniform() {
    let range = SizeRange { min: 100, max: 109 };
    let mut sizes = Sizes(1);
    let mut seen = [0u32; 10];
    for _ in 0..100_000 {
        seen[(sizes.draw(range) - 100) as usize] += 1;
    }
    // Binomial with 10 000 expected: standard deviation 95, six of them on either side.
    assert!(
        seen.iter().all(|n| (9_430..=10_570).contains(n)),
        "{seen:?}"
    );
}

#[test]
fn a_quarter_of_an_interval_is_worth_a_sample() {
    assert!(rest_is_worth_it(1000, 925, 100));
    assert!(!rest_is_worth_it(1000, 924, 100));
    assert!(!rest_is_worth_it(i64::MAX, 0, u64::MAX / 4));
}

/// Runs a reporter over these reports; load starts at 1 s, which is 0.5 s into the run.
fn reported(clients: usize, reports: Vec<Report>) -> (Vec<Emitted>, Collected) {
    let names = Names {
        host: "host0".into(),
        flows: BTreeMap::from([(0, "host0→host1".into())]),
        t0_ns: 500_000_000,
        start_ns: 1_000_000_000,
    };
    let emitted = Arc::new(Mutex::new(Vec::new()));
    let keep = Arc::clone(&emitted);
    let emit = Arc::new(move |said| keep.lock().expect("unshared").push(said));
    let (sender, receiver) = sync_channel(reports.len().max(1));
    for report in reports {
        sender.send(report).expect("there is room");
    }
    drop(sender);
    let collected = Reporter::new(names, emit, clients).run(&receiver);
    let emitted = std::mem::take(&mut *emitted.lock().expect("unshared"));
    (emitted, collected)
}

/// An interval as a measuring thread hands it over.
fn lent<T: Reusable + Default>(interval: T) -> Lent<T> {
    let mut records = Records::new(T::default);
    *records = interval;
    records.last()
}

fn client_report(t_ns: i64, packets: u64) -> Report {
    Report::Client(lent(ClientInterval {
        t_ns,
        flows: vec![(0, packets, packets * 100)],
        ..ClientInterval::default()
    }))
}

fn points(emitted: &[Emitted], metric: &str) -> Vec<(SeriesKey, i64, f64)> {
    let batches = emitted.iter().filter_map(|said| match said {
        Emitted::Batch(batch) => Some(batch),
        _ => None,
    });
    let series = batches.flat_map(|batch| &batch.series);
    let own = series.filter(|series| series.key.metric == metric);
    own.flat_map(|series| {
        series
            .points
            .iter()
            .map(|point| (series.key.clone(), point.0, point.1))
    })
    .collect()
}

#[test]
fn cumulative_counts_become_rates_from_the_first_interval_on() {
    let reports = vec![
        client_report(1_100_000_000, 50),
        client_report(1_300_000_000, 250),
    ];
    let (emitted, _) = reported(1, reports);
    let rates = points(&emitted, "datagram.sent_packets_per_second");
    let values: Vec<(i64, f64)> = rates.iter().map(|(_, t_ns, rate)| (*t_ns, *rate)).collect();
    assert_eq!(values, [(600_000_000, 500.0), (800_000_000, 1000.0)]);
    let bits = points(&emitted, "datagram.sent_bits_per_second");
    assert_eq!(bits[1].2, 800_000.0);
    let (key, ..) = &rates[0];
    assert_eq!(
        (key.host.as_str(), key.source.as_str()),
        ("host0", "datagram")
    );
    assert_eq!(
        key.labels,
        BTreeMap::from([("flow".into(), "host0→host1".into())])
    );
}

#[test]
fn a_receiver_shows_loss_per_interval_in_catalogue_names() {
    let server = |t_ns, unique, span| {
        let flow = ServerFlowReport {
            id: 0,
            unique,
            span,
            bytes: unique * 100,
            out_of_order: 1,
            duplicates: 2,
            interarrival: Histogram::new(),
        };
        Report::Server(lent(ServerInterval {
            t_ns: Some(t_ns),
            flows: vec![flow],
        }))
    };
    // The receiving thread begins before the load does.
    let reports = vec![
        server(900_000_000, 0, 0),
        server(1_100_000_000, 90, 100),
        server(1_200_000_000, 190, 200),
    ];
    let (emitted, _) = reported(0, reports);
    let loss = points(&emitted, "datagram.loss_ratio");
    let values: Vec<f64> = loss
        .iter()
        .map(|point| (point.2 * 1000.0).round())
        .collect();
    assert_eq!(values, [100.0, 0.0]);
    let rates = points(&emitted, "datagram.delivered_packets_per_second");
    assert_eq!(
        rates.iter().map(|point| point.2).collect::<Vec<_>>(),
        [900.0, 1000.0]
    );
    for said in &emitted {
        if let Emitted::Batch(batch) = said {
            for series in &batch.series {
                assert!(find(&series.key.metric).is_some(), "{}", series.key.metric);
            }
        }
    }
}

#[test]
fn what_was_sent_is_said_once_when_the_last_sender_has_ended() {
    let done = |stream, flow, sent| {
        let counts = ClientCounts {
            sent,
            ..ClientCounts::default()
        };
        Report::ClientDone(ClientDone {
            stream,
            flows: vec![(flow, counts)],
            cpu_ns: None,
            wait_ns: None,
            elapsed_ns: 0,
        })
    };
    let said = |emitted: Vec<Emitted>| -> Vec<String> {
        let sent = emitted.into_iter().filter_map(|said| match said {
            Emitted::Sent(text) => Some(text),
            _ => None,
        });
        sent.collect()
    };
    let (emitted, _) = reported(2, vec![done(0, 0, 10)]);
    assert!(said(emitted).is_empty());
    let (emitted, _) = reported(2, vec![done(0, 0, 10), done(1, 3, 20)]);
    assert_eq!(said(emitted), [r#"{"0":10,"3":20}"#]);
    let (emitted, _) = reported(0, Vec::new());
    assert_eq!(said(emitted), ["{}"]);
}

#[test]
fn distributions_are_kept_whole() {
    let ack = |t_ns, value| {
        let mut rtt = Histogram::new();
        rtt.record(value);
        Report::Acks(lent(AckInterval {
            t_ns,
            flow: 0,
            rtt,
            unreachable: 2,
        }))
    };
    let reports = vec![
        ack(1_500_000_000, 10),
        ack(2_500_000_000, 20),
        ack(2_600_000_000, 30),
    ];
    let (emitted, collected) = reported(0, reports);
    assert_eq!(collected.rtt[&0].len(), 3);
    assert_eq!(collected.unreachable[&0], 6);
    let intervals: Vec<_> = emitted
        .iter()
        .filter_map(|said| match said {
            Emitted::Batch(batch) => Some(&batch.histograms),
            _ => None,
        })
        .flatten()
        .collect();
    let n = |at: usize| {
        Histogram::from_v2(&intervals[at].hdr_v2)
            .expect("own encoding")
            .len()
    };
    assert_eq!((intervals.len(), n(0), n(1)), (2, 2, 1));
    // From the start of load on, one behind the other, on the run's clock.
    assert_eq!(
        (intervals[0].t0_ns, intervals[0].t1_ns),
        (500_000_000, 2_000_000_000)
    );
    assert_eq!(intervals[1].t0_ns, 2_000_000_000);
}

#[test]
fn a_trial_changes_load_and_time_alone() {
    let options = r#"{"size":"100","count":"5","rate_per_peer":"1k/s","streams":2}"#;
    let text = Datagram
        .trial(options, Some(2500.0), 1_000_000_000)
        .expect("a trial");
    let trial: DatagramOptions = serde_json::from_str(&text).expect("options");
    assert_eq!(trial.rate.map(|rate| rate.0), Some(Rate::Events(2500.0)));
    assert_eq!(
        (trial.rate_per_peer, trial.count, trial.streams),
        (None, None, 2)
    );
    assert_eq!(trial.duration_ns(), 1_000_000_000);
    let text = Datagram
        .trial(options, None, 1_000_000_000)
        .expect("a trial");
    let trial: DatagramOptions = serde_json::from_str(&text).expect("options");
    assert_eq!(trial.rate, None);
    assert!(Datagram.trial("{", None, 1).is_err());
}

#[test]
fn a_trial_that_fell_short_is_the_generators_limit() {
    let outcome = |offered: f64| {
        let mut result = PhaseResult::default();
        for (name, value) in [("sent", offered), ("asked", 1000.0), ("delivered", 900.0)] {
            let name = format!("datagram.{name}_packets_per_second");
            result.summary.insert(name, value);
        }
        result.summary.insert("datagram.loss_ratio".into(), 0.1);
        Datagram.outcome(&result).expect("an outcome")
    };
    assert!(!outcome(980.0).generator_limited);
    assert!(outcome(960.0).generator_limited);
    assert_eq!(
        (outcome(960.0).delivered, outcome(960.0).loss),
        (900.0, 0.1)
    );
    assert!(Datagram.outcome(&PhaseResult::default()).is_none());
}
