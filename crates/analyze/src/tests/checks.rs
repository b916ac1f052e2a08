//! Tests of the consistency checks of a run.

use super::*;

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
