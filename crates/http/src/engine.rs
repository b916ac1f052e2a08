//! Runs users on event loops and reports what the run cost.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use sokudo_model::Text;
use sokudo_net::clock::now_ns;

use crate::crew::{Crew, Strangers};
use crate::event_loop::{Loop, Parts};
use crate::homes::Homes;
use crate::identity::Identity;
use crate::observed::Observed;
use crate::post::{self, Letter, Sender};
use crate::target::Targets;
use crate::tls::{LazyTls, Protocol, TlsSetUp, Trust};
use crate::user::User;

/// Longest turn of a loop after everything should have ended.
const STUCK: Duration = Duration::from_secs(1);
/// Between two looks whether a loop has ended.
const STUCK_LOOK: Duration = Duration::from_millis(5);

/// A handle to end a run from outside. Copies act on the same run.
#[derive(Debug, Clone)]
pub struct Stop(Arc<StopState>);

#[derive(Debug)]
struct StopState {
    /// No further step is requested.
    soon: AtomicBool,
    /// Exchanges end from then on.
    at_ns: AtomicI64,
}

impl Default for Stop {
    fn default() -> Self {
        Self(Arc::new(StopState {
            soon: AtomicBool::new(false),
            at_ns: AtomicI64::new(i64::MAX),
        }))
    }
}

impl Stop {
    /// Asks no user for another step; exchanges under way may end by themselves.
    pub fn soon(&self) {
        self.0.soon.store(true, Ordering::Relaxed);
    }

    /// As [`Stop::soon`]; exchanges still under way after `grace_ns` fail with
    /// [`crate::FailureKind::Stopped`].
    pub fn within(&self, grace_ns: u64) {
        let at_ns = now_ns().saturating_add_unsigned(grace_ns);
        self.0.at_ns.fetch_min(at_ns, Ordering::Relaxed);
        self.soon();
    }

    /// Ends exchanges under way at once.
    pub fn now(&self) {
        self.within(0);
    }

    /// True when no further steps are requested from any user.
    pub fn is_soon(&self) -> bool {
        self.0.soon.load(Ordering::Relaxed)
    }

    /// True when exchanges under way end.
    pub fn is_now(&self) -> bool {
        let at_ns = self.0.at_ns.load(Ordering::Relaxed);
        at_ns != i64::MAX && now_ns() >= at_ns
    }
}

/// Configuration of the engine.
#[derive(Debug, Clone, Default)]
pub struct Config {
    /// Whose certificates are accepted.
    pub trust: Trust,
    /// Client identities; routes refer to them by index.
    pub identities: Arc<[Identity]>,
    /// Bounds of responses.
    pub limits: Limits,
    /// Prefix of the threads' names, before their number.
    pub name: String,
}

/// The engine cannot start.
#[derive(Debug, thiserror::Error)]
pub enum NoEngine {
    /// No thread, no socket, or nothing to wait for sockets with.
    #[error("the event loops cannot start: {0}")]
    System(#[from] io::Error),
    /// A target uses TLS, and TLS cannot be set up.
    #[error(transparent)]
    Tls(#[from] TlsSetUp),
}

impl NoEngine {
    /// The reason as a message.
    pub fn text(&self) -> Text {
        match self {
            Self::System(error) => Text::new("reason-loops").with("error", error),
            Self::Tls(error) => error.text(),
        }
    }
}

/// Bounds of what a server may send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Longest head of one response, bytes.
    pub head_bytes: usize,
    /// Longest trailer after the last chunk, bytes.
    pub trailer_bytes: usize,
    /// Most informational (1xx) responses before the real one.
    pub informational: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            head_bytes: 64 * 1024,
            trailer_bytes: 16 * 1024,
            informational: 32,
        }
    }
}

/// Counts of one event loop.
#[derive(Debug, Clone, Default)]
pub struct LoopAudit {
    /// Exchanges that began.
    pub started: u64,
    /// Steps taken later than [`LATE_NS`] after the moment that a user requested: the generator's own
    /// lateness.
    pub late_starts: u64,
    /// The latest of them, nanoseconds.
    pub latest_start_ns: u64,
    /// Connections opened.
    pub connections: u64,
    /// Attempts to connect for which this host had no free port.
    pub ports_exhausted: u64,
    /// CPU time of the thread, nanoseconds; `None` where the system does not report it.
    pub cpu_ns: Option<u64>,
    /// Time in which the thread was ready to run and had no CPU, nanoseconds.
    pub wait_ns: Option<u64>,
    /// Time from the loop's start to its end, nanoseconds.
    pub elapsed_ns: u64,
    /// The loop stayed on a core that no other loop of its engine used.
    pub had_own_core: bool,
    /// Observations of the server and the way to it.
    pub observed: Observed,
}

/// A step that is taken this much after its time is late.
pub const LATE_NS: i64 = 1_000_000;

/// Counts of the engine, loop by loop.
#[derive(Debug, Clone, Default)]
pub struct Audit {
    /// One entry per loop; loops that panicked are missing.
    pub loops: Vec<LoopAudit>,
    /// Loops that ended by a panic of a user. Their users report no further outcomes.
    pub died: usize,
    /// Loops that were left behind because a user did not come back. Their outcomes are missing, too.
    pub stuck: usize,
}

impl Audit {
    /// The sum of something over all loops.
    pub fn sum(&self, of: impl Fn(&LoopAudit) -> u64) -> u64 {
        self.loops.iter().map(of).sum()
    }

    /// The busiest loop's share of a CPU, 0 to 1; `None` where the system does not report it.
    pub fn busiest(&self) -> Option<f64> {
        let shares = self.loops.iter().map(LoopAudit::busy);
        shares
            .collect::<Option<Vec<f64>>>()?
            .into_iter()
            .reduce(f64::max)
    }
}

impl LoopAudit {
    /// Share of a CPU that the loop used, or wanted and did not get.
    pub fn busy(&self) -> Option<f64> {
        let wanted_ns = self.cpu_ns? + self.wait_ns.unwrap_or(0);
        (self.elapsed_ns > 0).then(|| wanted_ns as f64 / self.elapsed_ns as f64)
    }
}

/// A way for users to join while the engine is waited for. Copies lead to the same engine.
pub struct Entry<N> {
    loops: Vec<Sender<N>>,
    next: Arc<AtomicUsize>,
}

impl<N> Entry<N> {
    /// Adds a user whose first step is due at `start_ns`. Users are assigned to the loops in turn; one
    /// that is added after the end of the run is ignored.
    pub fn add(&self, start_ns: i64, newcomer: N) {
        self.add_together(start_ns, [newcomer]);
    }

    /// As [`Entry::add`] for users that share a connection: all of them go to the same loop.
    pub fn add_together(&self, start_ns: i64, newcomers: impl IntoIterator<Item = N>) {
        let turn = self.next.fetch_add(1, Ordering::Relaxed);
        if let Some(sender) = self.loops.get(turn % self.loops.len().max(1)) {
            let newcomers = newcomers.into_iter();
            newcomers.for_each(|one| sender.send(Letter::Joins(start_ns, one)));
        }
    }
}

/// Event loops at work. Dropping it ends the load at once.
pub struct Engine<C: Crew> {
    entry: Entry<C::Newcomer>,
    threads: Vec<JoinHandle<(C, LoopAudit)>>,
    /// Turns that each loop has made.
    turns: Vec<Arc<AtomicU64>>,
    stop: Stop,
}

impl<C> Engine<C>
where
    C: Crew + Send + 'static,
    C::Newcomer: 'static,
{
    /// Starts one event loop for each crew. As many loops as this process has cores get one each.
    ///
    /// Errors: see [`NoEngine`]; nothing is left running.
    pub fn start(
        config: &Config,
        targets: &Arc<Targets>,
        crews: Vec<C>,
        stop: &Stop,
    ) -> Result<Self, NoEngine> {
        let tls = Arc::new(LazyTls::new(
            config.trust.clone(),
            Arc::clone(&config.identities),
        ));
        if targets.any_over_tls() {
            tls.config(Protocol::Http1, None).map_err(Clone::clone)?;
        }
        let mut engine = Self {
            entry: Entry {
                loops: Vec::new(),
                next: Arc::default(),
            },
            threads: Vec::new(),
            turns: Vec::new(),
            stop: stop.clone(),
        };
        let homes = Homes::of(crews.len());
        for (number, crew) in crews.into_iter().enumerate() {
            let (sender, inbox) = post::pair()?;
            let turns = Arc::new(AtomicU64::new(0));
            engine.turns.push(Arc::clone(&turns));
            let parts = Parts {
                turns,
                targets: Arc::clone(targets),
                tls: Arc::clone(&tls),
                limits: config.limits,
                stop: stop.clone(),
                inbox,
                answers: sender.clone(),
                home: homes.home(number),
            };
            engine.entry.loops.push(sender);
            let event_loop = Loop::new(crew, parts)?;
            let thread = thread::Builder::new().name(format!("{}{number}", config.name));
            engine.threads.push(thread.spawn(move || event_loop.run())?);
        }
        Ok(engine)
    }

    /// See [`Entry::add_together`].
    pub fn add_together(&self, start_ns: i64, newcomers: impl IntoIterator<Item = C::Newcomer>) {
        self.entry.add_together(start_ns, newcomers);
    }

    /// See [`Entry::add`].
    pub fn add(&self, start_ns: i64, newcomer: C::Newcomer) {
        self.entry.add(start_ns, newcomer);
    }

    /// A way in that stays open while [`Engine::finish`] waits.
    pub fn entry(&self) -> Entry<C::Newcomer> {
        Entry {
            loops: self.entry.loops.clone(),
            next: Arc::clone(&self.entry.next),
        }
    }

    /// Waits until all users have left and none will join, or the run is stopped.
    pub fn finish(self) -> (Vec<C>, Audit) {
        self.finish_or_leave(|| false)
    }

    /// As [`Engine::finish`], but leaves loops behind that are in the same turn for [`STUCK`] while
    /// `is_over` says that everything should have ended: a user computes and does not come back. Their
    /// threads go on until it does.
    pub fn finish_or_leave(mut self, is_over: impl Fn() -> bool) -> (Vec<C>, Audit) {
        for sender in &self.entry.loops {
            sender.send(Letter::Closed);
        }
        let mut audit = Audit::default();
        let mut crews = Vec::new();
        let threads = std::mem::take(&mut self.threads).into_iter();
        for (thread, turns) in threads.zip(std::mem::take(&mut self.turns)) {
            if !ends(&thread, &turns, &is_over) {
                audit.stuck += 1;
                continue;
            }
            match thread.join() {
                Ok((crew, one)) => {
                    crews.push(crew);
                    audit.loops.push(one);
                }
                Err(_) => audit.died += 1,
            }
        }
        (crews, audit)
    }
}

/// Waits for the end of a loop; `false`: it is stuck though everything should have ended.
fn ends<T>(thread: &JoinHandle<T>, turns: &AtomicU64, is_over: &impl Fn() -> bool) -> bool {
    let mut turn = turns.load(Ordering::Relaxed);
    let mut since = Instant::now();
    while !thread.is_finished() {
        thread::sleep(STUCK_LOOK);
        let now = turns.load(Ordering::Relaxed);
        if now != turn || !is_over() {
            (turn, since) = (now, Instant::now());
        } else if since.elapsed() >= STUCK {
            return false;
        }
    }
    true
}

impl<C: Crew> Drop for Engine<C> {
    fn drop(&mut self) {
        if self.threads.is_empty() {
            return;
        }
        self.stop.now();
        for thread in std::mem::take(&mut self.threads) {
            // A loop that panicked has no result.
            let _ = thread.join();
        }
    }
}

/// Runs users that know nothing of each other, each from its start time on, on `loops` event loops
/// until all have left or the run is stopped.
///
/// Errors: see [`NoEngine`].
pub fn run(
    config: &Config,
    targets: &Arc<Targets>,
    loops: usize,
    users: Vec<(i64, Box<dyn User>)>,
    stop: &Stop,
) -> Result<Audit, NoEngine> {
    let crews = (0..loops.max(1)).map(|_| Strangers::default()).collect();
    let engine = Engine::start(config, targets, crews, stop)?;
    for (start_ns, user) in users {
        engine.add(start_ns, user);
    }
    Ok(engine.finish().1)
}
