//! Conclusions that belong together: over phases, over hosts of one machine, cause and consequence.

use super::*;

/// Four hosts that are network namespaces of a machine with two cores.
fn crowded(record: &mut Record) {
    let note = Text::new("engine-check-namespaces").word("n", "4");
    record.manifest.notes.push(note);
    for (name, address) in [
        ("hosta", "10.77.0.1"),
        ("hostb", "10.77.0.2"),
        ("hostc", "10.77.0.3"),
        ("hostd", "10.77.0.4"),
    ] {
        record.manifest.hosts.push(host(name, address));
        let environments = &mut record.environments;
        environments.insert(name.into(), of_two_cores(name));
    }
}

fn host(name: &str, address: &str) -> HostEntry {
    HostEntry {
        name: name.into(),
        address: address.into(),
        os: "linux".into(),
        version: "0.1.0".into(),
        clock_offset_ns: 0,
        clock_error_ns: 0,
        machine: None,
    }
}

/// Every host sends to all others; all threads wait for a CPU.
fn mesh(changes: &[(&str, f64)]) -> PhaseRecord {
    let hosts = ["hosta", "hostb", "hostc", "hostd"];
    let mut flows = Vec::new();
    for from in hosts {
        for to in hosts.into_iter().filter(|to| *to != from) {
            let mut one = flow(&[("sender_wait_ratio", 0.46), ("receiver_wait_ratio", 0.49)]);
            one.metrics.extend(
                flow(changes)
                    .metrics
                    .into_iter()
                    .filter(|(name, _)| changes.iter().any(|(n, _)| name.ends_with(n))),
            );
            (one.from, one.to) = (from.into(), to.into());
            flows.push(one);
        }
    }
    phase("mesh", flows)
}

#[test]
fn one_conclusion_is_one_finding_however_many_phases_show_it() {
    let lossy = |missing| {
        let lost = [("lost_at_receiver_socket_packets", missing)];
        vec![flow(&losing(missing, &lost))]
    };
    let mut record = empty();
    for (name, missing) in [("p2p", 5e4), ("both-ways", 6e4), ("mesh", 10.0)] {
        record.manifest.phases.push(phase(name, lossy(missing)));
    }
    let finding = one(&record, "receiver_buffer_overflow");
    assert_eq!(finding.phase, "p2p", "of equals the first one leads");
    let last = finding.evidence.last().unwrap();
    assert_eq!(last.says.key, "evidence-also-phases");
    let phases = Arg::Word("both-ways, mesh".into());
    assert_eq!(last.says.args["phases"], phases);
}

#[test]
fn other_hosts_are_other_conclusions() {
    let lossy = losing(5e4, &[("lost_at_receiver_socket_packets", 5e4)]);
    let mut back = flow(&lossy);
    (back.from, back.to) = ("hostb".into(), "hosta".into());
    let mut record = with_flow(&lossy);
    record.manifest.phases.push(phase("back", vec![back]));
    assert_eq!(of_rule(&record, "receiver_buffer_overflow").len(), 2);
}

#[test]
fn loss_at_several_hosts_is_not_blamed_on_one() {
    let lossy = losing(5e4, &[("lost_at_receiver_socket_packets", 5e4)]);
    let mut back = flow(&losing(4e4, &[("lost_at_receiver_socket_packets", 4e4)]));
    (back.from, back.to) = ("hostb".into(), "hosta".into());
    let mut record = empty();
    let flows = vec![flow(&lossy), back];
    record.manifest.phases.push(phase("both-ways", flows));
    let says = one(&record, "receiver_buffer_overflow").says;
    assert_eq!(says.key, "rule-receiver-buffer-overflow-many-says");
    assert_eq!(
        says.args["hosts"],
        Arg::Number(2.0, sokudo_model::Unit::One)
    );
}

#[test]
fn hosts_of_one_machine_share_its_cores() {
    let mut record = empty();
    crowded(&mut record);
    record.manifest.phases.push(mesh(&[]));
    let both = phase("both-ways", mesh(&[]).result.flows[..4].to_vec());
    record.manifest.phases.push(both);
    let finding = one(&record, "host_busy");
    assert_eq!(finding.says.key, "rule-host-busy-shared-says");
    let number = |name: &str| match finding.says.args[name] {
        Arg::Number(value, _) => value,
        ref other => panic!("{other:?}"),
    };
    assert_eq!(
        (number("hosts"), number("cores"), number("threads")),
        (4.0, 2.0, 8.0)
    );
    let keys: Vec<&str> = finding
        .evidence
        .iter()
        .map(|e| e.says.key.as_str())
        .collect();
    assert!(keys.contains(&"evidence-threads-and-cores"), "{keys:?}");
    assert_eq!(finding.next.unwrap().key, "rule-host-busy-shared-next");
}

#[test]
fn a_busy_machine_with_cores_enough_is_told_as_a_machine() {
    let mut record = with_flow(&[("receiver_wait_ratio", 0.3), ("late_ratio", 0.2)]);
    let metrics = &mut record.manifest.phases[0].result.flows[0].metrics;
    metrics.insert("datagram.asked_packets_per_second".into(), 1e5);
    crowded(&mut record);
    let finding = one(&record, "host_busy");
    let Arg::Text(busy) = &finding.says.args["busy"] else {
        panic!("{:?}", finding.says)
    };
    assert_eq!(busy.key, "rule-host-busy-machine-says");
    assert_eq!(finding.next.unwrap().key, "rule-host-busy-next");
}

#[test]
fn a_host_that_is_kept_on_one_core_does_not_make_the_machine_smaller() {
    let mut record = empty();
    crowded(&mut record);
    let pinned = record.environments.get_mut("hostb").expect("a host");
    pinned.facts[0].value = Some("1".into());
    for host in ["hosta", "hostb"] {
        assert_eq!(view::machine::cores(&record, host), Some(2.0));
    }
}

#[test]
fn loopback_addresses_are_one_machine() {
    let mut record = with_flow(&[]);
    let hosts = &mut record.manifest.hosts;
    hosts.push(host("hosta", "in-process"));
    hosts.push(host("hostb", "127.0.0.1"));
    hosts.push(host("hostc", "192.0.2.7"));
    assert_eq!(
        view::machine::neighbours(&record, "hostb"),
        ["hosta", "hostb"]
    );
    assert_eq!(view::machine::neighbours(&record, "hostc"), ["hostc"]);
    assert_eq!(view::machine::cores(&record, "hostc"), None);
    for core in ["all", "0", "1"] {
        let labels = [("core", core), ("state", "idle")];
        add_series(&mut record, "hostc", "host.cpu_ratio", &labels, 1.0, 1.0);
    }
    assert_eq!(view::machine::cores(&record, "hostc"), Some(2.0));
}

#[test]
fn a_late_schedule_of_a_crowded_machine_is_one_finding() {
    let mut record = empty();
    crowded(&mut record);
    let paced = [("asked_packets_per_second", 1e5), ("late_ratio", 0.7)];
    record.manifest.phases.push(mesh(&paced));
    none(&record, "generator_limited");
    let finding = one(&record, "host_busy");
    assert_eq!(finding.says.key, "rule-host-busy-and-says");
    has_metric(&finding, "datagram.late_ratio");
    has_metric(&finding, "datagram.receiver_wait_ratio");
}

#[test]
fn a_shortfall_of_a_busy_host_keeps_its_severity() {
    let mut changes = losing(5e4, &[("lost_on_path_packets", 5e4)]);
    changes.extend([
        ("asked_packets_per_second", 2e5),
        ("sender_wait_ratio", 0.5),
    ]);
    let finding = one(&with_flow(&changes), "host_busy");
    assert_eq!(finding.severity, Severity::Bad);
    none(&with_flow(&changes), "generator_limited");
}

#[test]
fn a_late_sender_with_cpu_to_spare_is_not_excused() {
    let changes = [
        ("asked_packets_per_second", 1e5),
        ("late_ratio", 0.7),
        ("receiver_wait_ratio", 0.5),
    ];
    let record = with_flow(&changes);
    one(&record, "generator_limited");
    assert_eq!(
        one(&record, "host_busy").says.key,
        "rule-host-busy-receiver-says"
    );
}

#[test]
fn no_thread_waits_for_more_than_all_the_time() {
    let mut record = with_flow(&[("sender_wait_ratio", 1.5)]);
    let share = Arg::Number(1.0, sokudo_model::Unit::Ratio);
    assert_eq!(one(&record, "host_busy").says.args["share"], share);
    // Threads of one name are one series: seconds per second, all together.
    let metrics = &mut record.manifest.phases[0].result.flows[0].metrics;
    metrics.retain(|name, _| !name.ends_with("_wait_ratio"));
    let thread = [("thread", "dgram-rx-0")];
    add_series(&mut record, "hosta", "self.wait_ratio", &thread, 0.0, 1.5);
    let finding = one(&record, "host_busy");
    assert_eq!(finding.says.key, "rule-host-busy-self-says");
    assert_eq!(
        finding.says.args["seconds"],
        Arg::Number(1.5, sokudo_model::Unit::Seconds)
    );
}
