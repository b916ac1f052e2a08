//! Joins what the generators of a plan's load measured.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};
use sokudo_http::{LoopAudit, Observed};
use sokudo_model::kinds::http as numbers;
use sokudo_model::{FlowResult, Labels, Metric, PhaseResult, Spent, Summary};
use sokudo_stats::Histogram;
use sokudo_workload::histogram_text;
use sokudo_workload::joined::{Merged, put, put_each, put_start_late, ratio};
use sokudo_workload::load::{self, Ends, OwnFlows};
use sokudo_workload::load_time::{LoadTime, planned_ns};

use super::generator::Finished;
use super::silence::Silence;
use super::tally::{LabelTally, around};
use crate::observed::put_observed;
use crate::percentile::put_p95;

/// Rows that a generator handed over.
const ROWS: Metric = numbers::ROWS;
/// Flow of a generator as a whole: the labels have flows of their own.
const EVERYTHING: &str = "*";
/// Stages in which a request can fail.
const STAGES: [(&str, Metric); 6] = [
    ("resolve", numbers::FAILED_RESOLVE),
    ("connect", numbers::FAILED_CONNECT),
    ("tls", numbers::FAILED_TLS),
    ("send", numbers::FAILED_SEND),
    ("wait", numbers::FAILED_WAIT),
    ("read", numbers::FAILED_READ),
];
/// Responses by the first digit of their status; 0 for none.
const CLASSES: [Metric; 6] = [
    numbers::STATUS_OTHER,
    numbers::STATUS_1XX,
    numbers::STATUS_2XX,
    numbers::STATUS_3XX,
    numbers::STATUS_4XX,
    numbers::STATUS_5XX,
];

/// Kinds of failures.
const KINDS: [Metric; 5] = [
    numbers::REFUSED,
    numbers::RESETS,
    numbers::TIMEOUTS,
    numbers::CLOSED_EARLY,
    numbers::MALFORMED,
];

/// Numbers of one label.
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
    /// First start and last end of those with a response.
    through_ns: Option<(i64, i64)>,
    /// Of those with a response.
    #[serde(default)]
    spent: Spent,
    #[serde(with = "histogram_text")]
    latency: Histogram,
    #[serde(with = "histogram_text")]
    service: Histogram,
    #[serde(with = "histogram_text")]
    start_delay: Histogram,
    #[serde(with = "histogram_text")]
    connect: Histogram,
}

/// Everything one host measured in a phase.
#[derive(Debug, Default, Serialize, Deserialize)]
struct GeneratorNumbers {
    labels: BTreeMap<String, LabelNumbers>,
    /// Begin of the first sample of all, of the last one, and when the last user had gone; in nanoseconds
    /// since the agreed begin.
    first_start_ns: i64,
    last_start_ns: i64,
    gone_ns: i64,
    begin_ns: i64,
    asked_per_s: Option<f64>,
    dropped: u64,
    /// The time in which nothing was answered, by event loop of a closed model.
    #[serde(default)]
    silences: Vec<Silence>,
    /// Exchanges that began, redirects one by one.
    started: u64,
    late_starts: u64,
    connections: u64,
    ports_exhausted: u64,
    cpu_ns: Option<u64>,
    /// Of the busiest event loop.
    cpu_ratio: Option<f64>,
    wait_ratio: Option<f64>,
    /// Delay of its begin behind the agreed one.
    start_late_ns: i64,
    /// Rows that it handed over.
    rows: u64,
    /// Observations of each event loop.
    observed: Vec<Observed>,
}

impl LabelNumbers {
    /// Samples with a response.
    fn answered(&self) -> f64 {
        self.samples.saturating_sub(self.lost) as f64
    }

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
            through_ns: tally.through_ns,
            spent: tally.spent,
            latency: tally.latency.clone(),
            service: tally.service.clone(),
            start_delay: tally.start_delay.clone(),
            connect: tally.connect.clone(),
        }
    }
}

/// Everything one host measured in a phase; nothing of a host that only gave the plan.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Numbers(Option<GeneratorNumbers>);

impl Numbers {
    /// Everything that came of a test.
    pub(super) fn new(finished: &Finished, asked_per_s: Option<f64>) -> Self {
        Self(Some(GeneratorNumbers::new(finished, asked_per_s)))
    }
}

impl load::Numbers for Numbers {
    /// The numbers are those of the host's generator, whatever flows there are.
    fn keep_own(&mut self, _own: &OwnFlows<'_>) {}
}

impl GeneratorNumbers {
    /// Everything that came of a test.
    fn new(finished: &Finished, asked_per_s: Option<f64>) -> Self {
        let loops = || finished.audits.iter().flat_map(|audit| &audit.loops);
        let sum = |of: fn(&LoopAudit) -> u64| loops().map(of).sum();
        let share = |part: fn(&LoopAudit) -> Option<u64>| {
            let shares = loops().filter_map(|one| ratio(part(one)? as f64, one.elapsed_ns as f64));
            shares.reduce(f64::max)
        };
        let seen = finished.seen.iter();
        let all = || finished.seen.values();
        let first_ns = all()
            .filter_map(|tally| tally.span_ns)
            .map(|(first, _)| first);
        let last_ns = all().map(|tally| tally.last_start_ns).max();
        let since_begin = |at_ns: i64| (at_ns - finished.begin_ns).max(0);
        Self {
            first_start_ns: first_ns.min().map_or(0, since_begin),
            last_start_ns: last_ns.map_or(0, since_begin),
            gone_ns: since_begin(finished.gone_ns),
            begin_ns: finished.begin_ns,
            labels: seen
                .map(|(label, tally)| (label.clone(), LabelNumbers::new(tally)))
                .collect(),
            asked_per_s,
            dropped: finished.dropped,
            silences: finished.silences.clone(),
            started: sum(|one| one.started),
            late_starts: finished.late + sum(|one| one.late_starts),
            connections: sum(|one| one.connections),
            ports_exhausted: sum(|one| one.ports_exhausted),
            cpu_ns: loops().map(|one| one.cpu_ns).sum(),
            cpu_ratio: share(|one| one.cpu_ns),
            wait_ratio: share(|one| one.wait_ns),
            start_late_ns: finished.start_late_ns,
            rows: finished.rows,
            observed: loops().map(|one| one.observed.clone()).collect(),
        }
    }
}

impl GeneratorNumbers {
    /// The time of the load, from the first sample on, for what got through in `through_ns`. It lasts as long
    /// as the plan says, longer where samples began after that, and shorter where all users had gone.
    fn load_time(&self, planned_ns: Option<i64>, through_ns: Option<(i64, i64)>) -> LoadTime {
        let until_ns = planned_ns.map_or(self.gone_ns, |planned_ns| {
            planned_ns.max(self.last_start_ns).min(self.gone_ns)
        });
        let from_ns = self.begin_ns.saturating_add(self.first_start_ns);
        let load_ns = until_ns.saturating_sub(self.first_start_ns);
        LoadTime::new(load_ns, LoadTime::since(from_ns, through_ns))
    }

    /// Requests that were due and never sent: arrivals that found too many users, and what users could not
    /// try while nothing was answered.
    fn unstarted(&self, planned_ns: Option<i64>) -> u64 {
        let from_ns = self.begin_ns.saturating_add(self.first_start_ns);
        let load_ns = self.load_time(planned_ns, None).length_ns();
        let untried = self
            .silences
            .iter()
            .map(|one| one.untried(from_ns, load_ns));
        self.dropped + untried.sum::<u64>()
    }

    /// The labels of requests: those of transactions are counted under these, too.
    fn requests(&self) -> impl Iterator<Item = &LabelNumbers> {
        self.labels.values().filter(|label| !label.is_transaction)
    }

    /// Answered requests per second.
    fn per_s(&self, planned_ns: Option<i64>) -> f64 {
        let answered = self.requests().map(LabelNumbers::answered).sum();
        self.load_time(planned_ns, None).per_s(answered)
    }
}

/// Joins the hosts' numbers.
pub(super) fn join(ends: &Ends<'_, Numbers>) -> PhaseResult {
    let planned_ns = planned_ns(ends.spec, 0, 0);
    let mut merged = Merged::default();
    let mut flows = Vec::new();
    let mut all = Vec::new();
    for plan in ends.plans() {
        let host = ends.flow(plan).from;
        let numbers = ends.of(plan.from).and_then(|numbers| numbers.0.as_ref());
        flows.push(generator(flows.len() as u32, &host, numbers, planned_ns));
        let Some(numbers) = numbers else {
            continue;
        };
        for (label, one) in &numbers.labels {
            let id = flows.len() as u32;
            let load = numbers.load_time(planned_ns, one.through_ns);
            flows.push(flow(id, (&host, label), (one, &load), &mut merged));
        }
        all.push(numbers);
    }
    PhaseResult {
        summary: totals(&all, planned_ns, &merged),
        flows,
        histograms: merged.summaries(),
    }
}

/// Flow of a generator; without numbers it was lost.
fn generator(
    id: u32,
    host: &str,
    generated: Option<&GeneratorNumbers>,
    planned_ns: Option<i64>,
) -> FlowResult {
    let mut flow = FlowResult {
        id,
        from: host.into(),
        to: EVERYTHING.into(),
        labels: Labels::from([("kind".into(), "generator".into())]),
        complete: generated.is_some(),
        ..FlowResult::default()
    };
    let Some(generated) = generated else {
        return flow;
    };
    let late = generated.late_starts as f64;
    put_each(
        &mut flow.metrics,
        [
            (numbers::LATE_STARTS, Some(late)),
            (numbers::LATE_RATIO, ratio(late, generated.started as f64)),
            (numbers::CLIENT_CPU_RATIO, generated.cpu_ratio),
            (numbers::CLIENT_WAIT_RATIO, generated.wait_ratio),
            (
                numbers::UNSTARTED_REQUESTS,
                Some(generated.unstarted(planned_ns) as f64),
            ),
            (
                numbers::MADE_CONNECTIONS,
                Some(generated.connections as f64),
            ),
            (numbers::PORTS_EXHAUSTED, some(generated.ports_exhausted)),
            (ROWS, some(generated.rows)),
        ],
    );
    put_start_late(&mut flow.metrics, Some(generated.start_late_ns));
    let spans = generated.requests().map(|label| label.through_ns);
    let through_ns = spans.fold(None, around);
    generated
        .load_time(planned_ns, through_ns)
        .put(&mut flow.metrics);
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
        .filter_map(|flow| Some((flow.from.clone(), ROWS.of(&flow.metrics)? as u64)))
        .collect()
}

/// The numbers of one label, as those of a flow.
fn flow(
    id: u32,
    (host, label): (&str, &str),
    (one, load): (&LabelNumbers, &LoadTime),
    merged: &mut Merged,
) -> FlowResult {
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
    flow.labels.extend(why(one));
    put_label_numbers(&mut flow.metrics, &[one], load.per_s(one.answered()));
    let each = [
        (numbers::LATENCY_SECONDS, &one.latency),
        (numbers::SERVICE_SECONDS, &one.service),
        (numbers::START_DELAY_SECONDS, &one.start_delay),
        (numbers::CONNECT_SECONDS, &one.connect),
    ];
    // The samples of a transaction are in the totals already.
    match one.is_transaction {
        true => Merged::default().add_each(&mut flow, each),
        false => merged.add_each(&mut flow, each),
    }
    flow
}

/// The most frequent reason why requests of a label got no response, as loads of one URL tell it:
/// `connect: refused ×200`.
fn why(one: &LabelNumbers) -> Option<(String, String)> {
    let most = |counts: &BTreeMap<String, u64>| {
        let most = counts.iter().max_by_key(|(_, count)| **count)?;
        Some((most.0.clone(), *most.1))
    };
    let (stage, of_stage) = most(&one.phases)?;
    let text = match most(&one.kinds) {
        Some((kind, count)) => {
            let word = kind
                .rsplit('.')
                .next()
                .unwrap_or_default()
                .replace('_', " ");
            format!("{stage}: {word} ×{count}")
        }
        None => format!("{stage} ×{of_stage}"),
    };
    Some(("error".to_owned(), text))
}

/// Number of samples, and number of the failed ones.
fn samples_and_failed(labels: &[&LabelNumbers]) -> (f64, f64) {
    let sum =
        |of: fn(&LabelNumbers) -> u64| labels.iter().map(|label| of(label)).sum::<u64>() as f64;
    (sum(|label| label.samples), sum(|label| label.failed))
}

fn put_label_numbers(metrics: &mut Summary, labels: &[&LabelNumbers], per_s: f64) {
    let sum =
        |of: fn(&LabelNumbers) -> u64| labels.iter().map(|label| of(label)).sum::<u64>() as f64;
    let (samples, failed) = samples_and_failed(labels);
    let lost = sum(|l| l.lost);
    put(metrics, numbers::REQUESTS, samples - lost);
    put(metrics, numbers::ERRORS, lost);
    put(metrics, numbers::ERROR_RATIO, ratio(failed, samples));
    put(metrics, numbers::SENT_BYTES, sum(|l| l.sent_bytes));
    put(metrics, numbers::BODY_BYTES, sum(|l| l.bytes));
    put(metrics, numbers::REQUESTS_PER_SECOND, per_s);
    let mut spent = Spent::default();
    labels.iter().for_each(|label| spent.add(&label.spent));
    for (metric, seconds) in spent.means((samples - lost) as u64) {
        put(metrics, metric, seconds);
    }
    for (class, metric) in CLASSES.into_iter().enumerate() {
        let lost = if class == 0 { lost } else { 0.0 };
        let count = labels.iter().map(|label| label.classes[class]).sum::<u64>() as f64 - lost;
        put(metrics, metric, (count > 0.0).then_some(count));
    }
    for kind in KINDS {
        let each = labels.iter().filter_map(|label| label.kinds.get(kind.name));
        put(metrics, kind, some(each.sum()));
    }
    for (stage, metric) in STAGES {
        let each = labels.iter().filter_map(|label| label.phases.get(stage));
        put(metrics, metric, some(each.sum()));
    }
}

fn totals(all: &[&GeneratorNumbers], planned_ns: Option<i64>, merged: &Merged) -> Summary {
    let mut summary = Summary::new();
    let labels = all.iter().flat_map(|numbers| numbers.requests());
    let labels: Vec<&LabelNumbers> = labels.collect();
    if all.is_empty() {
        return summary;
    }
    let per_s = all.iter().map(|numbers| numbers.per_s(planned_ns)).sum();
    put_label_numbers(&mut summary, &labels, per_s);
    let sum = |of: fn(&GeneratorNumbers) -> u64| all.iter().map(|one| of(one)).sum::<u64>() as f64;
    let late = sum(|n| n.late_starts);
    put(&mut summary, numbers::LATE_STARTS, late);
    let late_ratio = ratio(late, sum(|n| n.started));
    put(&mut summary, numbers::LATE_RATIO, late_ratio);
    let unstarted = all.iter().map(|one| one.unstarted(planned_ns));
    let unstarted = unstarted.sum::<u64>() as f64;
    put(&mut summary, numbers::UNSTARTED_REQUESTS, unstarted);
    let (samples, failed) = samples_and_failed(&labels);
    let due = samples + unstarted;
    put(
        &mut summary,
        numbers::ERROR_RATIO,
        ratio(failed + unstarted, due),
    );
    put(
        &mut summary,
        numbers::MADE_CONNECTIONS,
        sum(|n| n.connections),
    );
    let exhausted = sum(|n| n.ports_exhausted);
    put(
        &mut summary,
        numbers::PORTS_EXHAUSTED,
        (exhausted > 0.0).then_some(exhausted),
    );
    let asked = all
        .iter()
        .filter_map(|numbers| numbers.asked_per_s)
        .reduce(|a, b| a + b);
    put(&mut summary, numbers::ASKED_PER_SECOND, asked);
    let cpu_ns: Option<u64> = all.iter().map(|numbers| numbers.cpu_ns).sum();
    let samples: u64 = labels.iter().map(|label| label.samples).sum();
    let per_cpu = cpu_ns.and_then(|ns| ratio(samples as f64 * 1e9, ns as f64));
    put(&mut summary, numbers::REQUESTS_PER_CPU_SECOND, per_cpu);
    let most = |of: fn(&GeneratorNumbers) -> Option<f64>| {
        all.iter().filter_map(|one| of(one)).reduce(f64::max)
    };
    put(
        &mut summary,
        numbers::CLIENT_CPU_RATIO,
        most(|n| n.cpu_ratio),
    );
    put(
        &mut summary,
        numbers::CLIENT_WAIT_RATIO,
        most(|n| n.wait_ratio),
    );
    merged.put_numbers(&mut summary);
    let latencies = labels.iter().map(|label| &label.latency);
    put_p95(&mut summary, numbers::LATENCY_SECONDS, latencies);
    let services = labels.iter().map(|label| &label.service);
    put_p95(&mut summary, numbers::SERVICE_SECONDS, services);
    put_observed(&mut summary, all.iter().flat_map(|one| &one.observed));
    summary
}
