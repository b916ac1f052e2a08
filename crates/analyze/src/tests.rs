//! Made-up records with a known cause, and what is concluded from them.

use std::collections::{BTreeMap, BTreeSet};

use sokudo_model::{
    Arg, Environment, Fact, Finding, FlowResult, HistogramSummary, HostEntry, Manifest,
    PhaseRecord, PhaseResult, Problem, Record, RunId, RunStatus, Series, SeriesKey, Severity, Text,
};

use super::*;

mod bottlenecks;
mod hot_link;
mod layers;
mod requests;
mod search;
mod stalls;
mod together;

const SECOND: i64 = 1_000_000_000;

/// A record of workload `datagram` without phases.
fn empty() -> Record {
    Record::new(Manifest {
        version: "0.1.0".into(),
        started: "2026-11-20T13:57:28+09:00".into(),
        seed: 1,
        status: RunStatus::Ok,
        ..Manifest::new(
            RunId("2026-11-20T13-57-28-datagram-7f3a".into()),
            "datagram",
        )
    })
}

/// A flow from hosta to hostb that sent a million datagrams and lost none, with changes.
fn flow(changes: &[(&str, f64)]) -> FlowResult {
    let usual = [
        ("sent_packets", 1e6),
        ("received_packets", 1e6),
        ("missing_packets", 0.0),
        ("sent_packets_per_second", 1e5),
        ("delivered_packets_per_second", 1e5),
        ("delivered_bytes_per_second", 1.468e8),
        ("sender_cpu_ratio", 0.4),
        ("receiver_cpu_ratio", 0.5),
        ("sender_wait_ratio", 0.001),
        ("receiver_wait_ratio", 0.001),
        ("receive_buffer_asked_bytes", 4_194_304.0),
        ("receive_buffer_granted_bytes", 4_194_304.0),
        ("size_bytes", 1468.0),
        ("path_mtu_bytes", 1500.0),
    ];
    let metrics = usual.iter().chain(changes);
    FlowResult {
        id: 0,
        from: "hosta".into(),
        to: "hostb".into(),
        metrics: metrics
            .map(|(name, value)| (format!("datagram.{name}"), *value))
            .collect(),
        complete: true,
        ..FlowResult::default()
    }
}

/// Changes of a flow that lost `missing` of its million datagrams.
fn losing(missing: f64, more: &[(&'static str, f64)]) -> Vec<(&'static str, f64)> {
    let mut changes = vec![
        ("missing_packets", missing),
        ("received_packets", 1e6 - missing),
        ("lost_at_receiver_socket_packets", 0.0),
        ("lost_at_receiver_host_packets", 0.0),
        ("lost_on_path_packets", 0.0),
    ];
    changes.extend(more);
    changes
}

fn phase(name: &str, flows: Vec<FlowResult>) -> PhaseRecord {
    let result = PhaseResult {
        flows,
        ..PhaseResult::default()
    };
    PhaseRecord::plain(name, "datagram", (10 * SECOND, 20 * SECOND), result)
}

fn with_flow(changes: &[(&str, f64)]) -> Record {
    let mut record = empty();
    record
        .manifest
        .phases
        .push(phase("p2p", vec![flow(changes)]));
    record
}

/// Adds a series of one value per second from 5 s to 25 s, `before` outside the phase and
/// `inside` within it.
fn add_series(
    record: &mut Record,
    host: &str,
    metric: &str,
    labels: &[(&str, &str)],
    before: f64,
    inside: f64,
) {
    let points = (5..=25)
        .map(|s| {
            (
                s * SECOND,
                if (11..=20).contains(&s) {
                    inside
                } else {
                    before
                },
            )
        })
        .collect();
    let labels = labels
        .iter()
        .map(|(n, v)| (n.to_string(), v.to_string()))
        .collect();
    let key = SeriesKey {
        host: host.into(),
        source: "host".into(),
        metric: metric.into(),
        labels,
    };
    record.series.push(Series { key, points });
}

/// The findings of one rule; every text in them must exist in both languages.
fn of_rule(record: &Record, rule: &str) -> Vec<Finding> {
    let all = findings(record);
    for finding in &all {
        let also = |e: &&sokudo_model::Evidence| e.says.key.starts_with("evidence-also-");
        let observed = finding.evidence.len() - finding.evidence.iter().filter(also).count();
        assert!(
            observed >= 2,
            "{} has one observation only: {finding:?}",
            finding.rule
        );
        assert!((0.0..=1.0).contains(&finding.weight), "{finding:?}");
        check_texts(finding);
    }
    all.into_iter().filter(|f| f.rule == rule).collect()
}

fn check_texts(finding: &Finding) {
    check_text(&finding.says);
    finding.next.iter().for_each(check_text);
    finding.evidence.iter().for_each(|e| check_text(&e.says));
}

/// Key → variables of the messages of one language. Every message of this crate is one line.
fn messages(source: &str) -> BTreeMap<String, BTreeSet<String>> {
    let lines = source.lines().filter_map(|line| line.split_once(" = "));
    let lines = lines.filter(|(key, _)| !key.starts_with('#'));
    lines
        .map(|(key, text)| {
            let names = text
                .split("{ $")
                .skip(1)
                .filter_map(|rest| rest.split_once(" }"));
            (
                key.to_string(),
                names.map(|(name, _)| name.to_string()).collect(),
            )
        })
        .collect()
}

const LANGUAGES: [&str; 2] = [
    include_str!("../../../locales/en/analyze.ftl"),
    include_str!("../../../locales/ja/analyze.ftl"),
];

/// Both languages have the message, and the text has every value that it needs.
fn check_text(text: &Text) {
    for source in LANGUAGES {
        let messages = messages(source);
        let names = messages
            .get(&text.key)
            .unwrap_or_else(|| panic!("no message `{}`", text.key));
        for name in names {
            assert!(
                text.args.contains_key(name),
                "`{}` lacks `{name}`",
                text.key
            );
        }
    }
    for value in text.args.values() {
        match value {
            Arg::Text(inner) if inner.key.starts_with("engine-") => {}
            Arg::Text(inner) => check_text(inner),
            Arg::Number(number, _) => assert!(number.is_finite(), "{text:?}"),
            Arg::Word(_) => {}
        }
    }
}

/// The keys of what a finding suggests, and of the remedy inside it.
fn remedy(finding: &Finding) -> (&str, &str) {
    let next = finding.next.as_ref().unwrap();
    match &next.args["remedy"] {
        Arg::Text(remedy) => (&next.key, &remedy.key),
        other => panic!("{other:?}"),
    }
}

fn one(record: &Record, rule: &str) -> Finding {
    let mut found = of_rule(record, rule);
    assert_eq!(found.len(), 1, "{rule}: {:?}", findings(record));
    found.remove(0)
}

fn none(record: &Record, rule: &str) {
    assert_eq!(of_rule(record, rule), Vec::new());
}

fn metrics(finding: &Finding) -> Vec<&str> {
    finding
        .evidence
        .iter()
        .filter_map(|e| e.metric.as_deref())
        .collect()
}

fn has_metric(finding: &Finding, metric: &str) {
    assert!(
        metrics(finding).contains(&metric),
        "{metric} is not in {:?}",
        metrics(finding)
    );
}

fn keys(texts: &[Text]) -> Vec<&str> {
    texts.iter().for_each(check_text);
    texts.iter().map(|t| t.key.as_str()).collect()
}

#[test]
fn an_empty_record_gives_nothing() {
    assert_eq!(findings(&empty()), Vec::new());
    assert_eq!(checks(&empty()), Vec::new());
    assert_eq!(keys(&verdict(&empty())), ["verdict-nothing"]);
}

#[test]
fn an_empty_phase_gives_nothing() {
    let mut record = empty();
    record.manifest.phases.push(phase("selftest", Vec::new()));
    assert_eq!(findings(&record), Vec::new());
    assert_eq!(checks(&record), Vec::new());
}

#[test]
fn a_clean_flow_gives_no_finding() {
    assert_eq!(findings(&with_flow(&[])), Vec::new());
}

#[test]
fn figures_that_are_no_numbers_do_no_harm() {
    for bad in [f64::NAN, f64::INFINITY, -1.0, 0.0] {
        let all: Vec<(&str, f64)> = sokudo_model::metric::CATALOGUE
            .iter()
            .filter_map(|m| Some((m.name.strip_prefix("datagram.")?, bad)))
            .collect();
        let record = with_flow(&all);
        findings(&record).iter().for_each(check_texts);
        checks(&record);
        verdict(&record);
    }
}

#[test]
fn rules_are_registered_by_name() {
    let names: Vec<&str> = REGISTRY.iter().map(|rule| rule.name()).collect();
    assert!(names.is_sorted(), "{names:?}");
    for rule in REGISTRY {
        assert!(rule.question().ends_with('?'), "{}", rule.name());
    }
}

#[test]
fn every_message_is_used() {
    let mut sources = String::new();
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for folder in [folder.clone(), folder.join("rules")] {
        for file in std::fs::read_dir(folder).unwrap() {
            let path = file.unwrap().path();
            if path.extension().is_some_and(|e| e == "rs") {
                sources += &std::fs::read_to_string(path).unwrap();
            }
        }
    }
    for key in messages(LANGUAGES[0]).keys() {
        let composed = key.starts_with("check-") || key.ends_with("-unknown");
        assert!(
            composed || sources.contains(&format!("\"{key}\"")),
            "`{key}` is never said"
        );
    }
}

#[test]
fn receiver_overflow_names_the_host_and_the_buffer() {
    let mut record = with_flow(&losing(
        5e4,
        &[
            ("lost_at_receiver_socket_packets", 4e4),
            ("lost_on_path_packets", 1e4),
            ("receive_buffer_granted_bytes", 212_992.0),
            ("receiver_cpu_ratio", 0.97),
        ],
    ));
    add_series(
        &mut record,
        "hostb",
        "host.udp_receive_buffer_errors",
        &[],
        3.0,
        40_003.0,
    );
    let finding = one(&record, "receiver_buffer_overflow");
    assert_eq!(finding.severity, Severity::Info, "no rate was asked for");
    assert_eq!(finding.says.key, "rule-receiver-buffer-overflow-short-says");
    assert_eq!(
        finding.says.args["share"],
        Arg::Number(0.8, sokudo_model::Unit::Ratio)
    );
    assert_eq!(remedy(&finding), ("next-unpaced", "remedy-receiver-busy"));
    has_metric(&finding, "datagram.receiver_cpu_ratio");
    let errors = finding
        .evidence
        .iter()
        .find(|e| e.source == "/proc/net/snmp")
        .unwrap();
    assert_eq!(
        (errors.value, errors.host.as_deref()),
        (Some(40_000.0), Some("hostb"))
    );
}

#[test]
fn receiver_overflow_is_bad_when_a_rate_was_asked_for() {
    let loss = losing(
        5e4,
        &[
            ("lost_at_receiver_socket_packets", 5e4),
            ("asked_packets_per_second", 1e5),
        ],
    );
    let finding = one(&with_flow(&loss), "receiver_buffer_overflow");
    assert_eq!(finding.severity, Severity::Bad);
    none(
        &with_flow(&losing(5e4, &[("lost_on_path_packets", 5e4)])),
        "receiver_buffer_overflow",
    );
}

#[test]
fn a_probe_is_meant_to_lose() {
    let mut record = with_flow(&losing(
        5e4,
        &[
            ("lost_at_receiver_socket_packets", 5e4),
            ("asked_packets_per_second", 1e5),
        ],
    ));
    record.manifest.phases[0]
        .labels
        .insert("role".into(), "probe".into());
    let finding = one(&record, "receiver_buffer_overflow");
    assert_eq!(finding.severity, Severity::Info);
    assert!(finding.weight < 0.3);
}

#[test]
fn a_kept_waiting_receiver_gets_other_advice() {
    let record = with_flow(&losing(
        5e4,
        &[
            ("lost_at_receiver_socket_packets", 5e4),
            ("receiver_wait_ratio", 0.3),
        ],
    ));
    let finding = one(&record, "receiver_buffer_overflow");
    assert_eq!(
        remedy(&finding),
        ("next-unpaced", "remedy-receiver-waiting")
    );
    one(&record, "host_busy");
}

#[test]
fn a_small_buffer_is_named_once() {
    let mut record = with_flow(&[("receive_buffer_granted_bytes", 212_992.0)]);
    let again = phase("mesh", record.manifest.phases[0].result.flows.clone());
    record.manifest.phases.push(again);
    let fact = Fact {
        section: "sysctl".into(),
        name: "net.core.rmem_max".into(),
        value: Some("212992".into()),
        unit: None,
        source: "/proc/sys".into(),
    };
    let environment = Environment {
        host: "hostb".into(),
        facts: vec![fact],
    };
    record.environments.insert("hostb".into(), environment);
    let finding = one(&record, "buffer_below_asked");
    assert_eq!(finding.severity, Severity::Info);
    assert_eq!(finding.evidence[1].source, "sysctl net.core.rmem_max");
    let next = finding.next.unwrap();
    assert_eq!(next.args["bytes"], Arg::Word("4194304".into()));
    assert_eq!(next.args["setting"], Arg::Word("net.core.rmem_max".into()));
}

#[test]
fn a_small_send_buffer_is_the_senders() {
    let changes = [
        ("send_buffer_asked_bytes", 1e6),
        ("send_buffer_granted_bytes", 2e5),
    ];
    let finding = one(&with_flow(&changes), "buffer_below_asked");
    assert_eq!(finding.says.args["host"], Arg::Word("hosta".into()));
    none(
        &with_flow(&[
            ("send_buffer_asked_bytes", 1e6),
            ("send_buffer_granted_bytes", 1e6),
        ]),
        "buffer_below_asked",
    );
}

#[test]
fn a_sender_that_falls_short_is_the_limit() {
    let changes = [("asked_packets_per_second", 2e5), ("late_ratio", 0.4)];
    let finding = one(&with_flow(&changes), "generator_limited");
    assert_eq!(finding.severity, Severity::Caution, "nothing was lost");
    assert_eq!(finding.says.key, "rule-generator-limited-short-says");
    has_metric(&finding, "datagram.late_ratio");
    let mut lossy = losing(5e4, &[("lost_on_path_packets", 5e4)]);
    lossy.extend(changes);
    let finding = one(&with_flow(&lossy), "generator_limited");
    assert_eq!(finding.severity, Severity::Bad);
    none(
        &with_flow(&[("asked_packets_per_second", 1.005e5), ("late_ratio", 0.001)]),
        "generator_limited",
    );
}

#[test]
fn a_late_schedule_is_a_caution() {
    let changes = [("asked_packets_per_second", 1e5), ("late_ratio", 0.2)];
    let finding = one(&with_flow(&changes), "generator_limited");
    assert_eq!(finding.severity, Severity::Caution);
    assert_eq!(finding.says.key, "rule-generator-limited-late-says");
}

#[test]
fn a_full_sender_thread_without_loss_is_the_limit() {
    let mut record = with_flow(&[("sender_cpu_ratio", 0.99)]);
    add_series(
        &mut record,
        "hosta",
        "selftest.sent_packets_per_second",
        &[("mode", "gso")],
        2e5,
        2e5,
    );
    let finding = one(&record, "generator_limited");
    assert_eq!(finding.severity, Severity::Info);
    has_metric(&finding, "selftest.sent_packets_per_second");
    let lossy = losing(
        5e4,
        &[("sender_cpu_ratio", 0.99), ("lost_on_path_packets", 5e4)],
    );
    none(&with_flow(&lossy), "generator_limited");
}

#[test]
fn a_refusing_kernel_limits_the_sender() {
    let changes = [("lost_at_sender_packets", 1e5), ("refused_sends", 1e5)];
    let mut record = with_flow(&changes);
    add_series(
        &mut record,
        "hosta",
        "host.udp_send_buffer_errors",
        &[],
        0.0,
        1e5,
    );
    let finding = one(&record, "sender_refusal");
    assert_eq!(finding.severity, Severity::Caution);
    has_metric(&finding, "host.udp_send_buffer_errors");
    none(
        &with_flow(&[("lost_at_sender_packets", 0.0), ("refused_sends", 0.0)]),
        "sender_refusal",
    );
}

#[test]
fn waiting_for_room_is_no_loss() {
    let finding = one(&with_flow(&[("refused_sends", 12.0)]), "sender_refusal");
    assert_eq!(finding.severity, Severity::Info);
    assert_eq!(finding.says.key, "rule-sender-refusal-waited-says");
}

#[test]
fn stolen_time_is_seen_inside_the_phase_only() {
    let steal = [("core", "all"), ("state", "steal")];
    let mut record = with_flow(&[]);
    add_series(&mut record, "hostb", "host.cpu_ratio", &steal, 0.0, 0.2);
    let finding = one(&record, "host_busy");
    assert_eq!(finding.says.key, "rule-host-busy-steal-says");
    assert_eq!(finding.says.args["host"], Arg::Word("hostb".into()));
    assert_eq!(finding.evidence[0].labels["state"], "steal");
    let mut before = with_flow(&[]);
    add_series(&mut before, "hostb", "host.cpu_ratio", &steal, 0.9, 0.0);
    none(&before, "host_busy");
}

#[test]
fn a_waiting_thread_makes_a_busy_host() {
    let mut record = with_flow(&[("sender_wait_ratio", 0.25)]);
    let pressure = [("resource", "cpu"), ("kind", "some")];
    add_series(
        &mut record,
        "hosta",
        "host.pressure_ratio",
        &pressure,
        0.0,
        0.4,
    );
    let finding = one(&record, "host_busy");
    has_metric(&finding, "datagram.sender_wait_ratio");
    has_metric(&finding, "host.pressure_ratio");
}

#[test]
fn unexplained_loss_says_what_could_not_be_read() {
    let record = with_flow(&losing(1e4, &[("lost_on_path_packets", 1e4)]));
    let finding = one(&record, "path_loss");
    assert_eq!(finding.says.key, "rule-path-loss-undetermined-says");
    assert_eq!(finding.severity, Severity::Info, "no rate was asked for");
    let Arg::Word(names) = &finding.says.args["names"] else {
        panic!()
    };
    assert!(names.contains("host.nic_send_drops"), "{names}");
    none(
        &with_flow(&losing(1e4, &[("lost_at_receiver_socket_packets", 1e4)])),
        "path_loss",
    );
}

#[test]
fn path_loss_with_silent_counters_is_the_paths() {
    let mut record = with_flow(&losing(1e4, &[("lost_on_path_packets", 1e4)]));
    add_series(
        &mut record,
        "hosta",
        "host.nic_send_drops",
        &[("device", "eth0")],
        7.0,
        7.0,
    );
    for metric in ["host.nic_receive_drops", "host.nic_errors"] {
        add_series(&mut record, "hostb", metric, &[], 7.0, 7.0);
    }
    let runs = HistogramSummary {
        n: 100,
        mean: 3.0,
        max: 9.0,
        ..HistogramSummary::default()
    };
    let result = &mut record.manifest.phases[0].result;
    result
        .histograms
        .insert("datagram.loss_run_packets".into(), runs);
    let finding = one(&record, "path_loss");
    assert_eq!(finding.says.key, "rule-path-loss-says");
    has_metric(&finding, "datagram.loss_run_packets");
}

#[test]
fn a_socket_that_counts_no_drops_leaves_the_place_of_loss_open() {
    let changes = [
        ("missing_packets", 1e4),
        ("received_packets", 9.9e5),
        ("lost_at_receiver_host_packets", 0.0),
        ("lost_on_path_packets", 1e4),
    ];
    let mut record = with_flow(&changes);
    add_series(&mut record, "hosta", "host.nic_send_drops", &[], 0.0, 0.0);
    for metric in ["host.nic_receive_drops", "host.nic_errors"] {
        add_series(&mut record, "hostb", metric, &[], 0.0, 0.0);
    }
    let says = one(&record, "path_loss").says;
    let names = Arg::Word("datagram.lost_at_receiver_socket_packets".into());
    assert_eq!(says.args["names"], names);
}

#[test]
fn path_loss_with_growing_counters_points_at_the_device() {
    let mut record = with_flow(&losing(1e4, &[("lost_on_path_packets", 1e4)]));
    add_series(
        &mut record,
        "hosta",
        "host.nic_send_drops",
        &[("device", "eth0")],
        0.0,
        9e3,
    );
    assert_eq!(
        one(&record, "path_loss").says.key,
        "rule-path-loss-device-says"
    );
}

#[test]
fn backlog_drops_are_the_receiving_hosts() {
    let mut record = with_flow(&losing(1e4, &[("lost_at_receiver_host_packets", 1e4)]));
    add_series(
        &mut record,
        "hostb",
        "host.softnet_drops",
        &[("core", "0")],
        0.0,
        1e4,
    );
    let finding = one(&record, "receiver_host_drops");
    has_metric(&finding, "host.softnet_drops");
    none(
        &with_flow(&losing(1e4, &[("lost_on_path_packets", 1e4)])),
        "receiver_host_drops",
    );
}

#[test]
fn overtaking_is_reordering() {
    let changes = [
        ("out_of_order_packets", 3e4),
        ("reordering_extent_mean_packets", 4.0),
    ];
    let finding = one(&with_flow(&changes), "reordering");
    assert_eq!(finding.severity, Severity::Caution);
    has_metric(&finding, "datagram.reordering_extent_mean_packets");
    none(&with_flow(&[("out_of_order_packets", 10.0)]), "reordering");
}

#[test]
fn repeated_datagrams_are_duplicates() {
    let finding = one(&with_flow(&[("duplicate_packets", 5e3)]), "duplicates");
    assert_eq!(finding.severity, Severity::Caution);
    none(&with_flow(&[("duplicate_packets", 0.0)]), "duplicates");
}

#[test]
fn damage_is_bad_and_comes_first() {
    let mut record = with_flow(&losing(
        2.0,
        &[("corrupted_packets", 2.0), ("lost_on_path_packets", 2.0)],
    ));
    add_series(
        &mut record,
        "hostb",
        "host.udp_checksum_errors",
        &[],
        0.0,
        3.0,
    );
    let finding = one(&record, "corruption");
    assert_eq!(finding.severity, Severity::Bad);
    assert_eq!(findings(&record)[0].rule, "corruption");
    assert_eq!(keys(&verdict(&record))[0], "rule-corruption-says");
    none(&with_flow(&[("corrupted_packets", 0.0)]), "corruption");
}

#[test]
fn a_narrow_path_is_named() {
    let finding = one(
        &with_flow(&[("path_mtu_bytes", 1280.0), ("size_bytes", 1252.0)]),
        "low_mtu",
    );
    assert_eq!(
        (finding.severity, finding.says.key.as_str()),
        (Severity::Info, "rule-low-mtu-says")
    );
    none(&with_flow(&[("path_mtu_bytes", 65_536.0)]), "low_mtu");
    none(&with_flow(&[("path_mtu_bytes", 0.0)]), "low_mtu");
}

#[test]
fn fragments_are_counted() {
    let finding = one(&with_flow(&[("size_bytes", 8000.0)]), "low_mtu");
    assert_eq!(finding.severity, Severity::Caution);
    assert_eq!(
        finding.says.args["pieces"],
        Arg::Number(6.0, sokudo_model::Unit::One)
    );
    assert_eq!(finding.next.unwrap().args["size"], Arg::Word("1472".into()));
}

#[test]
fn books_that_balance_pass() {
    let record = with_flow(&losing(5e4, &[("lost_on_path_packets", 5e4)]));
    let checks = checks(&record);
    let names: Vec<(&str, bool)> = checks.iter().map(|c| (c.name.as_str(), c.passed)).collect();
    assert_eq!(
        names,
        [
            ("complete", true),
            ("accounting", true),
            ("attribution", true)
        ]
    );
    checks.iter().for_each(|c| check_text(&c.says));
}

#[test]
fn shares_of_a_sockets_drops_need_not_be_whole() {
    let mut record = empty();
    let third = losing(
        10.0,
        &[("lost_at_receiver_socket_packets", 20.0 * (1.0 / 3.0) + 3.3)],
    );
    record
        .manifest
        .phases
        .push(phase("mesh", vec![flow(&third)]));
    assert!(
        checks(&record).iter().all(|c| c.passed),
        "{:?}",
        checks(&record)
    );
}

#[test]
fn books_that_do_not_balance_fail_and_are_told_first() {
    let mut changes = losing(5e4, &[("lost_on_path_packets", 4e4)]);
    changes.push(("received_packets", 9e5));
    let mut record = with_flow(&changes);
    record.manifest.phases[0].result.flows[0].complete = false;
    let checks = checks(&record);
    assert!(checks.iter().all(|c| !c.passed), "{checks:?}");
    checks.iter().for_each(|c| check_text(&c.says));
    assert_eq!(keys(&verdict(&record))[0], "verdict-distrust");
}

#[test]
fn errors_of_two_flows_do_not_cancel_out() {
    let mut record = empty();
    let flows = vec![
        flow(&[("received_packets", 9e5)]),
        flow(&[("received_packets", 1.1e6)]),
    ];
    record.manifest.phases.push(phase("both-ways", flows));
    let accounting = checks(&record)
        .into_iter()
        .find(|c| c.name == "accounting")
        .unwrap();
    assert!(!accounting.passed);
}

#[test]
fn the_verdict_tells_result_limit_and_next() {
    let record = with_flow(&losing(5e4, &[("lost_at_receiver_socket_packets", 5e4)]));
    let verdict = verdict(&record);
    assert_eq!(
        keys(&verdict),
        [
            "verdict-unpaced",
            "rule-receiver-buffer-overflow-says",
            "next-unpaced",
        ]
    );
}

#[test]
fn a_held_rate_has_not_reached_the_limit() {
    let record = with_flow(&[("asked_packets_per_second", 1e5)]);
    assert_eq!(
        keys(&verdict(&record)),
        ["verdict-paced", "verdict-not-reached"]
    );
}

#[test]
fn an_unexplained_limit_is_called_undetermined() {
    assert_eq!(
        keys(&verdict(&with_flow(&[]))),
        ["verdict-unpaced", "verdict-undetermined-lacking"]
    );
}

#[test]
fn a_partial_run_says_so_first() {
    let mut record = with_flow(&[]);
    record.manifest.status = RunStatus::Partial;
    assert_eq!(keys(&verdict(&record))[0], "verdict-partial-unknown");
    record.manifest.problems.push(Problem {
        t_ns: 0,
        host: "hostb".into(),
        phase: "p2p".into(),
        says: Text::new("engine-peer-lost"),
        missing: None,
    });
    let one = verdict(&record);
    assert_eq!(keys(&one)[0], "verdict-partial");
    assert!(one.len() <= 3);
    let mut other = record.manifest.problems[0].clone();
    other.host = "hostc".into();
    record.manifest.problems.push(other);
    let both = verdict(&record);
    assert_eq!(keys(&both)[0], "verdict-partial-hosts");
    assert_eq!(both[0].args["hosts"], Arg::Word("hostb, hostc".into()));
}

#[test]
fn an_experiment_is_told_by_the_point_that_carried_most() {
    let mut record = with_flow(&[]);
    let point = |pairs: usize, seconds: f64| {
        let mut phase = record.manifest.phases[0].clone();
        phase.name = format!("{pairs} pairs");
        phase.workload = "stream".into();
        phase.labels = [("pairs".to_owned(), pairs.to_string())].into();
        let speed = 8e6 / seconds;
        let metrics = [
            ("stream.received_bytes".to_owned(), 1e6),
            ("stream.goodput_bits_per_second".to_owned(), speed),
        ];
        let mut flow = phase.result.flows[0].clone();
        (flow.complete, flow.metrics) = (true, metrics.into());
        phase.result.flows = vec![flow; pairs];
        phase
    };
    let phases = vec![point(1, 1.0), point(5, 1.5), point(10, 4.0)];
    record.manifest.phases = phases;
    assert!(experiment::of(&record).is_none(), "of two hosts");
    record.manifest.workload = "run".into();
    let says = verdict(&record);
    assert_eq!(keys(&says)[0], "verdict-most-carried");
    assert_eq!(says[0].args["phase"], Arg::Word("5 pairs".into()));
    let Arg::Number(bits, _) = says[0].args["bits"] else {
        panic!("{says:?}");
    };
    assert!((bits - 5.0 * 8e6 / 1.5).abs() < 1.0);
    record.manifest.phases[2].workload = "datagram".into();
    assert!(experiment::of(&record).is_none(), "streams and datagrams");
    record.manifest.phases.truncate(1);
    assert!(experiment::of(&record).is_none(), "one point");
}
