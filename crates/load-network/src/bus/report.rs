//! The reporting thread of the bus: turns the threads' records into series.

use std::collections::BTreeMap;
use std::sync::mpsc::Receiver;

use serde::{Deserialize, Serialize};
use sokudo_model::kinds::bus as numbers;
use sokudo_model::{Batch, Metric};
use sokudo_stats::Histogram;
use sokudo_workload::contract::Emit;
use sokudo_workload::histogram_text;
use sokudo_workload::joined::NS;
use sokudo_workload::reporting::{Names, Output};

use super::NAME;
use super::record::{End, Finished, Interval, Report, Totals};

/// From the intended time of a message to its answer.
pub(crate) const RESPONSE: Metric = numbers::RESPONSE_LATENCY_SECONDS;
/// From the real time of a message to its answer.
pub(crate) const SERVICE: Metric = numbers::SERVICE_SECONDS;
/// From the real time of a message to its receipt.
pub(crate) const RECEIPT: Metric = numbers::RECEIPT_LATENCY_SECONDS;
/// Own delay of a host on the way.
pub(crate) const RELAY: Metric = numbers::RELAY_DELAY_SECONDS;

/// Distributions of one flow over the whole phase.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct FlowDistributions {
    #[serde(with = "histogram_text")]
    pub(crate) response: Histogram,
    #[serde(with = "histogram_text")]
    pub(crate) service: Histogram,
    #[serde(with = "histogram_text")]
    pub(crate) receipt: Histogram,
    #[serde(with = "histogram_text")]
    pub(crate) relay: Histogram,
}

/// Everything that was handed over, when all threads have ended.
#[derive(Debug, Default)]
pub(crate) struct Collected {
    pub(crate) finished: Vec<Finished>,
    pub(crate) flows: BTreeMap<u32, FlowDistributions>,
}

/// The reporting thread.
pub(crate) struct Reporter {
    output: Output,
    last: BTreeMap<(u32, End), (i64, Totals)>,
    collected: Collected,
}

impl Reporter {
    /// Reports for a phase with this many sending threads on this host.
    pub(crate) fn new(names: Names, emit: Emit, sending: usize) -> Self {
        Self {
            output: Output::new(names, NAME, emit, sending),
            last: BTreeMap::new(),
            collected: Collected::default(),
        }
    }

    /// Takes reports until all measuring threads have ended.
    pub(crate) fn run(mut self, reports: &Receiver<Report>) -> Collected {
        self.say_when_over();
        while let Ok(report) = reports.recv() {
            match report {
                Report::Interval(interval) => self.interval(&interval),
                Report::Finished(finished) => {
                    if finished.end == End::Sending {
                        self.output.sender_ended();
                        self.say_when_over();
                    }
                    self.collected.finished.push(*finished);
                }
            }
        }
        self.output.finish();
        self.collected
    }

    /// Receivers need to know nothing but that the senders have finished.
    fn say_when_over(&self) {
        self.output.say_when_sent(|| "{}".into());
    }

    fn interval(&mut self, interval: &Interval) {
        let mut batch = Batch::default();
        let label = self.output.names.label(interval.flow);
        let place = (interval.flow, interval.end);
        let begun = (self.output.names.start_ns, Totals::default());
        let last = self.last.insert(place, (interval.t_ns, interval.totals));
        let (since_ns, before) = last.unwrap_or(begun);
        let seconds = (interval.t_ns - since_ns) as f64 * NS;
        let mut values = Vec::new();
        if seconds > 0.0 {
            match interval.end {
                End::Sending => sending(&mut values, interval, &before, seconds),
                End::Receiving => receiving(&mut values, &interval.totals, &before, seconds),
                End::Relaying => {}
            }
        }
        let at_ns = interval.t_ns - self.output.names.t0_ns;
        for (metric, value) in values {
            batch.push(&self.output.key(metric, &label), at_ns, value);
        }
        self.keep(interval, &label);
        self.output.store(interval.t_ns, &mut batch);
        self.output.emit(batch);
    }

    /// Adds an interval's distributions to the stored ones and to those of the whole phase.
    fn keep(&mut self, interval: &Interval, label: &str) {
        let flow = self.collected.flows.entry(interval.flow).or_default();
        let all = [
            (RESPONSE, &interval.response, &mut flow.response),
            (SERVICE, &interval.service, &mut flow.service),
            (RECEIPT, &interval.receipt, &mut flow.receipt),
            (RELAY, &interval.relay, &mut flow.relay),
        ];
        self.output.keep(label, interval.t_ns, all);
    }
}

type Values = Vec<(Metric, f64)>;

/// Values of a sender's interval.
fn sending(out: &mut Values, interval: &Interval, before: &Totals, seconds: f64) {
    let now = &interval.totals;
    let rate = |now: u64, before: u64| now.saturating_sub(before) as f64 / seconds;
    let share = |now: u64, before: u64| (rate(now, before) * NS).min(1.0);
    out.extend([
        (
            numbers::SENT_PER_SECOND,
            rate(now.messages, before.messages),
        ),
        (
            numbers::SENT_BYTES_PER_SECOND,
            rate(now.bytes, before.bytes),
        ),
        (
            numbers::ANSWERS_PER_SECOND,
            rate(now.answers, before.answers),
        ),
        (numbers::BACKLOG_BYTES, now.backlog_bytes as f64),
        (
            numbers::BACKLOG_RATIO,
            share(now.backlog_ns, before.backlog_ns),
        ),
        (
            numbers::BACKLOG_EVENTS_PER_SECOND,
            rate(now.backlog_events, before.backlog_events),
        ),
        (
            numbers::WRITE_BLOCKED_RATIO,
            share(now.idle_ns, before.idle_ns),
        ),
    ]);
    if !interval.response.is_empty() {
        let all = interval.response.summary(NS);
        out.extend([
            (numbers::RESPONSE_P50_SECONDS, all.p50),
            (numbers::RESPONSE_P99_SECONDS, all.p99),
            (numbers::RESPONSE_MIN_SECONDS, all.min),
            (numbers::RESPONSE_MEAN_SECONDS, all.mean),
            (numbers::RESPONSE_MAX_SECONDS, all.max),
        ]);
    }
    if !interval.receipt.is_empty() {
        let mean = interval.receipt.summary(NS).mean;
        out.push((numbers::RECEIPT_MEAN_SECONDS, mean));
    }
}

/// Values of a receiver's interval.
fn receiving(out: &mut Values, now: &Totals, before: &Totals, seconds: f64) {
    let rate = |now: u64, before: u64| now.saturating_sub(before) as f64 / seconds;
    let share = |now: u64, before: u64| (rate(now, before) * NS).min(1.0);
    let bytes = rate(now.bytes, before.bytes);
    out.extend([
        (
            numbers::MESSAGES_PER_SECOND,
            rate(now.messages, before.messages),
        ),
        (numbers::BYTES_PER_SECOND, bytes),
        (numbers::BITS_PER_SECOND, bytes * 8.0),
        (numbers::QUEUE_BYTES, now.backlog_bytes as f64),
        (
            numbers::QUEUE_FULL_RATIO,
            share(now.backlog_ns, before.backlog_ns),
        ),
        (
            numbers::QUEUE_FULL_EVENTS_PER_SECOND,
            rate(now.backlog_events, before.backlog_events),
        ),
        (numbers::READ_IDLE_RATIO, share(now.idle_ns, before.idle_ns)),
    ]);
}
