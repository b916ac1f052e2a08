//! Weighing of causes against each other and against contradicting evidence.

use super::scene::*;
use super::*;

fn explained(scene: &Scene) -> Explanation<'_> {
    explain(&scene.record).expect("something was measured")
}

fn rules_of(findings: &[Finding]) -> Vec<&str> {
    findings
        .iter()
        .map(|finding| finding.rule.as_str())
        .collect()
}

#[test]
fn two_causes_of_about_the_same_weight_are_both_named() {
    let tcp = Tcp {
        receive_window: 0.5,
        send_buffer: 0.45,
        ..SENDING
    };
    let scene = between().tcp(tcp).metric("goodput_bits_per_second", 3e7);
    let told = explained(&scene);
    let named = ["receive_window_limited", "send_buffer_limited"];
    assert_eq!(rules_of(&told.causes.named), named);
    assert_eq!(keys(&verdict(&scene.record))[1], "verdict-beside");
    let suspects = told.suspects(&told.causes.named[0]);
    assert_eq!(suspects, [Suspect::raise("rcvbuf")]);
}

#[test]
fn one_kind_of_observation_is_a_suspicion() {
    let lost = losing(1e4, &[("lost_on_path_packets", 1e4)]);
    let record = with_flow(&lost);
    assert_eq!(limit(&record), None);
    assert_eq!(keys(&verdict(&record))[1], "verdict-suspected");
    let told = explain(&record).expect("something was measured");
    assert_eq!(rules_of(&told.causes.suspected), ["path_loss"]);
}

#[test]
fn what_neighbours_took_from_threads_that_hardly_ran_explains_nothing() {
    let waiting = |cpu, ready| {
        Scene::of("stream")
            .sender([cpu, ready, 0.1])
            .receiver([0.02, 0.01, 0.9])
            .metric("goodput_bits_per_second", 3e7)
            .machine("hosta", 1.9, 0.8, 0.2)
    };
    // It would have run for less than half of the time.
    let scene = waiting(0.05, 0.2);
    scene.without("neighbour_interference").without("host_busy");
    let told = explained(&scene);
    let refuted = rules_of(&told.causes.refuted);
    assert!(refuted.contains(&"neighbour_interference"), "{refuted:?}");
    assert!(
        told.causes
            .refuted
            .iter()
            .all(|one| !one.against.is_empty())
    );
    waiting(0.5, 0.45).limited_by("neighbour_interference");
}

#[test]
fn a_thread_with_time_to_spare_is_not_the_limit() {
    let changes = [
        ("asked_packets_per_second", 2e5),
        ("sender_cpu_ratio", 0.06),
    ];
    let record = with_flow(&changes);
    assert_eq!(limit(&record), None);
    let short = one(&record, "generator_limited");
    assert_eq!(short.against.len(), 1, "what contradicts it is shown");
}

#[test]
fn a_load_that_stopped_half_way_was_not_carried() {
    let asked = |bytes| {
        Scene::of("stream")
            .sender([0.05, 0.0, 0.0])
            .receiver([0.05, 0.0, 0.9])
            .metric("asked_bits_per_second", 1e8)
            .metric("goodput_bits_per_second", 1e8)
            .metric("received_bytes", bytes)
    };
    let carried = asked(1.25e8);
    carried.limited_by("application_limited");
    // The rate while anything went is the same.
    let stopped = asked(0.6e8);
    let limit = explained(&stopped)
        .limit()
        .map(|limit| limit.says.key.clone());
    assert_ne!(limit.as_deref(), Some("rule-application-asked-says"));
}

#[test]
fn a_specific_cause_precedes_what_holds_beside_any() {
    let lost = [
        ("asked_packets_per_second", 1e5),
        ("lost_at_sender_packets", 3e5),
        ("refused_sends", 3e5),
    ];
    let mut record = with_flow(&lost);
    let errors = "host.udp_send_buffer_errors";
    add_series(&mut record, "hosta", errors, &[], 0.0, 3e5);
    let told = explain(&record).expect("something was measured");
    let named = ["sender_refusal", "application_limited"];
    assert_eq!(rules_of(&told.causes.named)[0], named[0]);
    assert_eq!(of_rule(&record, named[1]).len(), 1);
}

#[test]
fn segments_that_the_peer_had_were_not_lost() {
    let tcp = Tcp {
        lost: 0.01,
        ..SENDING
    };
    let mut scene = between().tcp(tcp);
    scene.limited_by("loss_limited");
    // Of 100 segments in each second that were sent again, 90 had arrived.
    scene.series("hosta", "tcp.needless_segments", |s| 90.0 * s);
    scene.without("loss_limited");
    scene.limited_by("reordering");
}
