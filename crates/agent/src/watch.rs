//! Observes a host while load runs.
//!
//! ```text
//!  monitors that never block: one thread, each at its own interval ─┐
//!  a monitor that may block:  a thread and a schedule of its own ───┼─► gate ─► controller
//!  another one:               a thread and a schedule of its own ───┘
//! ```
//!
//! A source that does not answer delays its own monitor and nothing else. Ending a watch waits a bounded
//! time for each thread; one that still waits for its source then is left behind, and the closed gate
//! keeps its later samples out of the run.

use std::io;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use sokudo_model::{Batch, Event, MonitorSpec, Text, Unit};
use sokudo_monitors::{
    BadOption, Context, MIN_INTERVAL, NO_OPTIONS, OpenError, Registered, Sampler, Unavailable,
    find, standing,
};
use sokudo_net::clock::{both_ns, now_ns};
use sokudo_wire::Note;

use crate::keep::Outlet;

/// The wall clock may drift this much per interval against the monotonic one before it counts as
/// having been set.
const CLOCK_JUMP_NS: i64 = 100_000_000;
/// A sample this much later than planned means that the host was frozen or suspended.
const STALL_NS: i64 = 2_000_000_000;
/// Longest wait for the last sample of the monitors that never block: the host may be saturated.
const LAST_SAMPLE: Duration = Duration::from_secs(5);
/// Longest wait for monitors whose source may not answer.
const LAST_ANSWER: Duration = Duration::from_secs(1);

/// A monitor with its options and its interval.
#[derive(Clone)]
pub struct Planned {
    monitor: &'static dyn Registered,
    options: String,
    every: Duration,
    /// The controller asked for it, so an event says when it cannot observe.
    is_asked_for: bool,
}

impl PartialEq for Planned {
    fn eq(&self, other: &Self) -> bool {
        let key = |planned: &Self| (planned.monitor.info().name, planned.every);
        key(self) == key(other) && self.options == other.options
    }
}

/// Monitors that run when these are asked for: they, and the standing ones that `allowed` lets
/// pass.
///
/// Errors: an unknown monitor, or options that cannot be read.
pub fn plan(
    asked: &[MonitorSpec],
    interval_ns: u64,
    allowed: impl Fn(&str) -> bool,
) -> Result<Vec<Planned>, BadOption> {
    let interval = Duration::from_nanos(interval_ns).max(MIN_INTERVAL);
    let usual = |monitor: &'static dyn Registered| Planned {
        monitor,
        options: NO_OPTIONS.into(),
        every: monitor.cadence_for(None, interval),
        is_asked_for: false,
    };
    let mut planned: Vec<Planned> = standing()
        .filter(|monitor| allowed(monitor.info().name))
        .map(usual)
        .collect();
    for spec in asked {
        let monitor = find(&spec.name)?;
        // Whatever cannot be read is refused now, and not found out by the thread that opens it.
        monitor.reaches_with(&spec.options)?;
        let wanted = Planned {
            monitor,
            options: spec.options.clone(),
            every: monitor.cadence_for(spec.interval_ns, interval),
            is_asked_for: true,
        };
        let info = monitor.info();
        let same = planned.iter_mut().find(|other| {
            let alike = info.is_standing || other.options == wanted.options;
            other.monitor.info().name == info.name && alike
        });
        match same {
            Some(other) => *other = wanted,
            None => planned.push(wanted),
        }
    }
    Ok(planned)
}

/// State that all threads of a watch share.
#[derive(Clone)]
struct Setting {
    context: Context,
    /// Zero of all time stamps, on this host's monotonic clock.
    t0_ns: i64,
    interval: Duration,
    gate: Arc<Gate>,
}

/// The way out for batches; nothing passes once it is closed.
struct Gate(Mutex<Option<Outlet>>);

impl Gate {
    fn push(&self, batch: Batch) {
        let open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(outlet) = open.as_ref().filter(|_| !batch.is_empty()) {
            let _ = outlet.push(Note::Batch(batch));
        }
    }

    fn close(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Observes until dropped; the monitors that never block take a last sample on the way out.
pub struct Watch {
    setting: Setting,
    steady: Option<(Vec<Planned>, Lane)>,
    waiting: Vec<(Planned, Lane)>,
}

impl Watch {
    /// Begins to observe. `t0_ns` is zero of all time stamps, on this host's monotonic clock.
    ///
    /// Errors: no thread can be started.
    pub fn begin(
        context: Context,
        t0_ns: i64,
        interval_ns: u64,
        planned: Vec<Planned>,
        outlet: Outlet,
    ) -> io::Result<Self> {
        let mut watch = Self {
            setting: Setting {
                context,
                t0_ns,
                interval: Duration::from_nanos(interval_ns).max(MIN_INTERVAL),
                gate: Arc::new(Gate(Mutex::new(Some(outlet)))),
            },
            steady: None,
            waiting: Vec::new(),
        };
        watch.observe(planned)?;
        Ok(watch)
    }

    /// True when only the monitors of a watch with these settings may differ.
    pub fn fits(&self, context: &Context, t0_ns: i64, interval_ns: u64) -> bool {
        let interval = Duration::from_nanos(interval_ns).max(MIN_INTERVAL);
        let own = &self.setting;
        own.context == *context && own.t0_ns == t0_ns && own.interval == interval
    }

    /// Observes these from now on. Monitors that go on keep their series and their baselines.
    ///
    /// Errors: no thread can be started.
    pub fn observe(&mut self, planned: Vec<Planned>) -> io::Result<()> {
        let may_block = |planned: &Planned| planned.monitor.info().may_block;
        let (wanted, steady): (Vec<_>, Vec<_>) = planned.into_iter().partition(may_block);
        if self.steady.as_ref().is_none_or(|(own, _)| *own != steady) {
            let before = self.steady.take().map(|(_, lane)| lane);
            self.end(before.into_iter().collect(), LAST_SAMPLE);
            let lane = Lane::steady(self.setting.clone(), steady.clone())?;
            self.steady = Some((steady, lane));
        }
        let (kept, over): (Vec<_>, Vec<_>) = std::mem::take(&mut self.waiting)
            .into_iter()
            .partition(|(own, _)| wanted.contains(own));
        self.waiting = kept;
        self.end(
            over.into_iter().map(|(_, lane)| lane).collect(),
            LAST_ANSWER,
        );
        for planned in wanted {
            if self.waiting.iter().all(|(own, _)| *own != planned) {
                let lane = Lane::waiting(self.setting.clone(), planned.clone())?;
                self.waiting.push((planned, lane));
            }
        }
        Ok(())
    }

    /// Ends threads, all of them within one bound, and returns those that still wait for their source.
    fn end(&self, mut lanes: Vec<Lane>, within: Duration) {
        lanes.iter_mut().for_each(|lane| lane.stop = None);
        let until = Instant::now() + within;
        let mut batch = Batch::default();
        for lane in lanes {
            let left = until.saturating_duration_since(Instant::now());
            if lane.ended.recv_timeout(left) == Err(RecvTimeoutError::Timeout) {
                batch.events.extend(lane.unanswered(&self.setting));
            }
        }
        self.setting.gate.push(batch);
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let waiting = std::mem::take(&mut self.waiting);
        self.end(
            waiting.into_iter().map(|(_, lane)| lane).collect(),
            LAST_ANSWER,
        );
        let steady = self.steady.take().map(|(_, lane)| lane);
        self.end(steady.into_iter().collect(), LAST_SAMPLE);
        self.setting.gate.close();
    }
}

/// One thread that takes samples.
struct Lane {
    name: &'static str,
    stop: Option<SyncSender<()>>,
    /// Disconnected when the thread has ended, for whatever reason.
    ended: Receiver<()>,
    /// Begin of the sample that is being taken, on the monotonic clock; 0 between samples.
    busy_since_ns: Arc<AtomicI64>,
}

/// A thread's ends of its lane.
struct Ends {
    stopped: Receiver<()>,
    busy_since_ns: Arc<AtomicI64>,
    _ended: SyncSender<()>,
}

impl Lane {
    /// The thread of all monitors that never block, and of the clock's watch.
    fn steady(setting: Setting, planned: Vec<Planned>) -> io::Result<Self> {
        Self::start("monitors", move |ends| {
            let mut batch = Batch::default();
            let mut items = open(&setting, planned, &mut batch.events);
            setting.gate.push(batch);
            let clock = ClockWatch::new(&setting.context.host, setting.t0_ns, setting.interval);
            sample_until_stopped(&setting, &mut items, Some(clock), &ends);
            let mut batch = Batch::default();
            for item in &mut items {
                item.sampler.sample(now_ns() - setting.t0_ns, &mut batch);
            }
            setting.gate.push(batch);
        })
    }

    /// The thread of one monitor that may block.
    fn waiting(setting: Setting, planned: Planned) -> io::Result<Self> {
        let name = planned.monitor.info().name;
        Self::start(name, move |ends| {
            let mut batch = Batch::default();
            let mut items = open(&setting, vec![planned], &mut batch.events);
            setting.gate.push(batch);
            if !items.is_empty() {
                sample_until_stopped(&setting, &mut items, None, &ends);
            }
        })
    }

    fn start(name: &'static str, work: impl FnOnce(Ends) + Send + 'static) -> io::Result<Self> {
        let (stop, stopped) = mpsc::sync_channel::<()>(1);
        let (ending, ended) = mpsc::sync_channel::<()>(1);
        let busy_since_ns = Arc::new(AtomicI64::new(0));
        let ends = Ends {
            stopped,
            busy_since_ns: Arc::clone(&busy_since_ns),
            _ended: ending,
        };
        // Not joined, because that could wait without bound. `ended` shows when it is over.
        std::thread::Builder::new()
            .name(name.into())
            .spawn(move || work(ends))?;
        Ok(Self {
            name,
            stop: Some(stop),
            ended,
            busy_since_ns,
        })
    }

    /// The event about a thread that did not end in time.
    fn unanswered(&self, setting: &Setting) -> Option<Event> {
        let now = now_ns();
        let since_ns = self.busy_since_ns.load(Ordering::Relaxed);
        (since_ns != 0).then(|| Event {
            t_ns: now - setting.t0_ns,
            host: setting.context.host.clone(),
            source: self.name.into(),
            kind: "monitor-unanswered".into(),
            says: Text::new("engine-monitor-unanswered")
                .word("monitor", self.name)
                .word("host", &setting.context.host)
                .number("time", (now - since_ns) as f64 / 1e9, Unit::Seconds),
        })
    }
}

/// A monitor with its sources open, and when its next sample is due on the monotonic clock.
struct Item {
    sampler: Box<dyn Sampler>,
    every_ns: i64,
    next_ns: i64,
}

/// Opens the monitors. For one that the controller asked for and that cannot observe, an event says why.
fn open(setting: &Setting, planned: Vec<Planned>, events: &mut Vec<Event>) -> Vec<Item> {
    let mut items = Vec::new();
    // One moment for all, however long each takes to open: what is sampled together is sent together.
    let begun_ns = now_ns();
    for one in planned {
        match one.monitor.open_with(&one.options, &setting.context) {
            Ok(sampler) => items.push(Item {
                sampler,
                every_ns: one.every.as_nanos() as i64,
                next_ns: begun_ns,
            }),
            Err(OpenError::Unavailable(Unavailable::OtherScope)) => {}
            Err(why) if one.is_asked_for => events.push(Event {
                t_ns: now_ns() - setting.t0_ns,
                host: setting.context.host.clone(),
                source: one.monitor.info().name.into(),
                kind: "monitor-missing".into(),
                says: Text::new("engine-monitor-missing")
                    .word("monitor", one.monitor.info().name)
                    .word("host", &setting.context.host)
                    .text("why", why.text()),
            }),
            Err(_) => {}
        }
    }
    items
}

/// Takes each sample when it is due, until the watch ends.
fn sample_until_stopped(
    setting: &Setting,
    items: &mut [Item],
    mut clock: Option<ClockWatch>,
    ends: &Ends,
) {
    let interval_ns = setting.interval.as_nanos() as i64;
    let mut clock_next_ns = now_ns();
    loop {
        let now = now_ns();
        let mut batch = Batch::default();
        for item in items.iter_mut().filter(|item| item.next_ns <= now) {
            ends.busy_since_ns.store(now_ns(), Ordering::Relaxed);
            item.sampler.sample(now - setting.t0_ns, &mut batch);
            ends.busy_since_ns.store(0, Ordering::Relaxed);
            item.next_ns = (item.next_ns + item.every_ns).max(now);
        }
        if let Some(clock) = clock.as_mut().filter(|_| clock_next_ns <= now) {
            let (mono_ns, wall_ns) = both_ns().unzip();
            clock.look(mono_ns.unwrap_or(now), wall_ns, &mut batch.events);
            clock_next_ns = (clock_next_ns + interval_ns).max(now);
        }
        setting.gate.push(batch);
        let due = items.iter().map(|item| item.next_ns);
        let due = due.chain(clock.as_ref().map(|_| clock_next_ns)).min();
        let next_ns = due.unwrap_or(now + interval_ns);
        let wait = Duration::from_nanos((next_ns - now_ns()).max(0) as u64);
        match ends.stopped.recv_timeout(wait) {
            Err(RecvTimeoutError::Timeout) => {}
            Ok(()) | Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// Detects that the wall clock was set, or that the host was frozen or suspended.
struct ClockWatch {
    host: String,
    t0_ns: i64,
    interval_ns: i64,
    /// The monotonic clock at the last sample.
    last_ns: Option<i64>,
    /// Both clocks when they were last read at one moment.
    last_both_ns: Option<(i64, i64)>,
}

impl ClockWatch {
    fn new(host: &str, t0_ns: i64, interval: Duration) -> Self {
        Self {
            host: host.into(),
            t0_ns,
            interval_ns: interval.as_nanos() as i64,
            last_ns: None,
            last_both_ns: None,
        }
    }

    /// `wall_ns` is `None` when the clocks could not be read at one moment: a pause between both
    /// readings would look like a clock that was set.
    fn look(&mut self, mono_ns: i64, wall_ns: Option<i64>, events: &mut Vec<Event>) {
        let passed = mono_ns - self.last_ns.replace(mono_ns).unwrap_or(mono_ns);
        let both = wall_ns.map(|wall_ns| (mono_ns, wall_ns));
        let before = both.and_then(|both| self.last_both_ns.replace(both));
        let jumped = both
            .zip(before)
            .map_or(0, |((mono, wall), (last_mono, last_wall))| {
                (wall - last_wall) - (mono - last_mono)
            });
        let mut tell = |kind: &str, key: &str, ns: i64| {
            events.push(Event {
                t_ns: mono_ns - self.t0_ns,
                host: self.host.clone(),
                source: "clock".into(),
                kind: kind.into(),
                says: Text::new(key).word("host", &self.host).number(
                    "by",
                    ns as f64 / 1e9,
                    Unit::Seconds,
                ),
            });
        };
        if jumped.abs() > CLOCK_JUMP_NS {
            tell("clock-jump", "engine-clock-jump", jumped);
        }
        if passed - self.interval_ns > STALL_NS {
            tell("stall", "engine-host-stall", passed - self.interval_ns);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_was_set_is_told_and_drift_is_not() {
        let mut watch = ClockWatch::new("hosta", 0, Duration::from_millis(250));
        let mut events = Vec::new();
        let (mut mono, mut wall) = (0, 1_000_000_000_000);
        for _ in 0..10 {
            mono += 250_000_000;
            wall += 250_010_000;
            watch.look(mono, Some(wall), &mut events);
        }
        assert!(events.is_empty());
        watch.look(mono + 250_000_000, None, &mut events);
        assert!(events.is_empty());
        let set_back = wall - 3_600_000_000_000;
        watch.look(mono + 500_000_000, Some(set_back), &mut events);
        assert_eq!(events.len(), 1);
        assert_eq!(events[0].kind, "clock-jump");
    }

    #[test]
    fn a_host_that_stood_still_is_told() {
        let mut watch = ClockWatch::new("hosta", 0, Duration::from_millis(250));
        let mut events = Vec::new();
        watch.look(0, Some(0), &mut events);
        watch.look(5_000_000_000, Some(5_000_000_000), &mut events);
        assert_eq!(
            events.iter().map(|e| e.kind.as_str()).collect::<Vec<_>>(),
            ["stall"]
        );
    }
}
