//! How do the threads' records become series, and when is a phase's asking over?

use std::collections::BTreeMap;
use std::sync::mpsc::Receiver;

use sokudo_model::{Batch, Spent};
use sokudo_stats::Histogram;

use super::{Answered, Asked, Interval, Names, Report};
use crate::contract::Emit;
use crate::reporting::{self, Output};

/// Distributions of one flow over the whole phase.
#[derive(Debug, Default)]
pub struct FlowDistributions {
    /// From the intended start.
    pub latency: Histogram,
    /// From the real start; empty in a closed loop.
    pub service: Histogram,
    /// Time to connect.
    pub connect: Histogram,
    /// TLS handshakes.
    pub handshake: Histogram,
    /// Time of the answered requests by stage (`http`).
    pub spent: Spent,
}

/// Everything that was handed over, when all threads have ended.
#[derive(Debug, Default)]
pub struct Collected {
    /// Asking threads.
    pub asked: Vec<Asked>,
    /// Answering threads.
    pub answered: Vec<Answered>,
    /// Flow → its distributions.
    pub flows: BTreeMap<u32, FlowDistributions>,
}

/// The reporting thread.
pub struct Reporter {
    names: &'static Names,
    output: Output,
    /// Flow → when it reported last, and its counts of answers and errors then.
    last: BTreeMap<u32, (i64, u64, u64)>,
    /// Whether any request failed so far: without any there is no series of them.
    has_failed: bool,
    collected: Collected,
}

impl Reporter {
    /// Reports for a phase with this many asking threads.
    pub fn new(names: &'static Names, series: reporting::Names, emit: Emit, asking: usize) -> Self {
        Self {
            names,
            output: Output::new(series, names.source, emit, asking),
            last: BTreeMap::new(),
            has_failed: false,
            collected: Collected::default(),
        }
    }

    /// Takes reports until all measuring threads have ended.
    pub fn run(mut self, reports: &Receiver<Report>) -> Collected {
        self.say_when_over();
        while let Ok(report) = reports.recv() {
            match report {
                Report::Interval(interval) => self.interval(*interval),
                Report::Asked(asked) => {
                    self.collected.asked.push(*asked);
                    self.output.sender_ended();
                    self.say_when_over();
                }
                Report::Answered(answered) => self.collected.answered.push(answered),
            }
        }
        self.output.finish();
        self.collected
    }

    /// The answering ends need to know nothing but that the asking ones have finished.
    fn say_when_over(&self) {
        self.output.say_when_sent(|| "{}".into());
    }

    fn interval(&mut self, interval: Interval) {
        let mut batch = Batch::default();
        let (flow, names, series) = (interval.flow, self.names, &self.output.names);
        let label = series.label(flow);
        let at_ns = interval.t_ns - series.t0_ns;
        let key = |metric: &str| self.output.key(metric, &label);
        let begun = (series.start_ns, 0, 0);
        let now = (interval.t_ns, interval.transactions, interval.errors);
        let (since_ns, before, errors_before) = self.last.insert(flow, now).unwrap_or(begun);
        let seconds = (interval.t_ns - since_ns) as f64 / 1e9;
        if seconds > 0.0 {
            let rate = (interval.transactions - before) as f64 / seconds;
            batch.push(&key(names.per_second), at_ns, rate);
        }
        let errors = interval.errors - errors_before;
        let due = errors + (interval.transactions - before);
        // Without any error there is no series of them.
        if interval.errors > 0 && due > 0 {
            let share = errors as f64 / due as f64;
            batch.push(&key(names.error_ratio), at_ns, share);
        }
        if !interval.latency.is_empty() {
            for (metric, q) in [(names.latency_p50, 0.5), (names.latency_p99, 0.99)] {
                let seconds = interval.latency.quantile(q) as f64 / 1e9;
                batch.push(&key(metric), at_ns, seconds);
            }
        }
        if let Some(looks) = names.looks {
            let failed = errors + interval.refused;
            self.has_failed |= failed > 0;
            if self.has_failed && seconds > 0.0 {
                let per_s = failed as f64 / seconds;
                batch.push(&key(looks.failed_per_second), at_ns, per_s);
            }
            let answered = interval.transactions - before;
            let means = interval.spent.means(answered);
            means.for_each(|(metric, seconds)| batch.push(&key(metric.name), at_ns, seconds));
        }
        let round_trip = key(names.round_trip);
        for (t_ns, latency_ns) in &interval.kept {
            let at_ns = t_ns - series.t0_ns;
            batch.push(&round_trip, at_ns, *latency_ns as f64 / 1e9);
        }
        self.keep(&interval, &label);
        self.output.store(interval.t_ns, &mut batch);
        self.output.emit(batch);
    }

    /// Adds an interval's distributions to the stored ones and to those of the whole phase.
    fn keep(&mut self, interval: &Interval, label: &str) {
        let flow = self.collected.flows.entry(interval.flow).or_default();
        flow.spent.add(&interval.spent);
        let names = self.names;
        let all = [
            (names.latency, &interval.latency, &mut flow.latency),
            (names.service, &interval.service, &mut flow.service),
            (names.connect, &interval.connect, &mut flow.connect),
            (names.handshake, &interval.handshake, &mut flow.handshake),
        ];
        self.output.keep(label, interval.t_ns, all);
    }
}
