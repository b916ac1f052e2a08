//! What is concluded from datagrams that were lost, late, doubled or damaged.

use super::*;

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
