//! Searches: what their trials prove, and what the answer is.

use super::*;

/// A trial of a search for less than 0.1 % loss: sent at `rate`, losing `missing` of a million at
/// the receiving socket.
fn trial(role: &str, number: u32, rate: f64, missing: f64) -> PhaseRecord {
    let changes = losing(
        missing,
        &[
            ("lost_at_receiver_socket_packets", missing),
            ("asked_packets_per_second", rate),
            ("sent_packets_per_second", rate),
        ],
    );
    let mut trial = phase(&format!("search-{number}"), vec![flow(&changes)]);
    for (name, value) in [("role", role), ("bounds", "loss<0.1%")] {
        trial.labels.insert(name.into(), value.into());
    }
    trial
}

/// Failed at 900 k/s and 300 k/s, held at 100 k/s, which was confirmed.
fn searched() -> Record {
    let mut record = empty();
    record.manifest.phases = vec![
        trial("probe", 1, 9e5, 3e5),
        trial("probe", 2, 3e5, 5e4),
        trial("probe", 3, 1e5, 0.0),
        trial("confirm", 4, 1e5, 0.0),
    ];
    let best = [
        ("bytes_per_second", 1.468e8),
        ("packets_per_second", 1e5),
        ("loss_ratio", 0.0),
    ];
    for (name, value) in best {
        let name = format!("datagram.best_rate_{name}");
        record.manifest.summary.insert(name, value);
    }
    record
}

fn inner<'a>(text: &'a Text, name: &str) -> &'a Text {
    match &text.args[name] {
        Arg::Text(inner) => inner,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_answer_tells_the_rate_its_loss_and_what_happens_above() {
    let verdict = verdict(&searched());
    assert_eq!(
        keys(&verdict),
        ["verdict-best-above", "remedy-receiver-buffer"]
    );
    let loss = inner(&verdict[0], "loss");
    assert_eq!(loss.key, "loss-none");
    assert_eq!(
        loss.args["sent"],
        Arg::Number(1e6, sokudo_model::Unit::Packets)
    );
    let above = inner(&verdict[0], "above");
    assert_eq!(above.key, "search-above-receiver-buffer");
    let rate = Arg::Number(3e5, sokudo_model::Unit::PacketsPerSecond);
    assert_eq!(above.args["rate"], rate, "the slowest rate that failed");
    assert_eq!(inner(above, "part").key, "part-all");
}

#[test]
fn next_to_no_loss_is_told_by_its_count() {
    let mut record = searched();
    record.manifest.phases[3] = trial("confirm", 4, 1e5, 400.0);
    let loss = inner(&verdict(&record)[0], "loss").clone();
    assert_eq!(loss.key, "loss-next-to-none");
    record.manifest.phases[3] = trial("confirm", 4, 1e5, 900.0);
    assert_eq!(inner(&verdict(&record)[0], "loss").key, "loss-some");
}

#[test]
fn a_sender_that_cannot_offer_more_is_the_limit_of_a_search() {
    let mut record = searched();
    record.manifest.phases.drain(..2);
    let metrics = &mut record.manifest.phases[1].result.flows[0].metrics;
    metrics.remove("datagram.asked_packets_per_second");
    metrics.insert("datagram.sender_cpu_ratio".into(), 0.99);
    let says = keys(&verdict(&record))
        .into_iter()
        .map(str::to_owned)
        .collect::<Vec<_>>();
    assert_eq!(
        says,
        ["verdict-best-sender", "rule-generator-limited-busy-next"]
    );
}

#[test]
fn a_search_that_never_failed_leaves_open_what_is_above() {
    let mut record = searched();
    record.manifest.phases.drain(..2);
    assert_eq!(
        keys(&verdict(&record)),
        ["verdict-best", "verdict-best-next"]
    );
}

#[test]
fn a_confirmation_that_was_not_on_time_casts_doubt() {
    let mut record = searched();
    let metrics = &mut record.manifest.phases[3].result.flows[0].metrics;
    metrics.insert("datagram.late_ratio".into(), 0.2);
    let finding = one(&record, "generator_limited");
    assert_eq!(
        (finding.severity, finding.phase.as_str()),
        (Severity::Caution, "search-4")
    );
    let verdict = verdict(&record);
    assert_eq!(keys(&verdict)[1], "verdict-disturbed");
    let why = inner(&verdict[1], "why");
    assert_eq!(why.key, "rule-generator-limited-late-says");
}

#[test]
fn trials_alone_give_one_finding_about_the_limit() {
    let mut record = searched();
    let metrics = &mut record.manifest.phases[0].result.flows[0].metrics;
    metrics.insert("datagram.late_ratio".into(), 0.6);
    metrics.insert("datagram.sender_wait_ratio".into(), 0.2);
    let all = findings(&record);
    assert_eq!(all.len(), 1, "{all:?}");
    let finding = one(&record, "receiver_buffer_overflow");
    assert_eq!(finding.says.key, "search-limit-says");
    assert_eq!(
        (finding.severity, finding.phase.as_str()),
        (Severity::Info, "search-2")
    );
    let last = finding.evidence.last().unwrap();
    assert_eq!(last.says.key, "evidence-also-trials");
    let one = Arg::Number(1.0, sokudo_model::Unit::One);
    assert_eq!(last.says.args["trials"], one);
}

#[test]
fn trials_support_what_a_measured_phase_shows() {
    let mut record = searched();
    let lossy = losing(5e4, &[("lost_at_receiver_socket_packets", 5e4)]);
    let p2p = phase("p2p", vec![flow(&lossy)]);
    record.manifest.phases.push(p2p);
    let finding = one(&record, "receiver_buffer_overflow");
    assert_eq!(finding.phase, "p2p");
    assert_eq!(finding.says.key, "rule-receiver-buffer-overflow-says");
    let last = finding.evidence.last().unwrap();
    assert_eq!(last.says.key, "evidence-also-trials");
    assert_eq!(
        remedy_keys(&finding),
        ("next-unpaced-searched", "remedy-receiver-buffer"),
        "the rate that holds is known"
    );
    assert_eq!(
        keys(&verdict(&record))[0],
        "verdict-best-above",
        "the answer of a search comes before other phases"
    );
}

#[test]
fn a_search_without_an_answer_says_that_no_rate_held() {
    let mut record = searched();
    record.manifest.summary.clear();
    record.manifest.phases.truncate(2);
    let finding = one(&record, "receiver_buffer_overflow");
    assert_eq!(finding.says.key, "search-none-says");
    assert_eq!(finding.phase, "search-2");
}

#[test]
fn damage_in_a_trial_is_no_expected_loss() {
    let mut record = searched();
    let metrics = &mut record.manifest.phases[0].result.flows[0].metrics;
    metrics.insert("datagram.corrupted_packets".into(), 1.0);
    assert_eq!(one(&record, "corruption").severity, Severity::Bad);
}

fn loss_checks(record: &Record) -> Vec<(bool, String)> {
    let checks = checks(record).into_iter().filter(|c| c.name == "loss");
    checks
        .map(|check| {
            check_text(&check.says);
            (check.passed, check.says.key)
        })
        .collect()
}

#[test]
fn the_bound_of_a_phase_is_checked_where_it_is_the_answer() {
    let mut record = searched();
    assert_eq!(loss_checks(&record), [(true, "check-loss-held".into())]);
    record.manifest.phases[3] = trial("confirm", 4, 1e5, 2e3);
    assert_eq!(loss_checks(&record), [(false, "check-loss-failed".into())]);
    let again = trial("confirm", 5, 9e4, 0.0);
    record.manifest.phases.push(again);
    assert_eq!(
        loss_checks(&record),
        [(true, "check-loss-held".into())],
        "the last confirmation is the answer"
    );
    assert_ne!(keys(&verdict(&record))[0], "verdict-distrust");
}

#[test]
fn a_bound_that_is_none_is_not_checked() {
    for bound in ["", "x", "-1", "200%", "NaN", "inf"] {
        let mut record = with_flow(&losing(5e4, &[]));
        let labels = &mut record.manifest.phases[0].labels;
        labels.insert("bounds".into(), format!("loss<{bound}"));
        assert_eq!(loss_checks(&record), [], "{bound}");
    }
}

#[test]
fn loss_within_the_bound_is_no_fault() {
    let lossy = losing(
        2e4,
        &[
            ("lost_at_receiver_socket_packets", 2e4),
            ("asked_packets_per_second", 1e5),
        ],
    );
    let mut record = with_flow(&lossy);
    let rule = "receiver_buffer_overflow";
    assert_eq!(one(&record, rule).severity, Severity::Bad);
    let labels = &mut record.manifest.phases[0].labels;
    labels.insert("bounds".into(), "loss<5%".into());
    assert_eq!(one(&record, rule).severity, Severity::Info);
}
