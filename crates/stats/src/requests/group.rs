//! Statistics of the requests of one label.

use hdrhistogram::Histogram;

use super::timeline::{TimeSpent, Timeline};
use super::{Request, Settings};

/// Longest response time that is distinguished from longer ones, milliseconds: about 24 days.
const LONGEST_MS: u64 = 1 << 31;

/// All requests of one label, or of all labels.
#[derive(Debug, Clone)]
pub struct LabelGroup {
    /// The label; foreign text.
    pub label: String,
    /// True when its rows sum up transactions.
    pub is_transaction: bool,
    /// Requests.
    pub n: u64,
    /// The failed ones of them.
    pub errors: u64,
    /// Bytes received.
    pub bytes: u64,
    /// Bytes sent.
    pub sent_bytes: u64,
    /// First start, milliseconds since 1970.
    pub first_ms: i64,
    /// Last end, milliseconds since 1970.
    pub last_ms: i64,
    /// Its timeline over time.
    pub timeline: Timeline<super::Slot>,
    /// The stages of the time of its requests.
    pub spent: TimeSpent,
    /// Failures by kind: index into the list of all kinds, and how many.
    pub failures: Vec<(usize, u64)>,
    elapsed_ms: Histogram<u32>,
    min_ms: u64,
    max_ms: u64,
    sum_ms: u64,
    failed_sum_ms: u64,
    satisfied: u64,
    tolerated: u64,
}

impl LabelGroup {
    pub(super) fn new(label: String, is_transaction: bool) -> Self {
        Self {
            label,
            is_transaction,
            n: 0,
            errors: 0,
            bytes: 0,
            sent_bytes: 0,
            first_ms: i64::MAX,
            last_ms: i64::MIN,
            timeline: Timeline::default(),
            spent: TimeSpent::default(),
            failures: Vec::new(),
            elapsed_ms: Histogram::new(super::super::histogram::DIGITS)
                .expect("three digits are between the 0 and 5 that HdrHistogram accepts"),
            min_ms: u64::MAX,
            max_ms: 0,
            sum_ms: 0,
            failed_sum_ms: 0,
            satisfied: 0,
            tolerated: 0,
        }
    }

    #[inline]
    pub(super) fn add(&mut self, request: &Request, settings: &Settings) {
        let elapsed_ms = request.elapsed_ms.min(LONGEST_MS);
        self.n += 1;
        self.bytes = self.bytes.saturating_add(request.bytes);
        self.sent_bytes = self.sent_bytes.saturating_add(request.sent_bytes);
        self.first_ms = self.first_ms.min(request.start_ms);
        self.last_ms = self.last_ms.max(request.end_ms());
        // Grows by itself; only a value beyond 2^63 is refused, and there is none.
        let _ = self.elapsed_ms.record(elapsed_ms);
        self.min_ms = self.min_ms.min(elapsed_ms);
        self.max_ms = self.max_ms.max(elapsed_ms);
        self.sum_ms = self.sum_ms.saturating_add(elapsed_ms);
        self.spent.add(request);
        if !request.success {
            self.errors += 1;
            self.failed_sum_ms = self.failed_sum_ms.saturating_add(elapsed_ms);
        } else if elapsed_ms <= settings.satisfied_ms {
            self.satisfied += 1;
        } else if elapsed_ms <= settings.tolerated_ms {
            self.tolerated += 1;
        }
    }

    pub(super) fn failed_as(&mut self, kind: usize) {
        match self.failures.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, n)) => *n += 1,
            None => self.failures.push((kind, 1)),
        }
    }

    /// Failed over all; 0 without requests.
    pub fn error_ratio(&self) -> f64 {
        ratio(self.errors as f64, self.n as f64)
    }

    /// Mean response time, milliseconds.
    pub fn mean_ms(&self) -> f64 {
        ratio(self.sum_ms as f64, self.n as f64)
    }

    /// Mean response time of those that succeeded, milliseconds; `None` when none did.
    pub fn good_mean_ms(&self) -> Option<f64> {
        let good = self.n - self.errors;
        (good > 0).then(|| (self.sum_ms - self.failed_sum_ms.min(self.sum_ms)) as f64 / good as f64)
    }

    /// Mean response time of those that failed, milliseconds; `None` when none did.
    pub fn failed_mean_ms(&self) -> Option<f64> {
        (self.errors > 0).then(|| self.failed_sum_ms as f64 / self.errors as f64)
    }

    /// Shortest response time, milliseconds; 0 without requests.
    pub fn min_ms(&self) -> u64 {
        if self.n == 0 { 0 } else { self.min_ms }
    }

    /// Longest response time, milliseconds.
    pub fn max_ms(&self) -> u64 {
        self.max_ms
    }

    /// Response time that `percent` of all requests do not exceed, milliseconds, to three
    /// significant digits; 0 without requests.
    pub fn percentile_ms(&self, percent: f64) -> u64 {
        if self.n == 0 {
            return 0;
        }
        let share = (percent / 100.0).clamp(0.0, 1.0);
        self.elapsed_ms.value_at_quantile(share).min(self.max_ms)
    }

    /// Time from the first start to the last end, seconds; a millisecond at least.
    pub fn seconds(&self) -> f64 {
        let ms = self.last_ms.saturating_sub(self.first_ms);
        if self.n == 0 {
            0.0
        } else {
            ms.max(1) as f64 / 1e3
        }
    }

    /// Requests per second over that time.
    pub fn per_second(&self) -> f64 {
        ratio(self.n as f64, self.seconds())
    }

    /// Bytes received per second.
    pub fn bytes_per_second(&self) -> f64 {
        ratio(self.bytes as f64, self.seconds())
    }

    /// Bytes sent per second.
    pub fn sent_bytes_per_second(&self) -> f64 {
        ratio(self.sent_bytes as f64, self.seconds())
    }

    /// Application performance index, 0 to 1: satisfied whole, tolerated half, failed not at all.
    pub fn apdex(&self) -> f64 {
        ratio(
            self.satisfied as f64 + self.tolerated as f64 / 2.0,
            self.n as f64,
        )
    }

    /// Requests that were satisfied, tolerated, slower than that, and failed.
    pub fn felt(&self) -> [u64; 4] {
        let good = self.satisfied + self.tolerated + self.errors;
        let slower = self.n.saturating_sub(good);
        [self.satisfied, self.tolerated, slower, self.errors]
    }

    /// Histogram of the elapsed times: `parts` equal steps up to the longest, as `(lower edge,
    /// number)`.
    pub fn distribution(&self, step_ms: u64) -> Vec<(u64, u64)> {
        let step_ms = step_ms.max(1);
        let mut out: Vec<(u64, u64)> = Vec::new();
        for value in self.elapsed_ms.iter_recorded() {
            let low = value.value_iterated_to().min(self.max_ms) / step_ms * step_ms;
            let n = u64::from(value.count_at_value());
            match out.last_mut().filter(|last| last.0 == low) {
                Some(last) => last.1 += n,
                None => out.push((low, n)),
            }
        }
        out
    }
}

fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}
