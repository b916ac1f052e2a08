//! Joins what the two ends of a replication measured.

use serde::{Deserialize, Serialize};
use sokudo_model::kinds::replicate as numbers;
use sokudo_model::{FlowPlan, FlowResult, Metric, PhaseResult, Summary};
use sokudo_replicate::message::{Counts, Failure};
use sokudo_replicate::session::Reading;
use sokudo_stats::Histogram;
use sokudo_workload::choice::Choice;
use sokudo_workload::histogram_text;
use sokudo_workload::joined::{self, Merged, NS, put, put_each, ratio};
use sokudo_workload::load::{self, Ends, OwnFlows};

use super::options::ReplicateOptions;
use super::trial::EndCores;

/// Failures that a flow names.
const NAMED_FAILURES: usize = 20;

/// One end of one flow, as it travels to the controller.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct EndNumbers {
    pub(super) flow: u32,
    pub(super) counts: Counts,
    pub(super) rounds: u64,
    pub(super) reading: Reading,
    pub(super) elapsed_ns: u64,
    /// Cores, where they were looked at.
    pub(super) cores: Option<EndCores>,
    /// Shortest round trip of a connection.
    pub(super) rtt_us: Option<u32>,
    pub(super) failures: Vec<Failure>,
    pub(super) broken: Option<String>,
    pub(super) followed: Followed,
}

/// Events of a mirror, at the sender.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Followed {
    /// Lag of each round, nanoseconds.
    #[serde(with = "histogram_text")]
    pub(super) lags: Histogram,
    /// Looks at everything beyond the first.
    pub(super) rescans: u64,
    /// Reason why the system does not tell all changes; `None` where it does.
    pub(super) blind: Option<String>,
}

/// Everything one host measured in a phase.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Numbers {
    pub(super) sent: Vec<EndNumbers>,
    pub(super) received: Vec<EndNumbers>,
}

impl load::Numbers for Numbers {
    fn keep_own(&mut self, own: &OwnFlows<'_>) {
        self.sent.retain(|end| own.begins(end.flow));
        self.received.retain(|end| own.ends(end.flow));
    }
}

/// Joins the hosts' numbers.
pub(super) fn join(options: &ReplicateOptions, ends: &Ends<'_, Numbers>) -> PhaseResult {
    let mut lags = Merged::default();
    let each = ends.plans().iter();
    let flows = each.map(|plan| flow(options, ends, plan, &mut lags));
    let flows: Vec<FlowResult> = flows.collect();
    let mut summary = joined::totals(numbers::METRICS, &flows);
    let sum = |metric: Metric| metric.of(&summary).unwrap_or(0.0);
    let packed = ratio(sum(numbers::RECEIVED_BYTES), sum(numbers::WIRE_BYTES));
    put(&mut summary, numbers::COMPRESSION_RATIO, packed);
    lags.put_numbers(&mut summary);
    PhaseResult {
        histograms: lags.summaries(),
        summary,
        flows,
    }
}

fn flow(
    options: &ReplicateOptions,
    ends: &Ends<'_, Numbers>,
    plan: &FlowPlan,
    lags: &mut Merged,
) -> FlowResult {
    let mut flow = ends.flow(plan);
    let find = |list: &[EndNumbers]| list.iter().rfind(|end| end.flow == plan.id).cloned();
    let sent = ends.of(plan.from).and_then(|host| find(&host.sent));
    let received = ends.of(plan.to).and_then(|host| find(&host.received));
    flow.labels
        .insert("transport".into(), options.transport.name().into());
    let workers = f64::from(options.connections);
    if let Some(sent) = &sent {
        put_counts(&mut flow.metrics, sent);
        let asked = options.limit_bytes_per_s().map(|limit| limit * 8.0);
        put(&mut flow.metrics, numbers::ASKED_BITS_PER_SECOND, asked);
        let predicted_s = options.predicted_s;
        put(&mut flow.metrics, numbers::PREDICTED_SECONDS, predicted_s);
        let rtt_s = sent.rtt_us.map(|us| f64::from(us) * 1e-6);
        put(&mut flow.metrics, numbers::ROUND_TRIP_SECONDS, rtt_s);
        let own = [
            numbers::SENDER_CORES,
            numbers::SENDER_ALL_CORES,
            numbers::SENDER_CPU_SECONDS,
        ];
        put_cpu(&mut flow.metrics, sent, own);
        put_sender(&mut flow.metrics, sent, workers);
        if options.mirror.is_some() {
            put_followed(&mut flow, &sent.followed, lags);
        }
    }
    if let Some(received) = &received {
        put_receiver(&mut flow.metrics, received, workers);
        let own = [
            numbers::RECEIVER_CORES,
            numbers::RECEIVER_ALL_CORES,
            numbers::RECEIVER_CPU_SECONDS,
        ];
        put_cpu(&mut flow.metrics, received, own);
    }
    let ends = [&sent, &received].into_iter().flatten();
    let cpu = ends.map(|end| end.reading.cpu_ns as f64 * NS);
    put(
        &mut flow.metrics,
        numbers::CPU_SECONDS,
        cpu.reduce(|a, b| a + b),
    );
    let (Some(sent), Some(received)) = (&sent, &received) else {
        return flow;
    };
    let broken = sent.broken.as_ref().or(received.broken.as_ref()).cloned();
    let unfinished = (sent.rounds == 0).then(|| "it was ended before it was complete".to_owned());
    let failed = failures(options, sent);
    let why = broken.or(unfinished).or(failed);
    flow.complete = why.is_none();
    if let Some(why) = why {
        flow.labels.insert("error".into(), why);
    }
    flow
}

fn put_followed(flow: &mut FlowResult, followed: &Followed, lags: &mut Merged) {
    lags.add_each(flow, [(numbers::LAG_SECONDS, &followed.lags)]);
    let rescans = followed.rescans as f64;
    put(&mut flow.metrics, numbers::RESCANS, rescans);
    let blind = followed.blind.clone();
    flow.labels.extend(blind.map(|why| ("blind".into(), why)));
}

/// Failures of a replication, by name: the first ones.
fn failures(options: &ReplicateOptions, sent: &EndNumbers) -> Option<String> {
    let all = sent.reading.failures;
    if all == 0 {
        return None;
    }
    let named = sent.failures.iter().take(NAMED_FAILURES);
    let named = named.map(|failure| format!("{}: {}", failure.path, failure.why));
    let named = named.collect::<Vec<_>>().join(". ");
    Some(match options.verify {
        true => format!("{all} names differ: {named}"),
        false => format!("{all} names could not be replicated: {named}"),
    })
}

fn put_counts(metrics: &mut Summary, sent: &EndNumbers) {
    let counts = &sent.counts;
    let elapsed_s = sent.elapsed_ns as f64 * NS;
    let wire = sent.reading.wire_bytes as f64;
    let of = |count: u64| Some(count as f64);
    put_each(
        metrics,
        [
            (numbers::FILES, of(counts.files)),
            (numbers::SOURCE_BYTES, of(counts.bytes)),
            (numbers::FILES_WRITTEN, of(counts.files_written)),
            (numbers::RECEIVED_BYTES, of(counts.bytes_received)),
            (numbers::KEPT_BYTES, of(counts.bytes_kept)),
            (numbers::FILES_EQUAL, of(counts.files_equal)),
            (numbers::METADATA_SET, of(counts.metadata_set)),
            (numbers::DIRECTORIES_MADE, of(counts.directories_made)),
            (
                numbers::LINKS_MADE,
                of(counts.symlinks_made + counts.hard_links_made),
            ),
            (numbers::REMOVED, of(counts.removed)),
            (numbers::EXTRA, of(counts.extra)),
            (numbers::FAILED, of(sent.reading.failures)),
            (numbers::ROUNDS, of(sent.rounds)),
            (numbers::WIRE_BYTES, Some(wire)),
            (numbers::DENSE_BYTES, of(sent.reading.bytes_dense)),
            (numbers::ELAPSED_SECONDS, Some(elapsed_s)),
            (numbers::WIRE_BITS_PER_SECOND, ratio(wire * 8.0, elapsed_s)),
            (
                numbers::USER_BYTES_PER_SECOND,
                ratio(counts.bytes_received as f64, elapsed_s),
            ),
            (
                numbers::FILES_PER_SECOND,
                ratio(counts.files_written as f64, elapsed_s),
            ),
            (
                numbers::COMPRESSION_RATIO,
                ratio(counts.bytes_received as f64, wire),
            ),
        ],
    );
}

fn put_sender(metrics: &mut Summary, sent: &EndNumbers, workers: f64) {
    let reading = &sent.reading;
    let shares = [
        (numbers::SENDER_WIRE_RATIO, reading.wire_ns),
        (numbers::SENDER_FILE_RATIO, reading.file_ns),
        (numbers::SENDER_PACK_RATIO, reading.pack_ns),
        (numbers::SENDER_IDLE_RATIO, reading.idle_ns),
    ];
    put_time(metrics, sent, workers, numbers::SENDER_CPU_RATIO, shares);
}

fn put_receiver(metrics: &mut Summary, received: &EndNumbers, workers: f64) {
    let reading = &received.reading;
    let shares = [
        (numbers::RECEIVER_WIRE_RATIO, reading.wire_ns),
        (numbers::RECEIVER_FILE_RATIO, reading.file_ns),
        (numbers::RECEIVER_PACK_RATIO, reading.pack_ns),
        (numbers::RECEIVER_SYNC_RATIO, reading.sync_ns),
    ];
    put_time(
        metrics,
        received,
        workers,
        numbers::RECEIVER_CPU_RATIO,
        shares,
    );
}

/// Cores that an end found free, and those that it has, and the CPU time that it took.
fn put_cpu(metrics: &mut Summary, end: &EndNumbers, [free, all, seconds]: [Metric; 3]) {
    put(metrics, free, end.cores.map(|cores| cores.free));
    put(metrics, all, end.cores.map(|cores| cores.all));
    put(metrics, seconds, end.reading.cpu_ns as f64 * NS);
}

/// Adds the use of an end's time: the share of one CPU that its busiest thread used, and shares of the time
/// of its data threads.
fn put_time(
    metrics: &mut Summary,
    end: &EndNumbers,
    workers: f64,
    cpu: Metric,
    shares: [(Metric, u64); 4],
) {
    let elapsed_ns = end.elapsed_ns as f64;
    let busiest = end.reading.busiest_cpu_ns as f64;
    put(metrics, cpu, ratio(busiest, elapsed_ns));
    for (metric, ns) in shares {
        put(metrics, metric, ratio(ns as f64, elapsed_ns * workers));
    }
}
