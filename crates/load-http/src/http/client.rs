//! The visitors of one event loop, and the record of their requests.
//!
//! Every visitor is one connection, or one stream of a connection of HTTP/2. In a closed loop each
//! response starts the next request. In an open loop a free visitor takes the next intended start and
//! waits for it; who finds starts that have passed sends at once, and latency counts from the intended
//! start.

use std::collections::BTreeMap;

use sokudo_http::crew::Crew;
use sokudo_http::{Exchange, Failure, FailureKind, Outcome, Phase, UserStep};
use sokudo_model::{Moments, Spent};
use sokudo_stats::Histogram;
use sokudo_workload::exchange::{Counts, Recorder};

use super::arrivals::Arrivals;
use super::course::LoopTask;
use super::record::VisitDetails;

/// Longest time after the end in which requests may leave whose time came before it.
const BACKLOG_NS: i64 = 1_000_000_000;

/// Most times that a request is sent again that the server has not begun.
const MOST_RESENDS: u32 = 8;

/// Counts of the visitors beside those that all exchanges have, since the end of the warm-up.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// Responses by the first digit of their status.
    pub(crate) classes: [u64; 10],
    /// Failures by stage and kind.
    pub(crate) failures: BTreeMap<(Phase, FailureKind), u64>,
    pub(crate) sent_bytes: u64,
    pub(crate) head_bytes: u64,
    pub(crate) body_bytes: u64,
    /// Connections made.
    pub(crate) connections: u64,
    /// Requests sent again because the server had not begun them.
    pub(crate) resent: u64,
    pub(crate) wait: Histogram,
    pub(crate) read: Histogram,
    /// All that were answered, the warm-up included.
    pub(crate) answered: u64,
}

impl Tally {
    /// True when the server answered nothing and said that it speaks no HTTP/2.
    pub(crate) fn met_no_http2(&self) -> bool {
        let mut kinds = self.failures.keys().map(|(_, kind)| *kind);
        self.answered == 0 && kinds.any(|kind| kind == FailureKind::NoHttp2)
    }
}

/// The visitors of one event loop.
pub(crate) struct Visitors {
    course: LoopTask,
    recorder: Recorder<VisitDetails>,
    tally: Tally,
    /// Visitor → the intended start that it waits for; 0 = none.
    waiting: Vec<i64>,
    /// Visitors that have come and not left.
    present: u64,
    /// Visitor → its number among all that ever came to this host.
    numbers: Vec<u64>,
    /// Visitor → the request that it sends again.
    again: Vec<Again>,
    /// The rate that others asked for last, as bits.
    rate_bits: u64,
    /// The server does not speak the protocol that was chosen: no more requests are sent.
    is_foreign: bool,
}

/// A request that the server has not begun.
#[derive(Debug, Clone, Copy, Default)]
struct Again {
    /// Intended start of its first sending; 0 = there is none.
    intended_ns: i64,
    /// Number of times that it was sent again.
    times: u32,
}

impl Visitors {
    /// Before the first has come.
    pub(crate) fn new(course: LoopTask, recorder: Recorder<VisitDetails>) -> Self {
        Self {
            course,
            recorder,
            tally: Tally::default(),
            waiting: Vec::new(),
            present: 0,
            numbers: Vec::new(),
            again: Vec::new(),
            rate_bits: 0,
            is_foreign: false,
        }
    }

    /// Due time of this visitor's next request, and whether the visitor was free before; `Err` with
    /// what it does instead.
    #[inline]
    fn due(&mut self, user: u32, now: i64) -> Result<(i64, bool), UserStep> {
        let Some(arrivals) = &mut self.course.arrivals else {
            return match now < self.course.end_ns {
                true => Ok((now, true)),
                false => Err(UserStep::End),
            };
        };
        let rate_bits = self.course.wanted.rate_bits();
        if rate_bits != self.rate_bits {
            self.rate_bits = rate_bits;
            arrivals.change(f64::from_bits(rate_bits), now);
        }
        let waiting = &mut self.waiting[user as usize];
        if *waiting != 0 {
            return match *waiting <= now {
                true => Ok((std::mem::take(waiting), true)),
                false => Err(UserStep::Pause { until_ns: *waiting }),
            };
        }
        if now >= self.course.end_ns.saturating_add(BACKLOG_NS) {
            return Err(UserStep::End);
        }
        match arrivals.take() {
            None => Err(UserStep::End),
            Some(at_ns) if at_ns > now => {
                *waiting = at_ns;
                Err(UserStep::Pause { until_ns: at_ns })
            }
            Some(at_ns) => Ok((at_ns, false)),
        }
    }

    /// Writes a failure down, unless it was the end of the run itself, or nothing but a request to
    /// be sent again.
    #[cold]
    fn failed(&mut self, user: u32, outcome: &Outcome<'_>, failure: Failure) {
        let again = &mut self.again[user as usize];
        match failure.kind {
            FailureKind::Stopped => return,
            FailureKind::Unprocessed if again.times < MOST_RESENDS => {
                again.times += 1;
                again.intended_ns = outcome.intended_ns;
                let counts = self.recorder.counts(outcome.intended_ns);
                self.tally.resent += u64::from(counts);
                return;
            }
            FailureKind::NoHttp2 => self.is_foreign = true,
            _ => {}
        }
        *again = Again::default();
        if self.recorder.counts(outcome.intended_ns) {
            let key = (failure.phase, failure.kind);
            *self.tally.failures.entry(key).or_default() += 1;
            if let Some(details) = self.recorder.details(outcome.intended_ns) {
                details.failed(failure.phase, failure.kind);
            }
        }
        self.recorder
            .failed(outcome.intended_ns, || failure.to_string());
    }

    #[inline]
    fn send(&self, place: usize, intended_ns: i64, out: &mut Vec<u8>) -> UserStep {
        out.extend_from_slice(&self.course.request);
        let mut exchange = Exchange {
            intended_ns,
            ..self.course.exchange
        };
        if let Some(lane) = &mut exchange.lane {
            lane.number = (self.numbers[place] / self.course.streams) as u32;
        }
        UserStep::Send(exchange)
    }

    /// Ends the account when all have gone: requests that could not be sent are counted, unless the
    /// run was stopped.
    pub(crate) fn finish(mut self, was_stopped: bool, now: i64) -> (Counts, Tally) {
        if let Some(arrivals) = self.course.arrivals.as_ref().filter(|_| !was_stopped) {
            let left = arrivals.left(self.recorder.count_from_ns(), self.course.end_ns);
            let most = self.course.left.unwrap_or(u64::MAX);
            self.recorder.counts.unstarted += left.min(most);
        }
        if self.course.left == Some(0) {
            let due_ns = self.course.arrivals.as_ref().map(Arrivals::next_ns);
            self.recorder.reached(due_ns);
        }
        (self.recorder.finish(now), self.tally)
    }
}

impl Crew for Visitors {
    /// Its number among all that ever came to this host.
    type Newcomer = u64;

    fn joins(&mut self, user: u32, number: u64) {
        let users = user as usize + 1;
        if users > self.waiting.len() {
            self.waiting.resize(users, 0);
            self.numbers.resize(users, 0);
            self.again.resize(users, Again::default());
        }
        self.present += 1;
        self.numbers[user as usize] = number;
        self.again[user as usize] = Again::default();
    }

    #[inline]
    fn step(&mut self, user: u32, now_ns: i64, out: &mut Vec<u8>) -> UserStep {
        let place = user as usize;
        if self.again[place].intended_ns != 0 {
            let intended_ns = std::mem::take(&mut self.again[place].intended_ns);
            return self.send(place, intended_ns, out);
        }
        if self.course.left == Some(0) || self.is_foreign {
            return UserStep::End;
        }
        // A visitor that waits for its start has taken it: no other would send that request.
        if self.waiting[place] == 0 && self.course.wanted.is_sent_home(self.numbers[place]) {
            return UserStep::End;
        }
        let (intended_ns, was_free) = match self.due(user, now_ns) {
            Ok(due) => due,
            Err(instead) => return instead,
        };
        if let Some(left) = &mut self.course.left
            && self.recorder.counts(intended_ns)
        {
            *left -= 1;
        }
        self.recorder.sent(intended_ns, now_ns, was_free);
        self.send(place, intended_ns, out)
    }

    #[inline]
    fn ended(&mut self, user: u32, outcome: &Outcome<'_>) {
        if let Some(failure) = outcome.failure {
            return self.failed(user, outcome, failure);
        }
        self.again[user as usize].times = 0;
        self.tally.answered += 1;
        if !self.recorder.counts(outcome.intended_ns) {
            return;
        }
        let (intended_ns, start_ns) = (outcome.intended_ns, outcome.start_ns);
        self.recorder
            .answered(intended_ns, start_ns, outcome.end_ns);
        let tally = &mut self.tally;
        let class = usize::from(outcome.status / 100).min(9);
        tally.classes[class] += 1;
        tally.sent_bytes += outcome.sent_bytes;
        tally.head_bytes += outcome.head_bytes;
        tally.body_bytes += outcome.body_bytes;
        let spent = stages(outcome);
        let [_, _, connect_ns, tls_ns, _, wait_ns, read_ns] = spent.0;
        if !outcome.reused {
            tally.connections += 1;
        }
        tally.wait.record(wait_ns);
        tally.read.record(read_ns);
        let Some(details) = self.recorder.details(intended_ns) else {
            return;
        };
        if !outcome.reused {
            let handshake_ns = (tls_ns > 0).then_some(tls_ns);
            details.connecting.record(Some(connect_ns), handshake_ns);
        }
        details.answered(outcome.status);
        details.spent.add(&spent);
        details.refused += u64::from(outcome.status >= 400);
    }

    fn leaves(&mut self, user: u32) {
        self.waiting[user as usize] = 0;
        self.present = self.present.saturating_sub(1);
    }

    fn look(&mut self, now_ns: i64) -> i64 {
        if now_ns >= self.recorder.report_at_ns() {
            let present = self.present;
            if let Some(details) = self.recorder.details(now_ns) {
                details.present = Some(present);
            }
            self.recorder.report(now_ns);
        }
        self.recorder.report_at_ns()
    }
}

/// Time of a request by its stages.
#[inline]
pub(crate) fn stages(outcome: &Outcome<'_>) -> Spent {
    Spent::between(&Moments {
        intended_ns: outcome.intended_ns,
        start_ns: outcome.start_ns,
        resolved_ns: outcome.resolved_ns,
        connected_ns: outcome.connected_ns,
        secured_ns: outcome.secured_ns,
        sent_ns: outcome.sent_ns,
        first_byte_ns: outcome.first_byte_ns,
        end_ns: outcome.end_ns,
    })
}
