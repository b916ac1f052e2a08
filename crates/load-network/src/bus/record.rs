//! The record of one thread of the bus.
//!
//! Counters and histograms that the thread owns; at each interval it hands them to the reporting
//! thread ([`Records`]). Nothing else happens on the measured path.

use std::io;
use std::sync::mpsc::SyncSender;

use serde::{Deserialize, Serialize};
use sokudo_model::Metric;
use sokudo_model::kinds::bus as numbers;
use sokudo_net::clock::{now_ns, thread_cpu_ns, thread_wait_ns};
use sokudo_stats::Histogram;
use sokudo_workload::handover::{Lent, Records, Reusable};
use sokudo_workload::limit::Exceeded;

use super::protocol::BadFrame;

/// Role of a thread in a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum End {
    /// Sends messages.
    Sending,
    /// Takes them.
    Receiving,
    /// Hands them on.
    Relaying,
}

/// Counts of a thread since its start. Messages of the warm-up count only in `all_*`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Messages sent, taken or handed on.
    pub messages: u64,
    /// Bytes of them, headers included.
    pub bytes: u64,
    /// The same with those of the warm-up.
    pub all_messages: u64,
    /// Responses that came in (sending) or went out (receiving).
    pub answers: u64,
    /// Bytes waiting: under way without a receipt (sending), or for a handling thread (receiving).
    pub backlog_bytes: u64,
    /// Most of them at any time.
    pub backlog_peak_bytes: u64,
    /// Most messages that were under way (sending).
    pub backlog_peak_messages: u64,
    /// Time during which the thread could not go on because too much was waiting.
    pub backlog_ns: u64,
    /// Number of times that this began.
    pub backlog_events: u64,
    /// Time during which it could not send, for whatever reason (sending), or nothing came
    /// (receiving).
    pub idle_ns: u64,
    /// Messages that left more than a millisecond late although there was room (sending).
    pub late: u64,
    /// Messages that had to wait for room (sending).
    pub window_full: u64,
    /// First counted message, monotonic nanoseconds.
    pub first_ns: Option<i64>,
    /// Last counted message.
    pub last_ns: i64,
}

impl Totals {
    /// A counted message at this moment.
    #[inline]
    pub fn count(&mut self, bytes: u32, now: i64) {
        self.messages += 1;
        self.bytes += u64::from(bytes);
        self.first_ns.get_or_insert(now);
        self.last_ns = now;
    }
}

/// One thread's interval, for the reporting thread.
#[derive(Debug)]
pub struct Interval {
    /// Number of the flow in the phase.
    pub flow: u32,
    /// The thread's end of the connection.
    pub end: End,
    /// End of the interval, monotonic nanoseconds.
    pub t_ns: i64,
    /// Counters so far.
    pub totals: Totals,
    /// From the intended time to the answer, since the last report.
    pub response: Histogram,
    /// From the real time to the answer.
    pub service: Histogram,
    /// From the real time to the receipt.
    pub receipt: Histogram,
    /// From arrival to the last byte handed on (relaying).
    pub relay: Histogram,
}

impl Interval {
    fn new(flow: u32, end: End) -> Self {
        Self {
            flow,
            end,
            t_ns: 0,
            totals: Totals::default(),
            response: Histogram::new(),
            service: Histogram::new(),
            receipt: Histogram::new(),
            relay: Histogram::new(),
        }
    }

    /// An empty one, written to without allocating.
    fn prepared(flow: u32, end: End) -> Self {
        let mut interval = Self::new(flow, end);
        match end {
            End::Sending => {
                interval.response = Histogram::allocated();
                interval.service = Histogram::allocated();
                interval.receipt = Histogram::allocated();
            }
            End::Receiving => {}
            End::Relaying => interval.relay = Histogram::allocated(),
        }
        interval
    }
}

impl Reusable for Interval {
    fn clear(&mut self) {
        for histogram in [
            &mut self.response,
            &mut self.service,
            &mut self.receipt,
            &mut self.relay,
        ] {
            histogram.clear();
        }
    }
}

/// Reason why a connection ended before the test did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum FailureKind {
    /// The far end closed it.
    Closed,
    /// The far end, or the way, reset it.
    Reset,
    /// Nothing came back in time.
    Silent,
    /// Messages under way at the end did not arrive in time.
    Undrained,
    /// Bytes came that are not frames, or answers to nothing.
    Foreign,
    /// The system said something else.
    Other,
}

impl FailureKind {
    /// The metric that counts it.
    pub fn metric(self) -> Metric {
        match self {
            FailureKind::Closed => numbers::CLOSED_CONNECTIONS,
            FailureKind::Reset => numbers::RESET_CONNECTIONS,
            FailureKind::Silent => numbers::SILENT_CONNECTIONS,
            FailureKind::Undrained => numbers::UNDRAINED_CONNECTIONS,
            FailureKind::Foreign => numbers::FOREIGN_CONNECTIONS,
            FailureKind::Other => numbers::OTHER_ERRORS,
        }
    }
}

/// A connection that ended before the test did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// Kind of the end.
    pub kind: FailureKind,
    /// Text for people.
    pub says: String,
}

impl Failure {
    /// One of a kind, in its own words.
    pub fn new(kind: FailureKind, says: impl Into<String>) -> Self {
        Self {
            kind,
            says: says.into(),
        }
    }

    /// The far end hung up.
    pub fn closed() -> Self {
        Self::new(FailureKind::Closed, "the far end closed the connection")
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::closed(),
            io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => {
                Self::new(FailureKind::Reset, "the far end reset the connection")
            }
            io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => {
                Self::new(FailureKind::Silent, "the far end took nothing in time")
            }
            _ => Self::new(FailureKind::Other, format!("the connection ended: {error}")),
        }
    }
}

impl From<Exceeded> for Failure {
    fn from(exceeded: Exceeded) -> Self {
        Self::new(FailureKind::Other, exceeded.to_string())
    }
}

impl From<BadFrame> for Failure {
    fn from(bad: BadFrame) -> Self {
        Self::new(FailureKind::Foreign, bad.to_string())
    }
}

/// Result of one thread.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Finished {
    /// Number of the flow in the phase.
    pub flow: u32,
    /// The thread's end of the connection.
    pub end: End,
    /// Its counters.
    pub totals: Totals,
    /// Time at which it was ready to send its first message, minus the agreed start, nanoseconds
    /// (sending).
    pub start_late_ns: Option<i64>,
    /// Messages under way when it ended: sent, and no receipt came.
    pub unacknowledged: u64,
    /// Answers that were asked for and did not come.
    pub unanswered: u64,
    /// Messages whose time came and that were never sent.
    pub unstarted: u64,
    /// Time at which all messages of a count had been sent, or the next one of a schedule would have been
    /// due, monotonic nanoseconds; `None` when something else ended the load (sending).
    #[serde(default)]
    pub reached_ns: Option<i64>,
    /// Connections used.
    pub connections: u64,
    /// Connections without the flow's ticket, or that brought no messages.
    pub strangers: u64,
    /// Reason of an early end.
    pub failure: Option<Failure>,
    /// CPU time of the thread, nanoseconds.
    pub cpu_ns: Option<u64>,
    /// Time that it was runnable without a CPU, nanoseconds.
    pub wait_ns: Option<u64>,
    /// Time from start to end, nanoseconds.
    pub elapsed_ns: i64,
}

/// Message of a measuring thread to the reporting thread.
#[derive(Debug)]
pub enum Report {
    /// An interval has passed.
    Interval(Lent<Interval>),
    /// The thread has ended.
    Finished(Box<Finished>),
}

/// Recorder of one thread.
pub struct Recorder {
    /// Counters.
    pub totals: Totals,
    /// Time at which it was ready to send its first message, minus the agreed start, nanoseconds.
    pub start_late_ns: Option<i64>,
    flow: u32,
    end: End,
    records: Records<Interval>,
    interval_ns: i64,
    report_at_ns: i64,
    begun_ns: i64,
    cpu_start: Option<u64>,
    wait_start: Option<u64>,
    reports: SyncSender<Report>,
}

impl Recorder {
    /// A recorder of the calling thread, which begins its work now.
    pub fn new(flow: u32, end: End, interval_ns: u64, reports: SyncSender<Report>) -> Self {
        let interval_ns = i64::try_from(interval_ns).unwrap_or(i64::MAX);
        let begun_ns = now_ns();
        Self {
            totals: Totals::default(),
            start_late_ns: None,
            flow,
            end,
            records: Records::new(|| Interval::prepared(flow, end)),
            interval_ns,
            report_at_ns: begun_ns.saturating_add(interval_ns),
            begun_ns,
            cpu_start: thread_cpu_ns(),
            wait_start: thread_wait_ns(),
            reports,
        }
    }

    /// Its work really begins now: what was before was waiting for it.
    pub fn begin_here(&mut self, now: i64) {
        self.begun_ns = now;
        self.cpu_start = thread_cpu_ns();
        self.wait_start = thread_wait_ns();
        self.totals.idle_ns = 0;
    }

    /// An answer came; both times in nanoseconds.
    #[inline]
    pub fn answered(&mut self, response_ns: i64, service_ns: i64) {
        self.records.response.record(response_ns.max(0) as u64);
        self.records.service.record(service_ns.max(0) as u64);
    }

    /// A receipt came for a measured message.
    #[inline]
    pub fn receipt(&mut self, ns: i64) {
        self.records.receipt.record(ns.max(0) as u64);
    }

    /// Messages were handed on.
    #[inline]
    pub fn relayed(&mut self, ns: i64, messages: u64) {
        self.records.relay.record_n(ns.max(0) as u64, messages);
    }

    /// Due time of the next report.
    #[inline]
    pub fn report_at_ns(&self) -> i64 {
        self.report_at_ns
    }

    /// Hands the interval over when it is over. When the reporting thread is behind, it is kept
    /// for the next time.
    #[inline]
    pub fn report_when_due(&mut self, now: i64) {
        if now >= self.report_at_ns {
            self.report(now);
        }
    }

    fn report(&mut self, now: i64) {
        self.report_at_ns = now.saturating_add(self.interval_ns);
        self.close(now);
        let unwrap = |report| match report {
            Report::Interval(interval) => Some(interval),
            Report::Finished(_) => None,
        };
        self.records
            .hand_over(&self.reports, Report::Interval, unwrap);
    }

    /// Puts the counters so far into the interval.
    fn close(&mut self, now: i64) {
        self.records.t_ns = now;
        self.records.totals = self.totals;
    }

    /// Ends the record; hands over what is left, and what `complete` adds.
    pub fn finish(mut self, failure: Option<Failure>, complete: impl FnOnce(&mut Finished)) {
        let now = now_ns();
        self.close(now);
        let since = |end: Option<u64>, start: Option<u64>| {
            let both = end.zip(start);
            both.map(|(end, start)| end.saturating_sub(start))
        };
        let mut finished = Finished {
            flow: self.flow,
            end: self.end,
            totals: self.totals,
            start_late_ns: self.start_late_ns,
            unacknowledged: 0,
            unanswered: 0,
            unstarted: 0,
            reached_ns: None,
            connections: 1,
            strangers: 0,
            failure,
            cpu_ns: since(thread_cpu_ns(), self.cpu_start),
            wait_ns: since(thread_wait_ns(), self.wait_start),
            elapsed_ns: now - self.begun_ns,
        };
        complete(&mut finished);
        // Both fail only when the reporting thread has ended.
        let _ = self.reports.send(Report::Interval(self.records.last()));
        let _ = self.reports.send(Report::Finished(Box::new(finished)));
    }
}
