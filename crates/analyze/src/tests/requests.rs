//! Requests that failed, and requests that took long, with a known cause.

use sokudo_model::{Labels, Unit};

use super::*;

/// Name, metrics, service times (median, 99th percentile, longest) and longest connect in seconds.
type Label<'a> = (&'a str, &'a [(&'a str, f64)], [f64; 3], f64);

/// A phase of a test plan with these labels.
fn of_labels(labels: &[Label<'_>]) -> Record {
    let times = |[p50, p99, max]: [f64; 3]| HistogramSummary {
        n: 1_000,
        min: p50 / 2.0,
        mean: p50,
        p50,
        p90: p50,
        p99,
        p999: max,
        max,
    };
    let flows = labels.iter().zip(0..);
    let flows = flows.map(|((name, metrics, service, connect), id)| FlowResult {
        id,
        from: "hosta".into(),
        to: (*name).into(),
        metrics: metrics
            .iter()
            .map(|(name, value)| (format!("http.{name}"), *value))
            .collect(),
        histograms: BTreeMap::from([
            ("http.service_seconds".into(), times(*service)),
            (
                "http.connect_seconds".into(),
                times([0.001, 0.002, *connect]),
            ),
        ]),
        complete: true,
        ..FlowResult::default()
    });
    let mut record = empty();
    let mut one = phase("measure", flows.collect());
    one.workload = "jmx".into();
    record.manifest.workload = "jmx".into();
    record.manifest.phases.push(one);
    record
}

const EVEN: [f64; 3] = [0.010, 0.020, 0.030];

#[track_caller]
fn check(record: &Record, rule: &str, key: &str) {
    let findings = super::findings(record);
    let found = findings.iter().find(|finding| finding.rule == rule);
    let keys: Vec<_> = findings.iter().map(|f| f.says.key.as_str()).collect();
    let found = found.unwrap_or_else(|| panic!("no {rule} among {keys:?}"));
    assert_eq!(found.says.key, key);
}

fn is_quiet(record: &Record, rule: &str) -> bool {
    super::findings(record)
        .iter()
        .all(|finding| finding.rule != rule)
}

#[test]
fn failures_are_told_by_their_kind() {
    for (metric, stage, key) in [
        ("refused", "connect", "refused"),
        ("resets", "wait", "resets"),
        ("closed_early", "wait", "closed"),
        ("timeouts", "connect", "unanswered"),
        ("timeouts", "wait", "timeouts"),
        ("malformed", "read", "malformed"),
    ] {
        let failed = format!("failed_{stage}");
        let metrics = [
            ("requests", 900.0),
            ("errors", 100.0),
            (metric, 95.0),
            (failed.as_str(), 95.0),
        ];
        let record = of_labels(&[("/a", &metrics, EVEN, 0.003)]);
        let key = format!("rule-request-failures-{key}-says");
        check(&record, "request_failures", &key);
    }
    let few = [("requests", 1e6), ("errors", 1.0), ("resets", 1.0)];
    assert!(is_quiet(
        &of_labels(&[("/a", &few, EVEN, 0.003)]),
        "request_failures"
    ));
}

#[test]
fn connections_that_are_made_for_each_request_are_told() {
    let metrics = [("requests", 1_000.0), ("made_connections", 1_000.0)];
    let record = of_labels(&[("/a", &metrics, EVEN, 0.003)]);
    check(&record, "connection_churn", "rule-connection-churn-says");
    let kept = [("requests", 1_000.0), ("made_connections", 10.0)];
    assert!(is_quiet(
        &of_labels(&[("/a", &kept, EVEN, 0.003)]),
        "connection_churn"
    ));
}

#[test]
fn calls_that_were_made_again_show_in_the_longest_connect() {
    let metrics = [("requests", 1_000.0)];
    for longest in [1.01, 3.05, 7.2] {
        let record = of_labels(&[("/a", &metrics, EVEN, longest)]);
        check(&record, "dropped_calls", "rule-dropped-calls-says");
    }
    for longest in [0.5, 2.0, 0.003] {
        let record = of_labels(&[("/a", &metrics, EVEN, longest)]);
        assert!(is_quiet(&record, "dropped_calls"), "{longest}");
    }
}

#[test]
fn what_the_kernels_counted_says_where_calls_were_dropped() {
    let metrics = [("requests", 1_000.0)];
    let told = |counters: &[(&str, &str, f64)]| {
        let mut record = of_labels(&[("/a", &metrics, EVEN, 3.05)]);
        for (host, metric, grown) in counters {
            let key = SeriesKey {
                host: (*host).into(),
                source: "host".into(),
                metric: (*metric).into(),
                labels: Labels::new(),
            };
            let points = vec![
                (record.manifest.phases[0].t0_ns, 5.0),
                (record.manifest.phases[0].t1_ns, 5.0 + grown),
            ];
            record.series.push(Series { key, points });
        }
        let findings = super::findings(&record);
        let found = findings.into_iter().find(|one| one.rule == "dropped_calls");
        let found = found.expect("the longest connect says it");
        (found.says.key, found.weight, found.evidence.len())
    };
    let (again, full) = ("host.tcp_syn_retransmits", "host.tcp_listen_overflows");
    let (time_alone, queue) = ("rule-dropped-calls-says", "rule-dropped-calls-queue-says");
    assert_eq!(told(&[]), (time_alone.into(), 0.6, 1));
    assert_eq!(told(&[("hosta", again, 7.0)]), (time_alone.into(), 0.8, 2));
    assert_eq!(told(&[("hosta", again, 0.0)]), (time_alone.into(), 0.3, 2));
    let both = [
        ("hosta", again, 7.0),
        ("hosta", full, 0.0),
        ("hostb", full, 7.0),
    ];
    assert_eq!(told(&both), (queue.into(), 0.95, 3));
}

#[test]
fn one_slow_label_among_quick_ones_is_told() {
    let metrics: &[(&str, f64)] = &[("requests", 1_000.0)];
    let slow = [0.200, 0.300, 0.400];
    let record = of_labels(&[
        ("/a", metrics, EVEN, 0.003),
        ("/b", metrics, slow, 0.003),
        ("/c", metrics, EVEN, 0.003),
    ]);
    check(&record, "slow_label", "rule-slow-label-says");
    let record = of_labels(&[("/a", metrics, EVEN, 0.003), ("/c", metrics, EVEN, 0.003)]);
    assert!(is_quiet(&record, "slow_label"));
}

#[test]
fn a_stall_that_percentiles_do_not_show_is_told_for_users_who_wait() {
    let stalled = [0.010, 0.020, 2.0];
    let metrics = [("requests", 1_000.0), ("requests_per_second", 100.0)];
    let record = of_labels(&[("/a", &metrics, stalled, 0.003)]);
    check(&record, "hidden_stall", "rule-hidden-stall-says");
    let open = [metrics.as_slice(), &[("asked_per_second", 100.0)]].concat();
    assert!(is_quiet(
        &of_labels(&[("/a", &open, stalled, 0.003)]),
        "hidden_stall"
    ));
}

#[test]
fn a_host_without_local_ports_makes_its_run_invalid() {
    let metrics = [
        ("requests", 900.0),
        ("requests_per_second", 90.0),
        ("errors", 100.0),
        ("ports_exhausted", 100.0),
    ];
    let mut record = of_labels(&[("/a", &metrics, EVEN, 0.003)]);
    let t0_ns = record.manifest.phases[0].t0_ns;
    record.series.push(Series {
        key: SeriesKey {
            host: "hosta".into(),
            source: "host".into(),
            metric: "host.tcp_time_wait_connections".into(),
            labels: Labels::new(),
        },
        points: vec![(t0_ns + 1, 400.0), (t0_ns + 2, 900.0)],
    });
    check(
        &record,
        "generator_limited",
        "rule-generator-limited-ports-says",
    );
    let found = super::findings(&record);
    let evidence: Vec<_> = found[0]
        .evidence
        .iter()
        .map(|row| row.says.key.as_str())
        .collect();
    assert_eq!(evidence, ["evidence-ports-exhausted", "evidence-time-wait"]);
    let failed: Vec<_> = checks(&record).into_iter().filter(|c| !c.passed).collect();
    let failed: Vec<_> = failed.iter().map(|c| c.name.as_str()).collect();
    assert!(failed.contains(&"generator"), "{failed:?}");
    assert_eq!(verdict(&record)[0].key, "verdict-distrust");
}

#[test]
fn an_open_loop_must_leave_on_time_and_a_closed_one_has_no_time() {
    let metrics = |late: f64| {
        [
            ("requests", 900.0),
            ("requests_per_second", 90.0),
            ("asked_per_second", 90.0),
            ("late_ratio", late),
        ]
    };
    let generator = |metrics: &[(&str, f64)]| {
        let mut record = of_labels(&[("/a", metrics, EVEN, 0.003)]);
        let of_phase = metrics.iter();
        record.manifest.phases[0].result.summary = of_phase
            .map(|(name, value)| (format!("http.{name}"), *value))
            .collect();
        let check = checks(&record).into_iter().find(|c| c.name == "generator");
        check.map(|check| check.passed)
    };
    let mut of_phase = metrics(0.02);
    assert_eq!(generator(&of_phase), Some(true));
    of_phase = metrics(0.3);
    assert_eq!(generator(&of_phase), Some(false));
    assert_eq!(generator(&of_phase[..2]), None);
}

/// A phase of ten seconds in whose every second so many requests failed.
fn failing(each_second: [f64; 10]) -> Record {
    let mut record = of_labels(&[("/a", &[("requests", 1_000.0)], EVEN, 0.003)]);
    let phase = &mut record.manifest.phases[0];
    phase.t1_ns = phase.t0_ns + 10 * SECOND;
    let t0_ns = phase.t0_ns;
    let points = each_second.iter().zip(1..);
    record.series.push(Series {
        key: SeriesKey {
            host: "hosta".into(),
            source: "jmx".into(),
            metric: "http.failed_per_second".into(),
            labels: Labels::from([("flow".into(), "/a".into())]),
        },
        points: points.map(|(n, s)| (t0_ns + s * SECOND, *n)).collect(),
    });
    record
}

#[test]
fn failures_that_stand_together_are_told_from_those_that_are_spread() {
    let burst = failing([0.0, 0.0, 0.0, 1.0, 90.0, 70.0, 2.0, 0.0, 0.0, 0.0]);
    check(&burst, "error_burst", "rule-error-burst-says");
    let finding = one(&burst, "error_burst");
    let number = |name: &str| match finding.says.args.get(name) {
        Some(Arg::Number(value, _)) => *value,
        other => panic!("{other:?}"),
    };
    assert_eq!((number("begin"), number("length")), (4.0, 2.0));
    assert!(is_quiet(&failing([20.0; 10]), "error_burst"));
    let few = [0.0, 0.0, 0.0, 0.0, 9.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    assert!(is_quiet(&failing(few), "error_burst"));
}

#[test]
fn who_was_answered_wrongly_is_not_called_unanswered() {
    for (lost, bad, key, ratio) in [
        (0.0, 0.0, "verdict-http-judged", 0.2),
        (0.0, 10.0, "verdict-http-bad-statuses", 0.2),
        (10.0, 10.0, "verdict-http-errors", 0.2),
        // Ten of a hundred; as many again were judged to be wrong.
        (10.0, 0.0, "verdict-exchange-errors", 0.1),
    ] {
        let mut record = of_labels(&[("/a", &[], EVEN, 0.003)]);
        let numbers = [
            ("http.requests", 100.0 - lost),
            ("http.requests_per_second", 100.0),
            ("http.errors", lost),
            ("http.status_5xx", bad),
            ("http.error_ratio", 0.2),
        ];
        let summary = numbers.map(|(name, value)| (name.to_owned(), value));
        record.manifest.phases[0].result.summary = summary.into();
        let said = verdict(&record);
        let told = said.iter().find(|text| text.key == key);
        let told = told.unwrap_or_else(|| panic!("no {key} in {said:?}"));
        assert_eq!(told.args["ratio"], Arg::Number(ratio, Unit::Ratio));
    }
}
