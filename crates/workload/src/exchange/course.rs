//! The state of an asking loop: schedule, timeouts and recorder.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use sokudo_net::clock::{now_ns, precise_timers};
use sokudo_net::urgency::First;

use super::{Asked, Details, Recorder, Report, Scope};
use crate::consent::Silence;
use crate::effort::Effort;
use crate::patience::{sleep_until_or_stop, wait_for_start};
use crate::sample::Sample;
use crate::schedule::Schedule;

/// Longest wait of one receive call: how soon a stop or a timeout is noticed.
pub const LOOK: Duration = Duration::from_millis(50);
/// Longest wait for answers after the run was stopped.
const STOP_GRACE_NS: i64 = 1_000_000_000;

/// Time without an answer after which an amount of requests is not tried for any longer while they fail: this, and so
/// many times their timeout.
const VAIN_NS: i64 = 10_000_000_000;
const VAIN_TIMEOUTS: i64 = 3;

/// A request whose time comes sooner than this is not slept for: the wake-up would be late.
const SPIN_NS: i64 = 50_000;

/// Rate, duration and count of one asking thread.
pub struct AskPlan {
    /// Number of the flow in the phase.
    pub flow: u32,
    /// Requests per second; `None` = closed loop.
    pub rate_per_s: Option<f64>,
    /// Requests to be answered; `None` = until the time is over.
    pub count: Option<u64>,
    /// Duration of asking, warm-up included; 0 = until the count is reached.
    pub duration_ns: u64,
    /// Part of it that does not count.
    pub warmup_ns: u64,
    /// Latest end in any case, from the start.
    pub bound_ns: u64,
    /// A request without an answer for this long has failed.
    pub timeout_ns: i64,
    /// Requests whose latency is taken.
    pub sample: Sample,
    /// Round trips to hand over one by one.
    pub keep: u64,
    /// Time between two reports.
    pub interval_ns: u64,
    /// Set when the thread must end.
    pub stop: Arc<AtomicBool>,
}

/// State that all asking loops share: schedule, timeout, recorder.
pub struct Course<D: Details = ()> {
    /// Schedule of the requests.
    pub schedule: Schedule,
    /// Recorder of the requests.
    pub recorder: Recorder<D>,
    /// End of the load.
    pub end_ns: i64,
    /// A request without an answer for this long has failed.
    pub timeout_ns: i64,
    count: Option<u64>,
    /// Nothing but the count ends the load.
    is_by_count: bool,
    stop: Arc<AtomicBool>,
    stopped_ns: Option<i64>,
    silence: Silence,
    /// Until the first request has left.
    first: Option<First>,
}

/// Action for the next request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Send it; this was its intended start.
    Now(i64),
    /// Its time comes then.
    At(i64),
    /// There is none.
    Over,
}

impl<D: Details> Course<D> {
    /// The course of one asking thread that starts at `start_ns`.
    pub fn new(plan: &AskPlan, start_ns: i64, reports: &SyncSender<Report<D>>) -> Self {
        let end_ns = start_ns.saturating_add_unsigned(match plan.duration_ns {
            0 => plan.bound_ns,
            duration => duration.min(plan.bound_ns),
        });
        let schedule = Schedule::new(plan.rate_per_s, start_ns, end_ns);
        let scope = Scope {
            flow: plan.flow,
            count_from_ns: start_ns.saturating_add_unsigned(plan.warmup_ns),
            interval_ns: plan.interval_ns,
            sample: plan.sample,
            keep: plan.keep,
            is_open: schedule.is_open(),
        };
        let recorder = Recorder::new(scope, reports.clone());
        Self {
            schedule,
            recorder,
            end_ns,
            timeout_ns: plan.timeout_ns,
            count: plan.count,
            is_by_count: plan.duration_ns == 0,
            stop: Arc::clone(&plan.stop),
            stopped_ns: None,
            silence: Silence::new(scope.count_from_ns),
            first: None,
        }
    }

    /// A request has left.
    #[inline]
    pub fn sent(&mut self, intended_ns: i64, now: i64, had_room: bool) {
        self.first = None;
        self.recorder.sent(intended_ns, now, had_room);
    }

    /// Decides the action for the next request, when `under_way` are unanswered.
    #[inline]
    pub fn next(&self, now: i64, under_way: u64) -> Next {
        if self.stop.load(Ordering::Relaxed) {
            return Next::Over;
        }
        let enough = |count| self.recorder.counts.transactions + under_way >= count;
        if self.count.is_some_and(enough) {
            return Next::Over;
        }
        if self.is_in_vain(now) {
            return Next::Over;
        }
        match self.schedule.next_ns(now) {
            // Requests that are due and late are still sent, for a bounded time.
            Some(at_ns) if self.schedule.is_open() => match at_ns <= now {
                true if now < self.end_ns.saturating_add(self.timeout_ns) => Next::Now(at_ns),
                true => Next::Over,
                false => Next::At(at_ns),
            },
            Some(at_ns) if now < self.end_ns => Next::Now(at_ns),
            _ => Next::Over,
        }
    }

    /// True where only a count ends the load, and its requests fail and fail.
    #[inline]
    fn is_in_vain(&self, now: i64) -> bool {
        let counts = &self.recorder.counts;
        let bound_ns = || VAIN_NS.saturating_add(self.timeout_ns.saturating_mul(VAIN_TIMEOUTS));
        self.is_by_count && counts.is_silent && now - counts.last_through_ns() >= bound_ns()
    }

    /// True when an answer that has been missing since `sent_ns` is waited for no longer.
    pub fn is_overdue(&mut self, sent_ns: i64, now: i64) -> bool {
        if self.stop.load(Ordering::Relaxed) {
            let since_ns = *self.stopped_ns.get_or_insert(now);
            if now - since_ns >= STOP_GRACE_NS {
                return true;
            }
        }
        now - sent_ns >= self.timeout_ns
    }

    /// To be asked when a datagram is found unanswered.
    ///
    /// Errors: nothing has been answered for so long that no more may be sent.
    pub fn may_go_on(&mut self, now: i64) -> io::Result<()> {
        let heard = self.recorder.counts.transactions;
        match self.silence.is_too_long(heard, now) {
            false => Ok(()),
            true => Err(io::Error::other(self.silence.says())),
        }
    }

    /// Longest wait of an event loop for answers when it is to look again at `wake_ns`; `None` =
    /// nothing more is to be sent.
    pub fn wait_bound(&self, now: i64, wake_ns: Option<i64>) -> Duration {
        let until_ns = wake_ns
            .unwrap_or(i64::MAX)
            .min(self.recorder.report_at_ns())
            .min(now.saturating_add(LOOK.as_nanos() as i64));
        let left_ns = until_ns - now;
        match left_ns > SPIN_NS {
            true => Duration::from_nanos((left_ns - SPIN_NS) as u64),
            false => Duration::ZERO,
        }
    }

    /// Sleeps until a request's time has come; false when stopped.
    pub fn sleep_until(&mut self, at_ns: i64) -> bool {
        // A report that is due meanwhile is made now: the thread has time.
        let now = now_ns();
        if at_ns >= self.recorder.report_at_ns() && now >= self.recorder.report_at_ns() {
            self.recorder.report(now);
        }
        sleep_until_or_stop(at_ns, &self.stop).is_some()
    }

    /// A connection was lost for this reason, and with it a request that was to leave then.
    pub fn lose(&mut self, intended_ns: i64, error: &io::Error) {
        self.recorder.lost_connection(now_ns());
        self.recorder.failed(intended_ns, || ended(error));
    }

    /// Notes whether the amount that was asked for was reached.
    fn note_reached(&mut self) {
        let answered = self.recorder.counts.transactions;
        if self.count.is_some_and(|count| answered >= count) {
            self.recorder.reached(self.schedule.due_ns());
        }
    }

    /// Requests of the schedule that were not sent, at the end: also those that would have come
    /// after the last connection broke.
    fn count_unstarted(&mut self) {
        if self.stop.load(Ordering::Relaxed) {
            return;
        }
        let left = self.schedule.left_from(self.recorder.count_from_ns());
        let counts = &mut self.recorder.counts;
        let asked = counts.transactions + counts.errors;
        let most = self.count.map(|count| count.saturating_sub(asked));
        counts.unstarted += match (self.schedule.is_open(), most) {
            (true, most) => left.min(most.unwrap_or(u64::MAX)),
            // Nothing but the loss of all connections ends an amount early.
            (false, Some(most)) if self.is_by_count => most,
            (false, _) => 0,
        };
    }
}

/// Runs `ask` as the body of an asking thread and hands over what came out. What it needs is made `ready`
/// before the start: at that moment others may begin on the same core.
pub fn measured<D: Details, T>(
    plan: &AskPlan,
    at_ns: i64,
    reports: &SyncSender<Report<D>>,
    ready: impl FnOnce() -> io::Result<T>,
    ask: impl FnOnce(&mut T, &mut Course<D>),
) {
    precise_timers();
    let mut course = Course::new(plan, at_ns, reports);
    let mut ready = ready();
    course.first = wait_for_start(at_ns, &plan.stop);
    let effort = Effort::begin();
    if course.first.is_some() {
        match &mut ready {
            Ok(ready) => ask(ready, &mut course),
            Err(error) => course.lose(now_ns(), error),
        }
        course.note_reached();
        course.count_unstarted();
    }
    let now = now_ns();
    let spent = effort.spent();
    let asked = Asked {
        flow: plan.flow,
        counts: course.recorder.finish(now),
        cpu_ns: spent.cpu_ns,
        wait_ns: spent.wait_ns,
        elapsed_ns: now - at_ns,
    };
    // Fails only when the reporting thread has ended.
    let _ = reports.send(Report::Asked(Box::new(asked)));
}

/// Text for people about a connection that ended.
pub fn ended(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => "the far end closed the connection".into(),
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => {
            "the far end did not answer in time".into()
        }
        io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => {
            "the far end reset the connection".into()
        }
        _ => format!("the connection ended: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use super::*;

    const S: i64 = 1_000_000_000;

    /// Five requests, each of which has a second.
    fn course(duration_ns: u64) -> Course {
        let plan = AskPlan {
            flow: 0,
            rate_per_s: None,
            count: Some(5),
            duration_ns,
            warmup_ns: 0,
            bound_ns: 3_600_000_000_000,
            timeout_ns: S,
            sample: Sample::All,
            keep: 0,
            interval_ns: 1_000_000_000,
            stop: Arc::default(),
        };
        Course::new(&plan, S, &sync_channel(1).0)
    }

    #[test]
    fn an_amount_of_requests_that_all_fail_is_given_up() {
        let mut by_count = course(0);
        assert_eq!(by_count.next(100 * S, 1), Next::Now(100 * S));
        by_count.recorder.failed(S, || "refused".into());
        assert_eq!(by_count.next(13 * S, 0), Next::Now(13 * S));
        assert_eq!(by_count.next(14 * S, 0), Next::Over);
        // An answer begins the time anew.
        by_count.recorder.answered(13 * S, 13 * S, 13 * S);
        by_count.recorder.failed(14 * S, || "refused".into());
        assert_eq!(by_count.next(25 * S, 0), Next::Now(25 * S));
        assert_eq!(by_count.next(26 * S, 0), Next::Over);
        // A load with a length is asked for so long.
        let mut timed = course(100_000_000_000);
        timed.recorder.failed(S, || "refused".into());
        assert_eq!(timed.next(50 * S, 0), Next::Now(50 * S));
    }
}
