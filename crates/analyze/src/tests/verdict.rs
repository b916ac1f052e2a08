//! Tests of the first sentences about a run.

use sokudo_model::kinds::sql;
use sokudo_model::metric::Stat;
use sokudo_model::{Arg, Unit};

use super::scene::Scene;
use super::*;
use crate::view::word;

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

/// Advice of a command that has options of its own says whose options it names.
#[test]
fn options_of_another_command_are_called_so() {
    let mut record = with_flow(&losing(5e4, &[("lost_at_receiver_socket_packets", 5e4)]));
    let last = |record: &Record| verdict(record).pop().expect("advice");
    for (command, wrapped) in [("check", true), ("rrul", true), ("run", false)] {
        record.manifest.workload = command.into();
        let advice = last(&record);
        check_text(&advice);
        assert_eq!(advice.key == "advice-of-command", wrapped, "{command}");
        assert_eq!(word(&advice, "command"), wrapped.then_some("datagram"));
        let told = format!("{advice:?}").matches("advice-of-command").count();
        assert_eq!(told, usize::from(wrapped), "{command}: {advice:?}");
        let found = diagnose(&record, &record.manifest.phases[0]);
        let named = found.iter().filter_map(|finding| finding.next.as_ref());
        for next in named.filter(|next| next.key == "next-unpaced") {
            assert!(!wrapped, "{command}: {next:?}");
        }
    }
}

#[test]
fn a_load_that_was_carried_is_limited_by_what_was_asked() {
    let record = with_flow(&[("asked_packets_per_second", 1e5)]);
    let told = [
        "verdict-paced",
        "rule-application-asked-says",
        "rule-application-asked-next",
    ];
    assert_eq!(keys(&verdict(&record)), told);
    // The same rate while anything went, and half of what was due until the end.
    let stopped = losing(0.0, &[("asked_packets_per_second", 2e5)]);
    let record = with_flow(&stopped);
    none(&record, "application_limited");
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
fn a_flow_that_ended_early_says_why_first() {
    for label in ["error", "sender_error", "receiver_error"] {
        let mut record = with_flow(&[]);
        record.manifest.status = RunStatus::Partial;
        let flow = &mut record.manifest.phases[0].result.flows[0];
        flow.complete = false;
        let error = "sending failed: Operation not permitted (os error 1)";
        flow.labels.insert(label.into(), error.into());
        let says = verdict(&record);
        assert_eq!(keys(&says)[0], "verdict-broken-flow", "{label}");
        assert_eq!(
            says[0].args["error"],
            Arg::Text(Box::new(Text::recorded(error)))
        );
    }
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

/// A workload of no kind is left open; its numbers are not read as those of another workload.
#[test]
fn a_workload_that_is_not_known_is_told_as_no_other() {
    for source in ["rr", "crr", "http", "stream", "bus", "probe"] {
        let rates = [
            "transactions_per_second",
            "connections_per_second",
            "requests_per_second",
            "messages_per_second",
            "goodput_bits_per_second",
            "sent_packets",
        ];
        let scene = rates
            .into_iter()
            .fold(scene::Scene::of(source), |scene, what| {
                scene.total(what, 1e5)
            });
        let mut record = scene.record;
        record.manifest.phases[0].workload = "imaginary".into();
        assert_eq!(keys(&verdict(&record)), ["verdict-nothing"], "{source}");
        assert_eq!(findings(&record), Vec::new(), "{source}");
    }
}

/// People run a workload for its own numbers: they come first.
#[test]
fn a_workloads_own_numbers_lead_its_sentence() {
    let sentence = |own: &[(&str, f64)]| {
        let mut record = Scene::of("dbt3").record;
        let summary = &mut record.manifest.phases[0].result.summary;
        let common = [
            (sql::TRANSACTIONS_PER_SECOND.name.to_owned(), 0.8),
            (sql::LATENCY_SECONDS.stat(Stat::P50), 1.0),
            (sql::LATENCY_SECONDS.stat(Stat::P99), 2.0),
            (sql::LATENCY_SECONDS.stat(Stat::Max), 2.0),
        ];
        summary.extend(common);
        summary.extend(own.iter().map(|(name, value)| ((*name).to_owned(), *value)));
        let first = verdict(&record).swap_remove(0);
        check_text(&first);
        first
    };
    let own = [("dbt3.composite", 275.16), ("dbt3.power", 336.99)];
    let told = sentence(&own);
    assert_eq!(told.key, "verdict-own-first");
    let Some(Arg::Text(both)) = told.args.get("own") else {
        panic!("{told:?}")
    };
    assert_eq!(both.key, "verdict-own-and");
    let value = |which: &str| match both.args.get(which) {
        Some(Arg::Text(own)) => own.args.get("value").cloned(),
        other => panic!("{other:?}"),
    };
    assert_eq!(value("before"), Some(Arg::Number(275.16, Unit::One)));
    assert_eq!(value("own"), Some(Arg::Number(336.99, Unit::One)));
    assert_eq!(sentence(&[]).key, "verdict-rr-closed");
}
