//! How do the threads' records become series, and when is a phase's sending over?

use std::collections::BTreeMap;
use std::sync::mpsc::Receiver;

use sokudo_model::Batch;
use sokudo_stats::Histogram;
use sokudo_workload::contract::Emit;
use sokudo_workload::joined::NS;
use sokudo_workload::reporting::{Names, Output};

use super::NAME;
use super::record::{End, Finished, Interval, Report, Totals};

/// From the intended time of a message to its answer.
pub(crate) const RESPONSE: &str = "bus.response_latency_seconds";
/// From the real time of a message to its answer.
pub(crate) const SERVICE: &str = "bus.service_seconds";
/// From the real time of a message to its receipt.
pub(crate) const RECEIPT: &str = "bus.receipt_latency_seconds";
/// Own delay of a host on the way.
pub(crate) const RELAY: &str = "bus.relay_delay_seconds";

/// Distributions of one flow over the whole phase.
#[derive(Debug, Default)]
pub(crate) struct FlowDistributions {
    pub(crate) response: Histogram,
    pub(crate) service: Histogram,
    pub(crate) receipt: Histogram,
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
                Report::Interval(interval) => self.interval(*interval),
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

    fn interval(&mut self, interval: Interval) {
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
                End::Sending => sending(&mut values, &interval, &before, seconds),
                End::Receiving => receiving(&mut values, &interval.totals, &before, seconds),
                End::Relaying => {}
            }
        }
        let at_ns = interval.t_ns - self.output.names.t0_ns;
        for (metric, value) in values {
            batch.push(&self.output.key(metric, &label), at_ns, value);
        }
        self.keep(&interval, &label);
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

type Values = Vec<(&'static str, f64)>;

/// What a sender's interval says.
fn sending(out: &mut Values, interval: &Interval, before: &Totals, seconds: f64) {
    let now = &interval.totals;
    let rate = |now: u64, before: u64| now.saturating_sub(before) as f64 / seconds;
    let share = |now: u64, before: u64| (rate(now, before) * NS).min(1.0);
    out.extend([
        ("bus.sent_per_second", rate(now.messages, before.messages)),
        ("bus.sent_bytes_per_second", rate(now.bytes, before.bytes)),
        ("bus.answers_per_second", rate(now.answers, before.answers)),
        ("bus.backlog_bytes", now.backlog_bytes as f64),
        (
            "bus.backlog_ratio",
            share(now.backlog_ns, before.backlog_ns),
        ),
        (
            "bus.backlog_events_per_second",
            rate(now.backlog_events, before.backlog_events),
        ),
        (
            "bus.write_blocked_ratio",
            share(now.idle_ns, before.idle_ns),
        ),
    ]);
    if !interval.response.is_empty() {
        let all = interval.response.summary(NS);
        out.extend([
            ("bus.response_p50_seconds", all.p50),
            ("bus.response_p99_seconds", all.p99),
            ("bus.response_min_seconds", all.min),
            ("bus.response_mean_seconds", all.mean),
            ("bus.response_max_seconds", all.max),
        ]);
    }
    if !interval.receipt.is_empty() {
        let mean = interval.receipt.summary(NS).mean;
        out.push(("bus.receipt_mean_seconds", mean));
    }
}

/// What a receiver's interval says.
fn receiving(out: &mut Values, now: &Totals, before: &Totals, seconds: f64) {
    let rate = |now: u64, before: u64| now.saturating_sub(before) as f64 / seconds;
    let share = |now: u64, before: u64| (rate(now, before) * NS).min(1.0);
    let bytes = rate(now.bytes, before.bytes);
    out.extend([
        (
            "bus.messages_per_second",
            rate(now.messages, before.messages),
        ),
        ("bus.bytes_per_second", bytes),
        ("bus.bits_per_second", bytes * 8.0),
        ("bus.queue_bytes", now.backlog_bytes as f64),
        (
            "bus.queue_full_ratio",
            share(now.backlog_ns, before.backlog_ns),
        ),
        (
            "bus.queue_full_events_per_second",
            rate(now.backlog_events, before.backlog_events),
        ),
        ("bus.read_idle_ratio", share(now.idle_ns, before.idle_ns)),
    ]);
}
