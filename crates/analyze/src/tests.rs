//! Made-up records with a known cause, and what is concluded from them.

use std::collections::{BTreeMap, BTreeSet};

pub(crate) use sokudo_model::{
    Arg, Environment, Fact, Finding, FlowResult, HistogramSummary, HostEntry, Labels, Manifest,
    PhaseRecord, PhaseResult, Problem, Record, RunId, RunStatus, Series, SeriesKey, Severity, Text,
};

pub(crate) use super::*;

mod bottlenecks;
mod causes;
mod checks;
mod layers;
pub(crate) mod requests;
pub(crate) mod scene;
mod search;
mod together;
pub(crate) mod transactions;
mod verdict;

pub(crate) const SECOND: i64 = 1_000_000_000;

/// Environment of a host with two usable cores.
pub(crate) fn of_two_cores(host: &str) -> Environment {
    let usable = Fact {
        section: "hardware".into(),
        name: "cpu threads usable".into(),
        value: Some("2".into()),
        unit: None,
        source: "affinity".into(),
    };
    Environment {
        host: host.into(),
        facts: vec![usable],
    }
}

/// A record of workload `datagram` without phases.
pub(crate) fn empty() -> Record {
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
pub(crate) fn flow(changes: &[(&str, f64)]) -> FlowResult {
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
pub(crate) fn losing(missing: f64, more: &[(&'static str, f64)]) -> Vec<(&'static str, f64)> {
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

pub(crate) fn phase(name: &str, flows: Vec<FlowResult>) -> PhaseRecord {
    let result = PhaseResult {
        flows,
        ..PhaseResult::default()
    };
    PhaseRecord::plain(name, "datagram", (10 * SECOND, 20 * SECOND), result)
}

pub(crate) fn with_flow(changes: &[(&str, f64)]) -> Record {
    let mut record = empty();
    record
        .manifest
        .phases
        .push(phase("p2p", vec![flow(changes)]));
    record
}

/// Adds a series of one value per second from 5 s to 25 s, `before` outside the phase and
/// `inside` within it.
pub(crate) fn add_series(
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
pub(crate) fn of_rule(record: &Record, rule: &str) -> Vec<Finding> {
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

pub(crate) fn check_texts(finding: &Finding) {
    check_text(&finding.says);
    finding.next.iter().for_each(check_text);
    finding.evidence.iter().for_each(|e| check_text(&e.says));
}

/// Key → variables of the messages of one language. What is indented belongs to the message before it.
fn messages(source: &str) -> BTreeMap<String, BTreeSet<String>> {
    let mut messages: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut key = String::new();
    for line in source.lines().filter(|line| !line.starts_with('#')) {
        if let (false, Some((begins, _))) = (line.starts_with(' '), line.split_once(" =")) {
            key = begins.to_owned();
        }
        let names = line.split("{ $").skip(1);
        let names = names.filter_map(|rest| rest.split(' ').next().map(str::to_owned));
        messages.entry(key.clone()).or_default().extend(names);
    }
    messages
}

pub(crate) const LANGUAGES: [&str; 2] = [
    include_str!("../../../locales/en/analyze.ftl"),
    include_str!("../../../locales/ja/analyze.ftl"),
];

/// Both languages have the message, and the text has every value that it needs, each of them known.
pub(crate) fn check_text(text: &Text) {
    for source in LANGUAGES {
        let messages = messages(source);
        let names = messages
            .get(&text.key)
            .unwrap_or_else(|| panic!("no message `{}`", text.key));
        for name in names {
            let value = text.args.get(name);
            let value = value.unwrap_or_else(|| panic!("`{}` lacks `{name}`", text.key));
            // A number that is not known shows as a dash with a unit.
            if let Arg::Number(number, _) = value {
                assert!(number.is_finite(), "`{name}` of {text:?}");
            }
        }
    }
    for value in text.args.values() {
        match value {
            // Messages of other files, which are tested there.
            Arg::Text(inner)
                if inner.key.starts_with("engine-") || inner.key.starts_with("report-metric-") => {}
            Arg::Text(inner) if inner.as_recorded().is_some() => {}
            Arg::Text(inner) => check_text(inner),
            // Sentences for several cases have numbers of which each names some.
            Arg::Number(..) | Arg::Word(_) => {}
        }
    }
}

/// The text of a rule is a sentence of its own: others follow it in verdicts.
#[test]
fn what_rules_say_ends_as_a_sentence() {
    for source in LANGUAGES {
        let mut lines = source.lines().peekable();
        while let Some(line) = lines.next() {
            let Some((key, _)) = line.split_once(" =") else {
                continue;
            };
            if !key.starts_with("rule-") || !key.ends_with("-says") {
                continue;
            }
            let mut last = line;
            while let Some(more) = lines.next_if(|next| next.starts_with(' ')) {
                last = more;
            }
            // Sentences within a message, or in each variant of one.
            let is_made_of_others = key == "rule-host-busy-and-says" || last.trim() == "}";
            let ends = last.trim_end().ends_with(['.', '。', ':']);
            assert!(ends || is_made_of_others, "`{key}`: {last}");
        }
    }
}

/// The keys of what a finding suggests, and of the remedy inside it.
pub(crate) fn remedy_keys(finding: &Finding) -> (&str, &str) {
    let next = finding.next.as_ref().unwrap();
    match &next.args["remedy"] {
        Arg::Text(remedy) => (&next.key, &remedy.key),
        other => panic!("{other:?}"),
    }
}

pub(crate) fn one(record: &Record, rule: &str) -> Finding {
    let mut found = of_rule(record, rule);
    assert_eq!(found.len(), 1, "{rule}: {:?}", findings(record));
    found.remove(0)
}

pub(crate) fn none(record: &Record, rule: &str) {
    assert_eq!(of_rule(record, rule), Vec::new());
}

pub(crate) fn metrics(finding: &Finding) -> Vec<&str> {
    finding
        .evidence
        .iter()
        .filter_map(|e| e.metric.as_deref())
        .collect()
}

pub(crate) fn has_metric(finding: &Finding, metric: &str) {
    assert!(
        metrics(finding).contains(&metric),
        "{metric} is not in {:?}",
        metrics(finding)
    );
}

pub(crate) fn keys(texts: &[Text]) -> Vec<&str> {
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
        let all: Vec<(&str, f64)> = sokudo_model::metric::catalogue()
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
    let names: Vec<&str> = REGISTRY.iter().map(|rule| rule.name).collect();
    assert!(names.is_sorted(), "{names:?}");
}

#[test]
fn every_rule_says_what_it_means_its_signs_and_what_to_try() {
    for rule in REGISTRY {
        let parts = [rule.means(), rule.signs(), rule.remedy()];
        parts.iter().for_each(check_text);
        let told: BTreeSet<String> = LANGUAGES
            .into_iter()
            .map(messages)
            .flat_map(|known| parts.each_ref().map(|part| known[&part.key].clone()))
            .flatten()
            .collect();
        let bounds: BTreeSet<String> = rule.bounds.iter().map(|b| b.0.to_owned()).collect();
        assert_eq!(told, bounds, "{}", rule.name);
    }
}

#[test]
fn every_message_is_used() {
    let mut sources = String::new();
    let mut folders = vec![std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    while let Some(folder) = folders.pop() {
        for file in std::fs::read_dir(folder).unwrap() {
            let path = file.unwrap().path();
            if path.is_dir() && !path.ends_with("tests") {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                sources += &std::fs::read_to_string(path).unwrap();
            }
        }
    }
    let exchanges = sokudo_model::kinds::KINDS
        .iter()
        .filter_map(|kind| match kind.family {
            sokudo_model::kinds::Family::Exchange(exchange) => exchange.bad_answers,
            _ => None,
        });
    let of_kinds: Vec<&str> = exchanges
        .flat_map(|bad| [bad.says, bad.says_with_losses])
        .collect();
    for key in messages(LANGUAGES[0]).keys() {
        let layers = sokudo_model::kinds::KINDS
            .iter()
            .filter_map(|kind| kind.layer)
            .chain([sokudo_model::kinds::http::TARGET_LAYER]);
        let composed = [
            "advice-",
            "against-",
            "check-",
            "finding-",
            "verdict-advice-gap-",
        ]
        .iter()
        .any(|begin| key.starts_with(begin))
            || key.ends_with("-unknown")
            || layers.into_iter().any(|layer| layer.key == key)
            || of_kinds.contains(&key.as_str());
        assert!(
            composed || sources.contains(&format!("\"{key}\"")),
            "`{key}` is never said"
        );
    }
}
