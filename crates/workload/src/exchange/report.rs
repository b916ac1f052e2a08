//! The reporting thread of an exchange: intervals become series, and the end of all asking is told.

use std::collections::BTreeMap;
use std::sync::mpsc::Receiver;

use serde::{Deserialize, Serialize};
use sokudo_model::kinds::Exchange;
use sokudo_model::{Batch, Metric};
use sokudo_stats::Histogram;

use super::{Answered, Asked, Details, Interval, Report};
use crate::contract::Emit;
use crate::failures::Failures;
use crate::histogram_text;
use crate::joined::NS;
use crate::reporting::{Names, Output};

/// Records of one flow over the whole phase.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Recorded<D: Details> {
    /// From the intended start.
    #[serde(with = "histogram_text")]
    pub latency: Histogram,
    /// From the real start; empty in a closed loop.
    #[serde(with = "histogram_text")]
    pub service: Histogram,
    /// From the intended to the real start of requests that there was room for; empty in a closed
    /// loop.
    #[serde(with = "histogram_text")]
    pub start_delay: Histogram,
    /// Details of this kind of exchange.
    pub details: D,
}

/// Everything that was handed over, when all threads have ended.
#[derive(Debug)]
pub struct Collected<D: Details> {
    /// Asking threads.
    pub asked: Vec<Asked>,
    /// Answering threads.
    pub answered: Vec<Answered>,
    /// Flow → what it recorded.
    pub flows: BTreeMap<u32, Recorded<D>>,
}

impl<D: Details> Default for Collected<D> {
    fn default() -> Self {
        Self {
            asked: Vec::new(),
            answered: Vec::new(),
            flows: BTreeMap::new(),
        }
    }
}

/// The reporting thread.
pub struct Reporter<D: Details> {
    numbers: &'static Exchange,
    output: Output,
    /// Flow → when it reported last, and its counts of answers and errors then.
    last: BTreeMap<u32, (i64, u64, u64)>,
    /// Flow → the counts of its details so far that are series.
    told: BTreeMap<u32, Vec<(Metric, u64)>>,
    /// Flow → labels of its requests by name.
    request_names: BTreeMap<u32, Vec<String>>,
    /// Whether any request failed so far: without any there is no series of them.
    has_failed: bool,
    reasons: Failures,
    collected: Collected<D>,
}

impl<D: Details> Reporter<D> {
    /// Reports for a phase with this many asking threads, under the names of `source`.
    pub fn new(
        (source, numbers): (&'static str, &'static Exchange),
        series: Names,
        emit: Emit,
        asking: usize,
    ) -> Self {
        Self {
            numbers,
            output: Output::new(series, source, emit, asking),
            last: BTreeMap::new(),
            told: BTreeMap::new(),
            request_names: BTreeMap::new(),
            has_failed: false,
            reasons: Failures::default(),
            collected: Collected::default(),
        }
    }

    /// Labels of the requests of each flow, for a kind whose requests have names.
    pub fn naming(mut self, request_names: BTreeMap<u32, Vec<String>>) -> Self {
        self.request_names = request_names;
        self
    }

    /// Takes reports until all measuring threads have ended.
    pub fn run(mut self, reports: &Receiver<Report<D>>) -> Collected<D> {
        self.say_when_over();
        while let Ok(report) = reports.recv() {
            match report {
                Report::Interval(interval) => self.interval(&interval),
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

    fn interval(&mut self, interval: &Interval<D>) {
        let mut batch = Batch::default();
        let (flow, numbers, series) = (interval.flow, self.numbers, &self.output.names);
        let label = series.label(flow);
        let at_ns = interval.t_ns - series.t0_ns;
        let key = |metric| self.output.key(metric, &label);
        let begun = (series.start_ns, 0, 0);
        let now = (interval.t_ns, interval.transactions, interval.errors);
        let (since_ns, before, errors_before) = self.last.insert(flow, now).unwrap_or(begun);
        let seconds = (interval.t_ns - since_ns) as f64 * NS;
        let answered = interval.transactions - before;
        let errors = interval.errors - errors_before;
        let failed = errors + interval.details.refused();
        self.has_failed |= failed > 0;
        if seconds > 0.0 {
            let rate = answered as f64 / seconds;
            batch.push(&key(numbers.per_second), at_ns, rate);
            if let Some(metric) = numbers.failed_per_second.filter(|_| self.has_failed) {
                batch.push(&key(metric), at_ns, failed as f64 / seconds);
            }
        }
        // Without any error there is no series of them.
        if interval.errors > 0 && errors + answered > 0 {
            let share = errors as f64 / (errors + answered) as f64;
            batch.push(&key(numbers.error_ratio), at_ns, share);
        }
        // From the first one on, each interval says how many there were.
        if interval.errors > 0 {
            batch.push(&key(numbers.errors), at_ns, interval.errors as f64);
        }
        let told = self.told.entry(flow).or_default();
        for (metric, count) in interval.details.told().filter(|(_, count)| *count > 0) {
            let so_far = match told.iter_mut().find(|(known, _)| *known == metric) {
                Some((_, so_far)) => so_far,
                None => {
                    told.push((metric, 0));
                    &mut told.last_mut().expect("just added").1
                }
            };
            *so_far += count;
            batch.push(&key(metric), at_ns, *so_far as f64);
        }
        for (code, message, count) in interval.details.reasons() {
            self.reasons.add(&label, (&code, &message), count);
        }
        self.output.tell(&mut self.reasons, at_ns, &mut batch);
        if !interval.latency.is_empty() {
            for (metric, q) in [(numbers.latency_p50, 0.5), (numbers.latency_p99, 0.99)] {
                let seconds = interval.latency.quantile(q) as f64 * NS;
                batch.push(&key(metric), at_ns, seconds);
            }
        }
        for (metric, value) in interval.details.values(answered) {
            batch.push(&key(metric), at_ns, value);
        }
        let round_trip = key(numbers.round_trip);
        for (t_ns, latency_ns) in &interval.kept {
            let at_ns = t_ns - series.t0_ns;
            batch.push(&round_trip, at_ns, *latency_ns as f64 * NS);
        }
        self.keep(interval, &label);
        self.names(interval, seconds, &mut batch);
        self.output.store(interval.t_ns, &mut batch);
        self.output.emit(batch);
    }

    /// Adds an interval's distributions to the stored ones and to those of the whole phase.
    fn keep(&mut self, interval: &Interval<D>, label: &str) {
        let flow = self.collected.flows.entry(interval.flow).or_default();
        let (numbers, t_ns) = (self.numbers, interval.t_ns);
        let all = [
            (numbers.latency, &interval.latency, &mut flow.latency),
            (numbers.service, &interval.service, &mut flow.service),
            (
                numbers.start_delay,
                &interval.start_delay,
                &mut flow.start_delay,
            ),
        ];
        self.output.keep(label, t_ns, all);
        flow.details.merge(&interval.details);
        for (metric, more) in interval.details.distributions() {
            self.output.add(metric, label, t_ns, more);
        }
    }

    /// Series and distributions of the requests of each name.
    fn names(&mut self, interval: &Interval<D>, seconds: f64, batch: &mut Batch) {
        let (Some(numbers), Some(labels)) =
            (self.numbers.named, self.request_names.get(&interval.flow))
        else {
            return;
        };
        let at_ns = interval.t_ns - self.output.names.t0_ns;
        for (label, (latency, errors)) in labels.iter().zip(interval.details.by_name()) {
            let mut push =
                |metric, value| batch.push(&self.output.key(metric, label), at_ns, value);
            if seconds > 0.0 {
                push(numbers.per_second, latency.len() as f64 / seconds);
                if errors > 0 {
                    push(numbers.errors_per_second, errors as f64 / seconds);
                }
            }
            if !latency.is_empty() {
                for (metric, q) in [(numbers.latency_p50, 0.5), (numbers.latency_p99, 0.99)] {
                    push(metric, latency.quantile(q) as f64 * NS);
                }
            }
            self.output
                .add(numbers.latency, label, interval.t_ns, latency);
        }
    }
}
