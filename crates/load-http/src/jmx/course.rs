//! The loop that drives a test from its first stage to its last.
//!
//! ```text
//! setUp groups ─► main groups, together or one by one ─► tearDown groups
//!    each: starts in order of time ─► event loops ─► all users gone
//! beside it: once a second, what the shards saw ─► LoadObserver
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sokudo_http::{Config, Engine, Identity, Limits, Stop, Targets, Trust};
use sokudo_jmeter::plan::{Load, OpenStep, Stage};
use sokudo_jmeter::run::{GeneratorShare, StopKind, Test, ThreadStart, ThreadStarts};
use sokudo_model::Text;
use sokudo_net::clock::{now_ns, sleep_until};
use sokudo_workload::refusal::spawn;

use super::client::{Called, Comer, Inflight, Joining, PlanUsers};
use super::crowd::{Crowd, Floors};
use super::generator::{Control, Finished, LoadObserver, UsersSeen, locked};
use super::responses::ResponseLog;
use super::saved::Files;
use super::tally::{Shard, Tallies};
use super::user_time::UsersNs;

/// Longest head of one response: JMeter knows no bound, browsers have this one.
const MOST_HEAD_BYTES: usize = 256 << 10;

/// Users are handed to the event loops this long before they begin.
const AHEAD_NS: i64 = 1_000_000_000;
/// Time between two looks at the operator's stop flag.
const LOOK_NS: i64 = 50_000_000;
/// Time between two reports.
const INTERVAL: Duration = Duration::from_secs(1);
/// Users that begin, in order of time.
type Starting = Box<dyn Iterator<Item = ThreadStart>>;

/// Everything that a running test needs.
pub(super) struct RunningTest {
    pub control: Arc<Control>,
    pub targets: Arc<Targets>,
    pub shards: Vec<Arc<Shard>>,
    pub trust: Trust,
    pub identities: Arc<[Identity]>,
    pub inflight: Arc<Inflight>,
    pub called: Arc<Called>,
    /// The users of this generator.
    pub part: GeneratorShare,
    pub seed: u64,
}

impl RunningTest {
    /// From the first stage to the last, with these files of results.
    pub fn run(self, at_ns: i64, files: Files, listener: &Arc<dyn LoadObserver>) -> Finished {
        let mut finished = Finished::default();
        let over = Arc::new(AtomicBool::new(false));
        let reporter = {
            let (over, shards) = (Arc::clone(&over), self.shards.clone());
            let (test, listener) = (Arc::clone(&self.control.test), Arc::clone(listener));
            spawn("report", move || report(&over, &shards, &test, &*listener))
        };
        sleep_until(at_ns);
        finished.start_late_ns = now_ns().saturating_sub(at_ns).max(0);
        finished.begin_ns = at_ns;
        self.stages(&mut finished);
        finished.gone_ns = now_ns();
        over.store(true, Ordering::Relaxed);
        match reporter.map(|thread| {
            thread.thread().unpark();
            thread.join()
        }) {
            Ok(Ok(seen)) => finished.seen = seen,
            Ok(Err(_)) => finished.problems.push(Text::new("error-reporting-died")),
            Err(refusal) => finished.problems.push(refusal.says),
        }
        for shard in &self.shards {
            finished.lost_rows += shard.lost_rows();
            for (what, count) in shard.troubles() {
                *finished.troubles.entry(what).or_default() += count;
            }
        }
        finished.dropped = self.inflight.dropped.load(Ordering::Relaxed);
        finished.late = self.inflight.late.load(Ordering::Relaxed);
        finished.rate_changed = self.control.rate_changed.load(Ordering::Relaxed);
        finished.stopped = self.control.stopped.load(Ordering::Relaxed);
        if self.would_have_tried(finished.stopped) {
            finished.silences = self.shards.iter().map(|shard| shard.silence()).collect();
        }
        self.shards.iter().for_each(|shard| shard.close());
        for (number, log) in files.logs.into_iter().enumerate() {
            let written = log.finish();
            if files.asked == Some(number) {
                finished.rows = written.rows;
            }
            if let Some(error) = written.error {
                let lost = Text::new("jmx-run-unwritten").with("bytes", written.lost_bytes);
                finished.problems.push(lost.with("error", error));
            }
        }
        if let Some(problem) = files.responses.and_then(ResponseLog::finish) {
            finished.problems.push(Text::recorded(problem));
        }
        finished
    }

    /// True where the clock or the operator ended users of closed loops that had more to do.
    fn would_have_tried(&self, stopped: bool) -> bool {
        let test = &self.control.test;
        let is_open = |load: &Load| matches!(load, Load::Open { .. });
        let mut groups = test.plan().groups.iter();
        (stopped || test.was_cut_short()) && !groups.any(|group| is_open(&group.load))
    }

    fn stages(&self, finished: &mut Finished) {
        let test = &self.control.test;
        let plan = test.plan();
        self.stage(Stage::SetUp, None, finished);
        // As in JMeter, a test that is stopped here tidies nothing up.
        if test.stopping() != StopKind::No {
            return;
        }
        match plan.serialize_groups {
            false => self.stage(Stage::Main, None, finished),
            true => (0..plan.groups.len())
                .for_each(|group| self.stage(Stage::Main, Some(group), finished)),
        }
        let stopped = test.stopping() != StopKind::No;
        if !stopped || plan.teardown_on_shutdown && test.stopping() == StopKind::Soon {
            test.go_on();
            self.stage(Stage::TearDown, None, finished);
        }
    }

    /// Runs the groups of a stage until all their users are gone.
    fn stage(&self, stage: Stage, only: Option<usize>, finished: &mut Finished) {
        let test = &self.control.test;
        // What prepares and tidies up is done by every generator.
        let part = match stage {
            Stage::Main => self.part,
            Stage::SetUp | Stage::TearDown => GeneratorShare::WHOLE,
        };
        let starts = ThreadStarts::new(test.plan(), stage, only, self.seed);
        let mut starts = starts
            .filter(move |start| part.has(start.number - 1))
            .peekable();
        if starts.peek().is_none() || test.stopping() != StopKind::No {
            return;
        }
        let stop = Stop::default();
        *locked(&self.control.stage) = stop.clone();
        let floors = Arc::new(Floors::new(test.plan().groups.len()));
        let crews = self.shards.iter().map(|shard| {
            let inflight = Arc::clone(&self.inflight);
            let floors = Arc::clone(&floors);
            PlanUsers::new(
                Arc::clone(test),
                Arc::clone(shard),
                stop.clone(),
                inflight,
                floors,
                Arc::clone(&self.called),
            )
        });
        let config = Config {
            trust: self.trust.clone(),
            identities: Arc::clone(&self.identities),
            limits: Limits {
                head_bytes: MOST_HEAD_BYTES,
                ..Limits::default()
            },
            name: "users".into(),
        };
        let engine = match Engine::start(&config, &self.targets, crews.collect(), &stop) {
            Ok(engine) => engine,
            Err(error) => {
                finished.problems.push(Text::words(error.to_string()));
                test.stop(StopKind::Now);
                return;
            }
        };
        let stage_ns = now_ns();
        if stage == Stage::Main {
            let entry = (engine.entry(), stage_ns);
            *locked(&self.control.crowd) = Crowd::new(test.plan(), entry, part, floors);
        }
        self.admit(&engine, stage_ns, Box::new(starts));
        let end_ns = self.end_ns(stage, only, stage_ns);
        let is_over = || test.stopping() != StopKind::No || now_ns() > end_ns;
        let (crews, audit) = engine.finish_or_leave(is_over);
        *locked(&self.control.crowd) = None;
        drop(crews);
        if audit.died > 0 {
            finished
                .problems
                .push(Text::new("jmx-run-died").with("count", audit.died));
        }
        if audit.stuck > 0 {
            let problem = Text::new("jmx-run-stuck").with("count", audit.stuck);
            finished.problems.push(problem);
        }
        finished.audits.push(audit);
    }

    /// End of a stage by the clock, nanoseconds; far in the future where something else ends it.
    fn end_ns(&self, stage: Stage, only: Option<usize>, stage_ns: i64) -> i64 {
        let plan = self.control.test.plan();
        let groups = plan.groups.iter().enumerate();
        let own = groups.filter(|(number, group)| {
            group.stage == stage && only.is_none_or(|only| only == *number)
        });
        let ends: Option<Vec<u64>> = own.map(|(_, group)| group.load.end_ms()).collect();
        let end_ms = ends.and_then(|ends| ends.into_iter().max());
        let end_ns =
            end_ms.map(|ms| stage_ns.saturating_add_unsigned(ms.saturating_mul(1_000_000)));
        end_ns.unwrap_or(i64::MAX)
    }

    /// Lets the users of a stage in when their time has come, until others decide who comes or the
    /// test ends.
    fn admit(&self, engine: &Engine<PlanUsers>, stage_ns: i64, mut starts: Starting) {
        let test = &self.control.test;
        let mut highest = 0;
        while let Some(start) = starts.next() {
            let at_ns = stage_ns + start.at_ns;
            let mut another = None;
            while now_ns() < at_ns - AHEAD_NS
                && another.is_none()
                && test.stopping() == StopKind::No
            {
                sleep_until((at_ns - AHEAD_NS).min(now_ns() + LOOK_NS));
                another = locked(&self.control.rate).take();
            }
            if test.stopping() != StopKind::No {
                return;
            }
            if let Some(per_s) = another {
                starts = self.at_rate(per_s, now_ns() - stage_ns, highest);
                continue;
            }
            if !self.enter(engine, at_ns, Joining { start, stage_ns }) {
                return;
            }
            highest = highest.max(start.number);
        }
    }

    /// Lets a user of the plan in; `false` when others decide now who comes.
    fn enter(&self, engine: &Engine<PlanUsers>, at_ns: i64, joining: Joining) -> bool {
        let mut crowd = locked(&self.control.crowd);
        if let Some(crowd) = &mut *crowd {
            if crowd.is_steered {
                return false;
            }
            crowd.came(joining.start.group);
        }
        engine.add(at_ns, Comer::User(joining));
        true
    }

    /// The arrivals that are left at another rate, of all generators together, from `from_ns` after
    /// the beginning of the stage on. `before` is the highest number that was given.
    fn at_rate(&self, per_s: f64, from_ns: i64, before: u64) -> Starting {
        let mut plan = self.control.test.plan().clone();
        let is_open = |load: &Load| matches!(load, Load::Open { .. });
        let main = plan.groups.iter_mut();
        let open: Vec<_> = main
            .filter(|group| group.stage == Stage::Main && is_open(&group.load))
            .collect();
        let each_per_s = per_s / open.len().max(1) as f64;
        for group in open {
            let end_ms = group.load.end_ms().unwrap_or(0);
            let duration_ms =
                end_ms.saturating_sub(u64::try_from(from_ns / 1_000_000).unwrap_or(0));
            if let Load::Open { schedule, .. } = &mut group.load {
                let is_random =
                    |step: &OpenStep| matches!(step, OpenStep::Arrivals { random, .. } if *random);
                let random = schedule.iter().any(is_random);
                *schedule = vec![
                    OpenStep::Rate { per_s: each_per_s },
                    OpenStep::Arrivals {
                        duration_ms,
                        random,
                    },
                ];
            }
        }
        let part = self.part;
        // Other moments than those of the first rate.
        let seed = self.seed.wrapping_add(before);
        let starts =
            ThreadStarts::new(&plan, Stage::Main, None, seed).filter(|start| start.is_arrival);
        let starts = starts.filter(move |start| part.has(start.number - 1));
        let first = before.next_multiple_of(part.of());
        Box::new(starts.map(move |start| ThreadStart {
            at_ns: start.at_ns + from_ns,
            number: first + start.number,
            ..start
        }))
    }
}

/// Once per interval: what the shards saw. Gives everything at the end.
fn report(
    over: &AtomicBool,
    shards: &[Arc<Shard>],
    test: &Test,
    listener: &dyn LoadObserver,
) -> Tallies {
    let mut all = Tallies::new();
    let mut told = UsersNs::default();
    loop {
        let ends = over.load(Ordering::Relaxed);
        let mut seen = Tallies::new();
        for shard in shards {
            for (label, tally) in shard.take() {
                seen.entry(label).or_default().merge(&tally);
            }
        }
        for (label, tally) in &seen {
            all.entry(label.clone()).or_default().merge(tally);
        }
        let now = now_ns();
        let until: UsersNs = shards.iter().map(|shard| shard.users_ns(now)).sum();
        let users = UsersSeen {
            active: test.active(),
            pausing: until.pausing_since(&told),
        };
        told = until;
        listener.interval(now, &seen, users);
        if ends {
            return all;
        }
        std::thread::park_timeout(INTERVAL);
    }
}
