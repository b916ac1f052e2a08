//! A time series of requests with a bounded number of steps.
//!
//! A timeline starts with fine steps; when there are too many, pairs of neighbours become one. The
//! steps are aligned to multiples of their length, so that timelines of different lengths still fit
//! on each other.

use hdrhistogram::Histogram;

use super::Request;

/// Length of the first steps, milliseconds.
const FINEST_MS: i64 = 125;
/// Steps of one timeline at most.
pub const MOST_STEPS: usize = 512;
/// From this length on a step is a second at least: the rates of shorter ones mostly show chance.
const SECONDS_FROM_MS: i64 = 30_000;

/// The content of a step of a timeline.
pub trait TimelineStep: Default {
    /// Adds what `other` counted.
    fn merge(&mut self, other: Self);
}

/// Steps over time.
#[derive(Debug, Clone)]
pub struct Timeline<S> {
    width_ms: i64,
    /// Number of the first step: its start over the width.
    first: i64,
    steps: Vec<S>,
}

impl<S> Default for Timeline<S> {
    fn default() -> Self {
        Self {
            width_ms: FINEST_MS,
            first: 0,
            steps: Vec::new(),
        }
    }
}

impl<S: TimelineStep> Timeline<S> {
    /// Length of a step, milliseconds.
    pub fn width_ms(&self) -> i64 {
        self.width_ms
    }

    /// Each step with its start, milliseconds since 1970.
    pub fn steps(&self) -> impl Iterator<Item = (i64, &S)> {
        let start = move |i: usize| (self.first + i as i64) * self.width_ms;
        self.steps
            .iter()
            .enumerate()
            .map(move |(i, s)| (start(i), s))
    }

    /// The step of a moment, made when there is none yet.
    #[inline]
    pub(super) fn at(&mut self, t_ms: i64) -> &mut S {
        let place = t_ms.div_euclid(self.width_ms) - self.first;
        if let Some(place) = usize::try_from(place)
            .ok()
            .filter(|p| *p < self.steps.len())
        {
            return &mut self.steps[place];
        }
        self.reach(t_ms)
    }

    /// Makes room for a moment outside the steps there are.
    fn reach(&mut self, t_ms: i64) -> &mut S {
        if self.steps.is_empty() {
            self.first = t_ms.div_euclid(self.width_ms);
        }
        loop {
            let wanted = t_ms.div_euclid(self.width_ms);
            let first = self.first.min(wanted);
            let end = (self.first + self.steps.len() as i64).max(wanted + 1);
            if end - first > MOST_STEPS as i64 {
                self.coarsen();
                continue;
            }
            let before = (self.first - first) as usize;
            if before > 0 {
                self.steps.splice(0..0, (0..before).map(|_| S::default()));
                self.first = first;
            }
            let n = (end - first) as usize;
            self.steps.resize_with(n, S::default);
            return &mut self.steps[(wanted - first) as usize];
        }
    }

    /// Doubles the length of the steps.
    fn coarsen(&mut self) {
        let first = self.first.div_euclid(2);
        let mut merged: Vec<S> = Vec::with_capacity(self.steps.len() / 2 + 1);
        for (i, step) in std::mem::take(&mut self.steps).into_iter().enumerate() {
            let place = ((self.first + i as i64).div_euclid(2) - first) as usize;
            if place == merged.len() {
                merged.push(step);
            } else {
                merged[place].merge(step);
            }
        }
        self.width_ms *= 2;
        self.first = first;
        self.steps = merged;
    }

    /// Makes steps of `width_ms` at least.
    pub(super) fn widen(&mut self, width_ms: i64) {
        while self.width_ms < width_ms {
            self.coarsen();
        }
    }

    /// The length of step that suits a timeline of this length.
    pub(super) fn suitable_ms(&self) -> i64 {
        let length = self.width_ms * self.steps.len() as i64;
        match length >= SECONDS_FROM_MS {
            true => self.width_ms.max(1000),
            false => self.width_ms,
        }
    }
}

/// One step of a label: what ended in it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Slot {
    /// Requests that ended.
    pub n: u32,
    /// The failed ones of them.
    pub errors: u32,
    /// Sum of their response times, milliseconds.
    pub sum_ms: u64,
}

impl TimelineStep for Slot {
    fn merge(&mut self, other: Self) {
        self.n = self.n.saturating_add(other.n);
        self.errors = self.errors.saturating_add(other.errors);
        self.sum_ms = self.sum_ms.saturating_add(other.sum_ms);
    }
}

/// Sum and number of what is averaged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Mean {
    sum: u64,
    n: u64,
}

impl Mean {
    pub(super) fn add(&mut self, value: u64) {
        self.sum = self.sum.saturating_add(value);
        self.n += 1;
    }

    fn merge(&mut self, other: Self) {
        self.sum = self.sum.saturating_add(other.sum);
        self.n += other.n;
    }

    /// The mean; `None` of nothing.
    pub fn value(&self) -> Option<f64> {
        (self.n > 0).then(|| self.sum as f64 / self.n as f64)
    }
}

/// Time of requests with an answer by its parts, as far as a file of results has them: sums in
/// milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TimeSpent {
    n: u64,
    connect_ms: u64,
    wait_ms: u64,
    read_ms: u64,
}

impl TimeSpent {
    /// Counts a request that says when its first byte came; one without an answer has none.
    #[inline]
    pub(super) fn add(&mut self, request: &Request) {
        let Some(latency_ms) = request.latency_ms else {
            return;
        };
        // An answer within the first millisecond has a latency of 0, as a request without an answer
        // has. The latter has a sentence in place of a status.
        let has_status = request.code.first().is_some_and(u8::is_ascii_digit);
        if latency_ms == 0 && !request.success && !has_status {
            return;
        }
        let latency_ms = latency_ms.min(request.elapsed_ms);
        let connect_ms = request.connect_ms.unwrap_or(0).min(latency_ms);
        self.n += 1;
        self.connect_ms = self.connect_ms.saturating_add(connect_ms);
        self.wait_ms = self.wait_ms.saturating_add(latency_ms - connect_ms);
        self.read_ms = self.read_ms.saturating_add(request.elapsed_ms - latency_ms);
    }

    fn merge(&mut self, other: Self) {
        self.n += other.n;
        self.connect_ms = self.connect_ms.saturating_add(other.connect_ms);
        self.wait_ms = self.wait_ms.saturating_add(other.wait_ms);
        self.read_ms = self.read_ms.saturating_add(other.read_ms);
    }

    /// Requests that were counted.
    pub fn n(&self) -> u64 {
        self.n
    }

    /// Mean seconds until connected (name and TLS included), from there to the first byte, and from
    /// there to the last; `None` when nothing was counted.
    pub fn means_s(&self) -> Option<[f64; 3]> {
        let mean = |sum_ms: u64| sum_ms as f64 / self.n as f64 / 1e3;
        (self.n > 0).then(|| [self.connect_ms, self.wait_ms, self.read_ms].map(mean))
    }
}

/// One step of all requests together.
#[derive(Debug, Clone)]
pub struct Moment {
    /// Requests that started.
    pub started: u64,
    /// Requests that ended.
    pub ended: u64,
    /// The failed ones of them.
    pub errors: u64,
    /// Transactions that ended.
    pub transactions: u64,
    /// Bytes received by those that ended.
    pub bytes: u64,
    /// Bytes sent by those that ended.
    pub sent_bytes: u64,
    /// Time to the first byte, milliseconds.
    pub latency_ms: Mean,
    /// Time until connected, milliseconds; only of those that had to connect.
    pub connect_ms: Mean,
    /// The stages of the time of those that ended.
    pub spent: TimeSpent,
    /// Users alive; per sending host, in the order of the hosts.
    pub threads: Vec<Mean>,
    /// Number of answers per response code, in the order of the codes.
    pub codes: Vec<u32>,
    elapsed_ms: Histogram<u32>,
}

impl Default for Moment {
    fn default() -> Self {
        Self {
            started: 0,
            ended: 0,
            errors: 0,
            transactions: 0,
            bytes: 0,
            sent_bytes: 0,
            latency_ms: Mean::default(),
            connect_ms: Mean::default(),
            spent: TimeSpent::default(),
            threads: Vec::new(),
            codes: Vec::new(),
            elapsed_ms: Histogram::new(2)
                .expect("two digits are between the 0 and 5 that HdrHistogram accepts"),
        }
    }
}

impl Moment {
    #[inline]
    pub(super) fn took(&mut self, elapsed_ms: u64) {
        // Refused only beyond 2^63.
        let _ = self.elapsed_ms.record(elapsed_ms.min(1 << 31));
    }

    /// Response time that `percent` of those that ended do not exceed, milliseconds, to two
    /// significant digits; `None` when none ended.
    pub fn percentile_ms(&self, percent: f64) -> Option<u64> {
        let share = (percent / 100.0).clamp(0.0, 1.0);
        (!self.elapsed_ms.is_empty()).then(|| self.elapsed_ms.value_at_quantile(share))
    }

    /// Mean response time, milliseconds, to two significant digits; `None` when none ended.
    pub fn mean_ms(&self) -> Option<f64> {
        (!self.elapsed_ms.is_empty()).then(|| self.elapsed_ms.mean())
    }

    /// Response times as `(value in milliseconds, number)`, ascending.
    pub fn elapsed_ms(&self) -> impl Iterator<Item = (u64, u64)> {
        let recorded = self.elapsed_ms.iter_recorded();
        recorded.map(|v| (v.value_iterated_to(), u64::from(v.count_at_value())))
    }
}

impl TimelineStep for Moment {
    fn merge(&mut self, other: Self) {
        self.started += other.started;
        self.ended += other.ended;
        self.errors += other.errors;
        self.transactions += other.transactions;
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.sent_bytes = self.sent_bytes.saturating_add(other.sent_bytes);
        self.latency_ms.merge(other.latency_ms);
        self.connect_ms.merge(other.connect_ms);
        self.spent.merge(other.spent);
        if self.threads.len() < other.threads.len() {
            self.threads.resize(other.threads.len(), Mean::default());
        }
        for (own, other) in self.threads.iter_mut().zip(other.threads) {
            own.merge(other);
        }
        if self.codes.len() < other.codes.len() {
            self.codes.resize(other.codes.len(), 0);
        }
        for (own, other) in self.codes.iter_mut().zip(other.codes) {
            *own = own.saturating_add(other);
        }
        // Both grow by themselves, so adding cannot fail.
        let _ = self.elapsed_ms.add(&other.elapsed_ms);
    }
}
