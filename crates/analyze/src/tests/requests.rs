//! Requests that failed, and requests that took long, with a known cause.

use sokudo_model::{HistogramInterval, Unit};
use sokudo_stats::Histogram;

use super::*;

/// Name, metrics, service times (median, 99th percentile, longest) and longest connect in seconds.
pub(crate) type Label<'a> = (&'a str, &'a [(&'a str, f64)], [f64; 3], f64);

/// A phase of a test plan with these labels.
pub(crate) fn of_labels(labels: &[Label<'_>]) -> Record {
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

/// A phase of queries to a name server with these numbers.
pub(crate) fn of_queries(metrics: &[(&str, f64)]) -> Record {
    let metrics = metrics.iter();
    let flow = FlowResult {
        from: "hosta".into(),
        to: "192.0.2.53".into(),
        metrics: metrics
            .map(|(name, value)| (format!("dns.{name}"), *value))
            .collect(),
        complete: true,
        ..FlowResult::default()
    };
    let mut record = empty();
    let mut one = phase("measure", vec![flow]);
    one.workload = "dns".into();
    record.manifest.workload = "dns".into();
    record.manifest.phases.push(one);
    record
}

/// Requests on a web server for 10 s: mean time in the stages resolve to read in seconds, and other totals.
pub(crate) fn of_stages(stages: [f64; 6], totals: &[(&str, f64)]) -> Record {
    let mut record = of_labels(&[("hostb:80", &[("client_cpu_ratio", 0.1)], EVEN, 0.003)]);
    let phase = &mut record.manifest.phases[0];
    phase.workload = "http".into();
    phase.t1_ns = phase.t0_ns + 10 * SECOND;
    let names = ["resolve", "connect", "tls", "send", "wait", "read"];
    let means = names.iter().zip(stages);
    let means = means.map(|(name, mean)| (format!("http.mean_{name}_seconds"), mean));
    let usual = [
        ("mean_queue_seconds", 0.0),
        ("requests", 1_000.0),
        ("requests_per_second", 100.0),
    ];
    let others = usual.iter().chain(totals);
    let others = others.map(|(name, value)| (format!("http.{name}"), *value));
    phase.result.summary = means.chain(others).collect();
    record.manifest.workload = "http".into();
    record
}

/// Lets a counter of the asking host grow by so much within the phase.
pub(crate) fn grow(record: &mut Record, metric: &str, by: f64) {
    let (t0_ns, t1_ns) = (
        record.manifest.phases[0].t0_ns,
        record.manifest.phases[0].t1_ns,
    );
    record.series.push(Series {
        key: SeriesKey {
            host: "hosta".into(),
            source: "host".into(),
            metric: metric.into(),
            labels: Labels::new(),
        },
        points: vec![(t0_ns, 0.0), (t1_ns, by)],
    });
}

/// Lets so many of the requests have taken so long, seconds.
pub(crate) fn took(record: &mut Record, times: &[(u64, f64)]) {
    let mut all = Histogram::new();
    for (n, seconds) in times {
        all.record_n((seconds * 1e9) as u64, *n);
    }
    let phase = &record.manifest.phases[0];
    record.histograms.push(HistogramInterval {
        key: SeriesKey {
            host: "hosta".into(),
            source: "http".into(),
            metric: "http.service_seconds".into(),
            labels: Labels::new(),
        },
        t0_ns: phase.t0_ns,
        t1_ns: phase.t1_ns,
        hdr_v2: all.to_v2(),
    });
}

pub(crate) const EVEN: [f64; 3] = [0.010, 0.020, 0.030];

#[track_caller]
pub(crate) fn check(record: &Record, rule: &str, key: &str) {
    let findings = findings(record);
    let found = findings.iter().find(|finding| finding.rule == rule);
    let keys: Vec<_> = findings.iter().map(|f| f.says.key.as_str()).collect();
    let found = found.unwrap_or_else(|| panic!("no {rule} among {keys:?}"));
    assert_eq!(found.says.key, key);
    check_texts(found);
}

pub(crate) fn is_quiet(record: &Record, rule: &str) -> bool {
    findings(record).iter().all(|finding| finding.rule != rule)
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
    let found = findings(&record);
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

#[test]
fn who_was_answered_wrongly_is_not_called_unanswered() {
    for (lost, bad, key, ratio) in [
        (0.0, 0.0, "verdict-judged", 0.2),
        (0.0, 10.0, "verdict-bad-status", 0.2),
        (10.0, 10.0, "verdict-errors-and-bad-status", 0.2),
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
        // It comes first, with the flows that it is about.
        assert_eq!(said[0].key, "verdict-failing");
        let Some(Arg::Text(failure)) = said[0].args.get("failure") else {
            panic!("{said:?}");
        };
        let told = Some(failure).filter(|text| text.key == key);
        let told = told.unwrap_or_else(|| panic!("no {key} in {said:?}"));
        assert_eq!(told.args["ratio"], Arg::Number(ratio, Unit::Ratio));
    }
}
