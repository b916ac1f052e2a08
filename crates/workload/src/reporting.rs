//! Parts that the reporting threads of all loads share: names of series, and distributions that collect
//! until it is worth storing them.

use std::collections::BTreeMap;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread::JoinHandle;

use serde::Serialize;
use serde::de::DeserializeOwned;
use sokudo_model::{Batch, HistogramInterval, Labels, Metric, Refusal, SeriesKey, Text};
use sokudo_net::clock::now_ns;
use sokudo_stats::Histogram;

use crate::contract::{Emit, Emitted};
use crate::failures::Failures;
use crate::refusal::{failed, spawn};

/// Reports that may wait for the reporting thread.
pub const REPORT_QUEUE: usize = 4096;
/// Distributions are stored no more often than this, except at the end.
pub const HISTOGRAM_EVERY_NS: i64 = 1_000_000_000;

/// The reporting thread of a phase, once it was started, and the way to it. Dropping it waits for
/// the end of the thread: all senders must have been dropped before.
pub struct Reporting<R, T>(Option<(SyncSender<R>, JoinHandle<T>)>);

impl<R, T> Default for Reporting<R, T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<R: Send + 'static, T: Send + 'static> Reporting<R, T> {
    /// Starts the thread; gives the way to it.
    pub fn begin(
        &mut self,
        run: impl FnOnce(&Receiver<R>) -> T + Send + 'static,
    ) -> Result<SyncSender<R>, Refusal> {
        let (reports, queue) = mpsc::sync_channel(REPORT_QUEUE);
        let thread = spawn("report", move || run(&queue))?;
        self.0 = Some((reports.clone(), thread));
        Ok(reports)
    }

    /// Returns what the thread has collected, once all senders of reports are gone.
    ///
    /// Errors: the phase was never started, or the thread died.
    pub fn collected(&mut self) -> Result<T, Refusal> {
        let (reports, thread) = self.0.take().ok_or_else(never_started)?;
        drop(reports);
        thread
            .join()
            .map_err(|_| failed(Text::new("error-reporting-died"), None))
    }
}

impl<R, T> Drop for Reporting<R, T> {
    fn drop(&mut self) {
        if let Some((reports, thread)) = self.0.take() {
            drop(reports);
            // The result of a thread that panicked is missing.
            let _ = thread.join();
        }
    }
}

/// Says that there is nothing to collect.
pub fn never_started() -> Refusal {
    failed(Text::new("error-never-started"), None)
}

/// Numbers or an offer of this host as they travel.
pub fn as_text(told: &impl Serialize) -> Result<String, Refusal> {
    serde_json::to_string(told).map_err(|error| {
        failed(
            Text::new("error-result-unwritable").with("error", error),
            None,
        )
    })
}

/// Reads the numbers that [`as_text`] wrote.
pub fn from_text<T: DeserializeOwned>(text: &str) -> Result<T, Refusal> {
    serde_json::from_str(text).map_err(|error| {
        failed(
            Text::new("error-result-unreadable").with("error", error),
            None,
        )
    })
}

/// Names that series carry.
#[derive(Clone)]
pub struct Names {
    /// This host.
    pub host: String,
    /// Flow → label.
    pub flows: BTreeMap<u32, String>,
    /// Zero of all time stamps, monotonic nanoseconds.
    pub t0_ns: i64,
    /// Start of the load and of the first interval, monotonic nanoseconds.
    pub start_ns: i64,
}

impl Names {
    /// Name of a flow, for people.
    pub fn label(&self, flow: u32) -> String {
        let known = self.flows.get(&flow).cloned();
        known.unwrap_or_else(|| flow.to_string())
    }

    /// Names a series of one flow; of the whole host when `flow` is empty.
    pub fn key(&self, source: &str, metric: Metric, flow: &str) -> SeriesKey {
        let mut labels = Labels::new();
        if !flow.is_empty() {
            labels.insert("flow".into(), flow.into());
        }
        SeriesKey {
            host: self.host.clone(),
            source: source.into(),
            metric: metric.into(),
            labels,
        }
    }
}

struct Pending {
    metric: Metric,
    since_ns: i64,
    histogram: Histogram,
}

/// Distributions of one host that are not stored yet, by metric and flow label.
#[derive(Default)]
pub struct Distributions(BTreeMap<(&'static str, String), Pending>);

impl Distributions {
    /// Adds what was observed until `t_ns`.
    pub fn add(
        &mut self,
        names: &Names,
        metric: Metric,
        flow: String,
        t_ns: i64,
        more: &Histogram,
    ) {
        if more.is_empty() {
            return;
        }
        let pending = self.0.entry((metric.name, flow));
        let pending = pending.or_insert_with(|| Pending {
            metric,
            since_ns: names.start_ns.min(t_ns),
            histogram: Histogram::new(),
        });
        pending.histogram.merge(more);
    }

    /// Stores the distributions that have collected for `age_ns`, and begins new ones.
    pub fn flush(
        &mut self,
        names: &Names,
        source: &str,
        now_ns: i64,
        age_ns: i64,
        batch: &mut Batch,
    ) {
        for ((_, flow), pending) in &mut self.0 {
            if now_ns - pending.since_ns < age_ns || pending.histogram.is_empty() {
                continue;
            }
            batch.histograms.push(HistogramInterval {
                key: names.key(source, pending.metric, flow),
                t0_ns: pending.since_ns - names.t0_ns,
                t1_ns: now_ns - names.t0_ns,
                hdr_v2: pending.histogram.take().to_v2(),
            });
            pending.since_ns = now_ns;
        }
    }
}

/// Output of a phase's reporting thread.
pub struct Output {
    /// Names that its series carry.
    pub names: Names,
    source: &'static str,
    emit: Emit,
    distributions: Distributions,
    /// Threads of this host that still send.
    senders: usize,
}

impl Output {
    /// For a host on which so many threads send.
    pub fn new(names: Names, source: &'static str, emit: Emit, senders: usize) -> Self {
        Self {
            names,
            source,
            emit,
            distributions: Distributions::default(),
            senders,
        }
    }

    /// One of the sending threads has ended.
    pub fn sender_ended(&mut self) {
        self.senders = self.senders.saturating_sub(1);
    }

    /// Tells the other hosts what was sent, once all sending threads have ended.
    pub fn say_when_sent(&self, sent: impl FnOnce() -> String) {
        if self.senders == 0 {
            (self.emit)(Emitted::Sent(sent()));
        }
    }

    /// Names a series of one flow; of the whole host when `flow` is empty.
    pub fn key(&self, metric: Metric, flow: &str) -> SeriesKey {
        self.names.key(self.source, metric, flow)
    }

    /// Puts the reasons of failures that occurred since the last time into a batch.
    pub fn tell(&self, failures: &mut Failures, at_ns: i64, batch: &mut Batch) {
        failures.tell(&self.names, self.source, at_ns, batch);
    }

    /// Hands samples over.
    pub fn emit(&self, batch: Batch) {
        if !batch.is_empty() {
            (self.emit)(Emitted::Batch(batch));
        }
    }

    /// Adds what was observed until `t_ns`, to be stored when enough has collected.
    pub fn add(&mut self, metric: Metric, flow: &str, t_ns: i64, more: &Histogram) {
        self.distributions
            .add(&self.names, metric, flow.to_owned(), t_ns, more);
    }

    /// Adds distributions of one flow to those that are stored, and to those of the whole phase.
    pub fn keep<const N: usize>(
        &mut self,
        flow: &str,
        t_ns: i64,
        all: [(Metric, &Histogram, &mut Histogram); N],
    ) {
        for (metric, more, whole) in all {
            whole.merge(more);
            self.add(metric, flow, t_ns, more);
        }
    }

    /// Puts the distributions that have collected long enough into `batch`.
    pub fn store(&mut self, now_ns: i64, batch: &mut Batch) {
        self.flush(now_ns, HISTOGRAM_EVERY_NS, batch);
    }

    /// Hands over what has collected, at the end.
    pub fn finish(&mut self) {
        let mut batch = Batch::default();
        self.flush(now_ns(), 1, &mut batch);
        self.emit(batch);
    }

    fn flush(&mut self, now_ns: i64, age_ns: i64, batch: &mut Batch) {
        self.distributions
            .flush(&self.names, self.source, now_ns, age_ns, batch);
    }
}
