//! What do the numbers of a plan's load say together?

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};
use sokudo_http::LoopAudit;
use sokudo_model::{FlowResult, Labels, PhaseResult, PhaseSpec, Spent, Summary};
use sokudo_stats::Histogram;
use sokudo_workload::contract::HostResult;
use sokudo_workload::histogram_text::HistogramText;
use sokudo_workload::joined::{Merged, NS, put, ratio};

use super::generator::Finished;
use super::tally::LabelTally;

/// Rows that a generator handed over.
const ROWS: &str = "http.rows";
/// Where a generator as a whole goes to: the labels have flows of their own.
const EVERYTHING: &str = "*";
/// Stages in which a request can fail.
const STAGES: [&str; 6] = ["resolve", "connect", "tls", "send", "wait", "read"];

/// Kinds of failures: names of their metrics.
const KINDS: [&str; 5] = [
    "http.refused",
    "http.resets",
    "http.timeouts",
    "http.closed_early",
    "http.malformed",
];

/// What one label saw.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct LabelNumbers {
    is_transaction: bool,
    samples: u64,
    failed: u64,
    lost: u64,
    bytes: u64,
    sent_bytes: u64,
    classes: [u64; 6],
    phases: BTreeMap<String, u64>,
    kinds: BTreeMap<String, u64>,
    span_ns: Option<(i64, i64)>,
    /// Of those with a response.
    #[serde(default)]
    spent: Spent,
    latency: HistogramText,
    service: HistogramText,
    connect: HistogramText,
}

/// Everything one host measured in a phase.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Numbers {
    labels: BTreeMap<String, LabelNumbers>,
    asked_per_s: Option<f64>,
    dropped: u64,
    /// Exchanges that began, redirects one by one.
    started: u64,
    late_starts: u64,
    connections: u64,
    ports_exhausted: u64,
    cpu_ns: Option<u64>,
    /// Of the busiest event loop.
    cpu_ratio: Option<f64>,
    wait_ratio: Option<f64>,
    /// How much later than agreed it began.
    start_late_ns: i64,
    /// Rows that it handed over.
    rows: u64,
}

impl LabelNumbers {
    fn new(tally: &LabelTally) -> Self {
        let phases = tally.phases.iter();
        let kinds = tally.kinds.iter();
        Self {
            is_transaction: tally.is_transaction,
            samples: tally.samples,
            failed: tally.failed,
            lost: tally.lost,
            bytes: tally.bytes,
            sent_bytes: tally.sent_bytes,
            classes: tally.classes,
            phases: phases
                .map(|(phase, count)| ((*phase).to_owned(), *count))
                .collect(),
            kinds: kinds
                .map(|(kind, count)| ((*kind).to_owned(), *count))
                .collect(),
            span_ns: tally.span_ns,
            spent: tally.spent,
            latency: HistogramText::new(&tally.latency),
            service: HistogramText::new(&tally.service),
            connect: HistogramText::new(&tally.connect),
        }
    }
}

impl Numbers {
    /// Everything that came of a test.
    pub fn new(finished: &Finished, asked_per_s: Option<f64>) -> Self {
        let loops = || finished.audits.iter().flat_map(|audit| &audit.loops);
        let sum = |of: fn(&LoopAudit) -> u64| loops().map(of).sum();
        let share = |part: fn(&LoopAudit) -> Option<u64>| {
            let shares = loops().filter_map(|one| ratio(part(one)? as f64, one.elapsed_ns as f64));
            shares.reduce(f64::max)
        };
        let seen = finished.seen.iter();
        Self {
            labels: seen
                .map(|(label, tally)| (label.clone(), LabelNumbers::new(tally)))
                .collect(),
            asked_per_s,
            dropped: finished.dropped,
            started: sum(|one| one.started),
            late_starts: finished.late + sum(|one| one.late_starts),
            connections: sum(|one| one.connections),
            ports_exhausted: sum(|one| one.ports_exhausted),
            cpu_ns: loops().map(|one| one.cpu_ns).sum(),
            cpu_ratio: share(|one| one.cpu_ns),
            wait_ratio: share(|one| one.wait_ns),
            start_late_ns: finished.start_late_ns,
            rows: finished.rows,
        }
    }
}

/// Joins the hosts' numbers; see [`sokudo_workload::contract::Workload::join`].
pub(super) fn join(spec: &PhaseSpec, results: &[HostResult]) -> PhaseResult {
    let mut merged = Merged::default();
    let mut flows = Vec::new();
    let mut all = Vec::new();
    let generators = &spec.phase.flows;
    for plan in generators {
        let host = spec.hosts.get(plan.from as usize);
        let host = host.map_or("", |host| host.name.as_str());
        let result = results.get(plan.from as usize);
        let text = result.and_then(|result| result.as_ref().ok());
        let numbers = text.and_then(|text| serde_json::from_str::<Numbers>(text).ok());
        flows.push(generator(flows.len() as u32, host, numbers.as_ref()));
        let Some(numbers) = numbers else {
            continue;
        };
        for (label, one) in &numbers.labels {
            let id = flows.len() as u32;
            flows.push(flow(id, host, label, one, &mut merged));
        }
        all.push(numbers);
    }
    PhaseResult {
        summary: totals(&all, &merged),
        flows,
        histograms: merged.summaries(),
    }
}

/// How a generator fared; without numbers it was lost.
fn generator(id: u32, host: &str, numbers: Option<&Numbers>) -> FlowResult {
    let mut flow = FlowResult {
        id,
        from: host.into(),
        to: EVERYTHING.into(),
        labels: Labels::from([("kind".into(), "generator".into())]),
        complete: numbers.is_some(),
        ..FlowResult::default()
    };
    let Some(numbers) = numbers else {
        return flow;
    };
    let metrics = &mut flow.metrics;
    let late = numbers.late_starts as f64;
    put(metrics, "http.late_starts", late);
    put(
        metrics,
        "http.late_ratio",
        ratio(late, numbers.started as f64),
    );
    put(metrics, "http.client_cpu_ratio", numbers.cpu_ratio);
    put(metrics, "http.client_wait_ratio", numbers.wait_ratio);
    put(metrics, "http.unstarted_requests", numbers.dropped as f64);
    put(metrics, "http.made_connections", numbers.connections as f64);
    put(
        metrics,
        "http.ports_exhausted",
        some(numbers.ports_exhausted),
    );
    put(metrics, ROWS, some(numbers.rows));
    let late_s = numbers.start_late_ns.max(0) as f64 * NS;
    put(metrics, "group.start_late_seconds", late_s);
    flow
}

/// A count that is told only where there is something to count.
fn some(count: u64) -> Option<f64> {
    (count > 0).then_some(count as f64)
}

/// Rows that each generator says to have handed over, by host name, from what they measured.
pub fn rows_sent(result: &PhaseResult) -> HashMap<String, u64> {
    let flows = result.flows.iter();
    flows
        .filter_map(|flow| Some((flow.from.clone(), *flow.metrics.get(ROWS)? as u64)))
        .collect()
}

/// The numbers of one label, as those of a flow.
fn flow(id: u32, host: &str, label: &str, one: &LabelNumbers, merged: &mut Merged) -> FlowResult {
    let mut flow = FlowResult {
        id,
        from: host.into(),
        to: label.into(),
        labels: Labels::new(),
        complete: true,
        ..FlowResult::default()
    };
    if one.is_transaction {
        flow.labels.insert("kind".into(), "transaction".into());
    }
    put_label_numbers(&mut flow.metrics, std::slice::from_ref(one));
    for (name, text) in [
        ("http.latency_seconds", &one.latency),
        ("http.service_seconds", &one.service),
        ("http.connect_seconds", &one.connect),
    ] {
        // The samples of a transaction are in the totals already.
        let summary = match one.is_transaction {
            true => Merged::default().add(name, NS, text),
            false => merged.add(name, NS, text),
        };
        if let Some(summary) = summary {
            flow.histograms.insert(name.into(), summary);
        }
    }
    flow
}

/// How many samples were taken, and how many of them failed.
fn samples_and_failed(labels: &[LabelNumbers]) -> (f64, f64) {
    let sum = |of: fn(&LabelNumbers) -> u64| labels.iter().map(of).sum::<u64>() as f64;
    (sum(|label| label.samples), sum(|label| label.failed))
}

fn put_label_numbers(metrics: &mut Summary, labels: &[LabelNumbers]) {
    let sum = |of: fn(&LabelNumbers) -> u64| labels.iter().map(of).sum::<u64>() as f64;
    let (samples, failed) = samples_and_failed(labels);
    let lost = sum(|l| l.lost);
    put(metrics, "http.requests", samples - lost);
    put(metrics, "http.errors", lost);
    put(metrics, "http.error_ratio", ratio(failed, samples));
    put(metrics, "http.sent_bytes", sum(|l| l.sent_bytes));
    put(metrics, "http.body_bytes", sum(|l| l.bytes));
    let spans = labels.iter().filter_map(|label| label.span_ns);
    let span = spans.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
    let seconds = span.map_or(0.0, |(first, last)| (last - first) as f64 * NS);
    put(
        metrics,
        "http.requests_per_second",
        ratio(samples - lost, seconds),
    );
    let mut spent = Spent::default();
    labels.iter().for_each(|label| spent.add(&label.spent));
    for (metric, seconds) in spent.means((samples - lost) as u64) {
        put(metrics, metric.name, seconds);
    }
    for (class, name) in ["other", "1xx", "2xx", "3xx", "4xx", "5xx"]
        .iter()
        .enumerate()
    {
        let lost = if class == 0 { lost } else { 0.0 };
        let count = labels.iter().map(|label| label.classes[class]).sum::<u64>() as f64 - lost;
        put(
            metrics,
            &format!("http.status_{name}"),
            (count > 0.0).then_some(count),
        );
    }
    for kind in KINDS {
        let each = labels.iter().filter_map(|label| label.kinds.get(kind));
        let count = each.sum::<u64>() as f64;
        put(metrics, kind, (count > 0.0).then_some(count));
    }
    for stage in STAGES {
        let failed: u64 = labels
            .iter()
            .filter_map(|label| label.phases.get(stage))
            .sum();
        put(
            metrics,
            &format!("http.failed_{stage}"),
            (failed > 0).then_some(failed as f64),
        );
    }
}

fn totals(all: &[Numbers], merged: &Merged) -> Summary {
    let mut summary = Summary::new();
    let labels = all.iter().flat_map(|numbers| numbers.labels.values());
    let labels: Vec<LabelNumbers> = labels
        .filter(|label| !label.is_transaction)
        .cloned()
        .collect();
    if all.is_empty() {
        return summary;
    }
    put_label_numbers(&mut summary, &labels);
    let sum = |of: fn(&Numbers) -> u64| all.iter().map(of).sum::<u64>() as f64;
    let late = sum(|n| n.late_starts);
    put(&mut summary, "http.late_starts", late);
    let late_ratio = ratio(late, sum(|n| n.started));
    put(&mut summary, "http.late_ratio", late_ratio);
    let dropped = sum(|n| n.dropped);
    put(&mut summary, "http.unstarted_requests", dropped);
    let (samples, failed) = samples_and_failed(&labels);
    let due = samples + dropped;
    put(
        &mut summary,
        "http.error_ratio",
        ratio(failed + dropped, due),
    );
    put(
        &mut summary,
        "http.made_connections",
        sum(|n| n.connections),
    );
    let exhausted = sum(|n| n.ports_exhausted);
    put(
        &mut summary,
        "http.ports_exhausted",
        (exhausted > 0.0).then_some(exhausted),
    );
    let asked = all
        .iter()
        .filter_map(|numbers| numbers.asked_per_s)
        .reduce(|a, b| a + b);
    put(&mut summary, "http.asked_per_second", asked);
    let cpu_ns: Option<u64> = all.iter().map(|numbers| numbers.cpu_ns).sum();
    let samples: u64 = labels.iter().map(|label| label.samples).sum();
    let per_cpu = cpu_ns.and_then(|ns| ratio(samples as f64 * 1e9, ns as f64));
    put(&mut summary, "http.requests_per_cpu_second", per_cpu);
    let most = |of: fn(&Numbers) -> Option<f64>| all.iter().filter_map(of).reduce(f64::max);
    put(&mut summary, "http.client_cpu_ratio", most(|n| n.cpu_ratio));
    put(
        &mut summary,
        "http.client_wait_ratio",
        most(|n| n.wait_ratio),
    );
    merged.put_numbers(&mut summary);
    for (name, of) in [
        (
            "http.latency_seconds.p95",
            (|l| &l.latency) as fn(&LabelNumbers) -> &HistogramText,
        ),
        ("http.service_seconds.p95", |l| &l.service),
    ] {
        let mut whole = Histogram::new();
        labels
            .iter()
            .for_each(|label| whole.merge(&of(label).histogram()));
        let p95 = (!whole.is_empty()).then(|| whole.quantile(0.95) as f64 * NS);
        put(&mut summary, name, p95);
    }
    summary
}
