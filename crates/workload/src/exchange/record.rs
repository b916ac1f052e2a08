//! The record of one asking thread.
//!
//! Every round trip goes into histograms that the thread owns; at each interval it hands them to
//! the reporting thread ([`Records`]). Nothing else happens on the measured path.

use std::sync::mpsc::SyncSender;

use serde::{Deserialize, Serialize};
use sokudo_net::clock::{coarse_now_ns, now_ns};
use sokudo_stats::Histogram;

use super::{Answered, Asked, Details};
use crate::handover::{Lent, Records, Reusable};
use crate::joined::ratio;
use crate::load_time::{LONG_GAP, LoadTime, untried};
use crate::sample::{Sample, Sampler};
use crate::schedule::LATE_NS;

/// Most round trips handed over in one report.
const KEPT_PER_REPORT: usize = 100_000;

/// Counts of a flow's asking end, since the end of the warm-up.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Counts {
    /// Requests that were answered.
    pub transactions: u64,
    /// Those of them whose latency was taken.
    pub timed: u64,
    /// Requests without an answer in time, and those under way when their connection broke.
    pub errors: u64,
    /// Requests whose time came and that were never sent.
    pub unstarted: u64,
    /// Requests that left more than a millisecond late although there was room for them.
    pub late: u64,
    /// Requests that had to wait because as many as allowed were unanswered.
    pub window_full: u64,
    /// Connections that ended before the test did.
    pub connections_lost: u64,
    /// First answer counted minus its service time, nanoseconds.
    pub first_ns: Option<i64>,
    /// Last answer, nanoseconds.
    pub last_ns: i64,
    /// Last failure, nanoseconds.
    #[serde(default)]
    pub failed_ns: i64,
    /// Begin of what counts, nanoseconds.
    #[serde(default)]
    pub from_ns: i64,
    /// Departure of the latest request that was answered: a backlog leaves after the end of the load.
    #[serde(default)]
    pub left_ns: i64,
    /// Time at which the amount that was asked for was reached; `None` when the time, the operator or a
    /// failure ended the load.
    #[serde(default)]
    pub reached_ns: Option<i64>,
    /// End of the record, nanoseconds.
    #[serde(default)]
    pub closed_ns: i64,
    /// Gaps between answers, and before the first one, in which a request failed, nanoseconds.
    #[serde(default)]
    pub silent_ns: i64,
    /// A request failed, or a connection was lost, and no answer came since.
    #[serde(default)]
    pub is_silent: bool,
    /// Sum of the times from the begin until each connection was lost, nanoseconds.
    #[serde(default)]
    pub lost_after_ns: i64,
    /// Sum of the latencies, seconds.
    pub sum_s: f64,
    /// Sum of their squares.
    pub sum_squares_s: f64,
    /// The first failure.
    pub error: Option<String>,
}

impl Counts {
    /// The first answer came after a failure.
    #[cold]
    fn end_silence(&mut self, now: i64) {
        self.is_silent = false;
        self.silent_ns += self.silence(now - self.last_through_ns());
    }

    /// A gap between answers in which a request failed, as far as the requests had time to be answered in it: where
    /// failures are as quick as answers, a short gap is chance.
    fn silence(&self, gap_ns: i64) -> i64 {
        let mean_s = ratio(self.sum_s, self.timed as f64).unwrap_or(0.0);
        let is_long = gap_ns as f64 * 1e-9 >= mean_s * LONG_GAP;
        if is_long { gap_ns.max(0) } else { 0 }
    }

    /// Last answer, or the begin when there was none.
    pub fn last_through_ns(&self) -> i64 {
        self.first_ns.map_or(self.from_ns, |_| self.last_ns)
    }

    /// The time of the load, which was planned to be so long; `None` when only an amount was to end it.
    pub fn load_time(&self, planned_ns: Option<i64>) -> LoadTime {
        let load_ns = match (self.reached_ns, planned_ns) {
            (Some(reached_ns), _) => reached_ns.saturating_sub(self.from_ns),
            // A backlog that still left afterwards has prolonged the load.
            (None, Some(planned_ns)) => planned_ns.max(self.left_ns.saturating_sub(self.from_ns)),
            (None, None) => self.closed_ns.saturating_sub(self.from_ns),
        };
        let through_ns = self.first_ns.map(|first_ns| (first_ns, self.last_ns));
        LoadTime::new(load_ns, LoadTime::since(self.from_ns, through_ns))
    }

    /// Requests that were due and never sent: of a schedule, those whose time came. A closed loop of so many
    /// connections has no times: what it could not try while they were of no use goes by the pace of its
    /// answers.
    pub fn unstarted(&self, load: &LoadTime, connections: u64, asked_per_s: Option<f64>) -> u64 {
        let is_over = self.reached_ns.is_some() || self.unstarted > 0;
        if asked_per_s.is_some() || is_over {
            return self.unstarted;
        }
        let lost = self.lost_share(load, connections);
        untried(self.transactions, self.errors, lost)
    }

    /// Share of the load, 0 to 1, in which its connections were of no use: requests failed and none was
    /// answered, or they were lost.
    fn lost_share(&self, load: &LoadTime, connections: u64) -> f64 {
        let load_ns = load.length_ns() as f64;
        let tail_ns = match self.is_silent {
            true => {
                let through_ns = self.last_through_ns().saturating_sub(self.from_ns);
                self.silence(load.length_ns().saturating_sub(through_ns))
            }
            false => 0,
        };
        let silent = self.silent_ns.saturating_add(tail_ns) as f64 / load_ns;
        let lost_ns = load_ns * self.connections_lost as f64 - self.lost_after_ns as f64;
        let lost = lost_ns / (load_ns * connections.max(1) as f64);
        silent.max(lost).clamp(0.0, 1.0)
    }
}

/// One thread's interval, for the reporting thread.
#[derive(Debug, Default)]
pub struct Interval<D> {
    /// Number of the flow in the phase.
    pub flow: u32,
    /// End of the interval, monotonic nanoseconds.
    pub t_ns: i64,
    /// Answered requests so far.
    pub transactions: u64,
    /// Requests so far without an answer.
    pub errors: u64,
    /// From the intended start, since the last report.
    pub latency: Histogram,
    /// From the real start; empty in a closed loop, where both are the same.
    pub service: Histogram,
    /// From the intended to the real start of requests that there was room for; empty in a closed
    /// loop.
    pub start_delay: Histogram,
    /// Round trips one by one: when answered, latency in nanoseconds.
    pub kept: Vec<(i64, u64)>,
    /// Details of this kind of exchange, since the last report.
    pub details: D,
}

impl<D: Details> Interval<D> {
    /// An empty one, written to without allocating.
    fn prepared(scope: &Scope) -> Self {
        let of_open = || match scope.is_open {
            true => Histogram::allocated(),
            false => Histogram::new(),
        };
        Self {
            flow: scope.flow,
            latency: Histogram::allocated(),
            service: of_open(),
            start_delay: of_open(),
            kept: Vec::with_capacity((scope.keep as usize).min(KEPT_PER_REPORT)),
            details: D::prepared(),
            ..Self::default()
        }
    }
}

impl<D: Details> Reusable for Interval<D> {
    fn clear(&mut self) {
        self.latency.clear();
        self.service.clear();
        self.start_delay.clear();
        self.kept.clear();
        self.details.clear();
    }
}

/// Message of a measuring thread to the reporting thread.
#[derive(Debug)]
pub enum Report<D: Details> {
    /// An interval has passed.
    Interval(Lent<Interval<D>>),
    /// An asking thread has ended.
    Asked(Box<Asked>),
    /// An answering thread has ended.
    Answered(Answered),
}

/// Recorder of one asking thread.
pub struct Recorder<D: Details = ()> {
    /// Counters.
    pub counts: Counts,
    records: Records<Interval<D>>,
    sampler: Sampler,
    keep_left: u64,
    is_open: bool,
    /// Before this moment nothing counts.
    count_from_ns: i64,
    interval_ns: i64,
    report_at_ns: i64,
    reports: SyncSender<Report<D>>,
}

/// Settings of a recorder.
#[derive(Debug, Clone, Copy)]
pub struct Scope {
    /// Number of the flow in the phase.
    pub flow: u32,
    /// Before this moment nothing counts.
    pub count_from_ns: i64,
    /// Time between two reports.
    pub interval_ns: u64,
    /// Requests whose latency is taken.
    pub sample: Sample,
    /// Round trips to hand over one by one.
    pub keep: u64,
    /// True when requests have intended starts of their own.
    pub is_open: bool,
}

impl<D: Details> Recorder<D> {
    /// A recorder of one flow.
    pub fn new(scope: Scope, reports: SyncSender<Report<D>>) -> Self {
        let interval_ns = i64::try_from(scope.interval_ns).unwrap_or(i64::MAX);
        Self {
            counts: Counts {
                from_ns: scope.count_from_ns,
                ..Counts::default()
            },
            records: Records::new(|| Interval::prepared(&scope)),
            sampler: Sampler::new(scope.sample),
            keep_left: scope.keep,
            is_open: scope.is_open,
            count_from_ns: scope.count_from_ns,
            interval_ns,
            report_at_ns: scope.count_from_ns.saturating_add(interval_ns),
            reports,
        }
    }

    /// Time at which the thread has to call [`Recorder::report`] next.
    #[inline]
    pub fn report_at_ns(&self) -> i64 {
        self.report_at_ns
    }

    /// Begin of the measurement: before that nothing counts.
    pub fn count_from_ns(&self) -> i64 {
        self.count_from_ns
    }

    /// True for what belongs to the measurement, by its intended start.
    #[inline]
    pub fn counts(&self, intended_ns: i64) -> bool {
        intended_ns >= self.count_from_ns
    }

    /// A request left now. `had_room` is false when it had to wait for an answer first.
    #[inline]
    pub fn sent(&mut self, intended_ns: i64, now: i64, had_room: bool) {
        if !self.is_open || !self.counts(intended_ns) {
            return;
        }
        if !had_room {
            self.counts.window_full += 1;
            return;
        }
        let delay_ns = now - intended_ns;
        self.records.start_delay.record(delay_ns.max(0) as u64);
        if delay_ns > LATE_NS {
            self.counts.late += 1;
        }
    }

    /// True when latencies are left out and the clock need not be exact for them.
    #[inline]
    pub fn is_sparse(&self) -> bool {
        // The first and the last moment that count are exact.
        self.sampler.is_sparse() && !self.is_open && self.counts.first_ns.is_some()
    }

    /// The time, only as exact as the next latency needs it when many are left out.
    #[inline]
    pub fn clock_ns(&self) -> i64 {
        match self.is_sparse() && !self.sampler.will_take() {
            true => coarse_now_ns(),
            false => now_ns(),
        }
    }

    /// An answer came now.
    #[inline]
    pub fn answered(&mut self, intended_ns: i64, sent_ns: i64, now: i64) {
        if !self.counts(intended_ns) {
            return;
        }
        let counts = &mut self.counts;
        if counts.is_silent {
            counts.end_silence(now);
        }
        counts.transactions += 1;
        counts.first_ns.get_or_insert(sent_ns);
        counts.last_ns = now;
        counts.left_ns = counts.left_ns.max(sent_ns);
        if !self.sampler.takes() {
            return;
        }
        let latency_ns = (now - intended_ns).max(0) as u64;
        self.records.latency.record(latency_ns);
        if self.is_open {
            self.records.service.record((now - sent_ns).max(0) as u64);
        }
        let latency_s = latency_ns as f64 * 1e-9;
        counts.timed += 1;
        counts.sum_s += latency_s;
        counts.sum_squares_s += latency_s * latency_s;
        if self.keep_left > 0 && self.records.kept.len() < KEPT_PER_REPORT {
            self.keep_left -= 1;
            self.records.kept.push((now, latency_ns));
        }
    }

    /// The last answer has just come: makes its moment exact.
    pub fn closes(&mut self) {
        if self.is_sparse() {
            self.counts.last_ns = now_ns();
        }
    }

    /// Details of the interval to which a request with this intended start belongs; `None` when it
    /// does not count.
    #[inline]
    pub fn details(&mut self, intended_ns: i64) -> Option<&mut D> {
        match self.counts(intended_ns) {
            true => Some(&mut self.records.details),
            false => None,
        }
    }

    /// Requests failed.
    #[cold]
    pub fn failed(&mut self, intended_ns: i64, why: impl FnOnce() -> String) {
        if self.counts(intended_ns) {
            self.counts.errors += 1;
            self.counts.is_silent = true;
            self.counts.failed_ns = now_ns();
        }
        self.counts.error.get_or_insert_with(why);
    }

    /// The amount that was asked for was reached, with the last answer or failure. The load of a schedule lasts
    /// until its next request would have been due, at `due_ns`.
    pub fn reached(&mut self, due_ns: Option<i64>) {
        let counts = &mut self.counts;
        let ended_ns = counts.last_ns.max(counts.failed_ns);
        counts.reached_ns = Some(ended_ns.max(due_ns.unwrap_or(i64::MIN)));
    }

    /// A connection was lost for good.
    #[cold]
    pub fn lost_connection(&mut self, now: i64) {
        let counts = &mut self.counts;
        counts.connections_lost += 1;
        counts.is_silent = true;
        counts.lost_after_ns += (now - counts.from_ns).max(0);
    }

    /// Hands the interval over. When the reporting thread is behind, it is kept for the next time.
    pub fn report(&mut self, now: i64) {
        self.report_at_ns = now.saturating_add(self.interval_ns);
        self.close(now);
        let unwrap = |report| match report {
            Report::Interval(interval) => Some(interval),
            Report::Asked(_) | Report::Answered(_) => None,
        };
        self.records
            .hand_over(&self.reports, Report::Interval, unwrap);
    }

    /// Puts the counters so far into the interval.
    fn close(&mut self, now: i64) {
        self.records.t_ns = now;
        self.records.transactions = self.counts.transactions;
        self.records.errors = self.counts.errors;
    }

    /// Ends the record; hands over what is left.
    pub fn finish(mut self, now: i64) -> Counts {
        self.close(now);
        self.counts.closed_ns = now;
        // Fails only when the reporting thread has ended.
        let _ = self.reports.send(Report::Interval(self.records.last()));
        self.counts
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    fn recorder(is_open: bool, reports: &SyncSender<Report<()>>) -> Recorder {
        let scope = Scope {
            flow: 0,
            count_from_ns: 100,
            interval_ns: 1_000,
            sample: Sample::All,
            keep: 0,
            is_open,
        };
        Recorder::new(scope, reports.clone())
    }

    /// Start delays and counts of requests before the warm-up's end, late by itself, on time, and late because
    /// no connection was free.
    fn delays(is_open: bool) -> (Histogram, Counts) {
        let (reports, queue) = mpsc::sync_channel(4);
        let mut recorder = recorder(is_open, &reports);
        recorder.sent(50, 90, true);
        recorder.sent(200, 207, true);
        recorder.sent(300, 300, true);
        recorder.sent(400, 9_000_000, false);
        recorder.sent(500, 500 + LATE_NS + 1, true);
        let counts = recorder.finish(10_000_000);
        match queue.recv() {
            Ok(Report::Interval(interval)) => (interval.start_delay.clone(), counts),
            other => panic!("an interval, not {other:?}"),
        }
    }

    #[test]
    fn the_generators_own_delay_is_told_apart_from_waiting_for_room() {
        let (delay, counts) = delays(true);
        assert_eq!((delay.len(), counts.window_full, counts.late), (3, 1, 1));
        assert_eq!((delay.quantile(0.0), delay.quantile(0.5)), (0, 7));
        assert!(delay.quantile(1.0) as i64 > LATE_NS);
    }

    #[test]
    fn failures_among_answers_leave_nothing_untried_and_a_dead_end_does() {
        const MS: i64 = 1_000_000;
        let of = |failing: std::ops::Range<i64>| {
            let mut counts = Counts::default();
            for at in 0..1_000 {
                let now = at * MS;
                match at % 3 == 0 && !failing.contains(&at) {
                    true => {
                        if counts.is_silent {
                            counts.end_silence(now);
                        }
                        counts.transactions += 1;
                        counts.timed += 1;
                        counts.sum_s += 0.001;
                        counts.first_ns.get_or_insert(now);
                        counts.last_ns = now;
                    }
                    false => {
                        counts.errors += u64::from(!failing.contains(&at));
                        counts.is_silent = true;
                    }
                }
            }
            counts.unstarted(&LoadTime::new(1_000 * MS, None), 1, None)
        };
        assert_eq!(of(0..0), 0);
        // 100 answers in 0.3 s make 237 in the rest; 200 requests were tried and failed.
        assert_eq!(of(300..1_000), 237 - 200);
    }

    #[test]
    fn a_closed_loop_has_no_intended_starts_to_be_late_for() {
        let (delay, counts) = delays(false);
        assert_eq!((delay.len(), counts.window_full, counts.late), (0, 0, 0));
    }
}
