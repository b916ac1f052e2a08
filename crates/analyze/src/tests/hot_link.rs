//! Flows that stay behind the others.

use super::*;

/// Flows with what each carries, bits per second.
fn carrying(flows: &[(&str, &str, f64)]) -> Record {
    let mut record = empty();
    let each = flows.iter().map(|(from, to, bits)| FlowResult {
        from: (*from).into(),
        to: (*to).into(),
        metrics: [
            ("stream.received_bytes".to_owned(), bits / 8.0),
            ("stream.goodput_bits_per_second".to_owned(), *bits),
        ]
        .into(),
        complete: true,
        ..FlowResult::default()
    });
    let mut mesh = phase("mesh", each.collect());
    mesh.workload = "stream".into();
    record.manifest.phases.push(mesh);
    record
}

#[test]
fn slow_flows_to_one_host_meet_there() {
    let fast = 9e8;
    let record = carrying(&[
        ("a", "b", fast),
        ("b", "c", fast),
        ("c", "a", fast),
        ("a", "d", 2e8),
        ("b", "d", 3e8),
    ]);
    let finding = one(&record, "hot_link");
    check_texts(&finding);
    assert_eq!(finding.says.key, "rule-hot_link-incast");
    assert_eq!(crate::view::word(&finding.says, "host"), Some("d"));
}

#[test]
fn flows_that_are_slow_here_and_there_have_nothing_in_common() {
    let fast = 9e8;
    let apart = [
        ("a", "b", 1e8),
        ("c", "d", 1e8),
        ("b", "c", fast),
        ("d", "a", fast),
        ("a", "c", fast),
    ];
    none(&carrying(&apart), "hot_link");
    none(
        &carrying(&[("a", "b", 1e8), ("c", "b", 1e8), ("b", "c", fast)]),
        "hot_link",
    );
}
