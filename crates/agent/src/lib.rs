//! Carries out on one host what a controller asks for.
//!
//! A [`Session`] per controller: it observes the host, takes part in one phase at a time, and stops
//! all load when it is dropped, which the bus does as soon as the controller is gone.
//!
//! ```text
//! idle ──Prepare──► prepared ──Arm──► armed ──Start──► running ──Drain──► idle
//!   ▲                  │                │                 │
//!   └──────────── Stop, a refusal, or the controller's end ┘
//! ```

pub mod audit;
pub mod keep;
mod load;
pub mod policy;
mod watch;
mod work;

use std::sync::Arc;
use std::time::Duration;

use sokudo_bus::agent::Factory;
use sokudo_bus::{Client, Handler, Notes};
use sokudo_i18n::english;
use sokudo_model::{Change, HostSpec, MonitorSpec, PhaseSpec, Refusal, RunId, Text, Unit};
use sokudo_monitors::Context;
use sokudo_net::clock::now_ns;
use sokudo_wire::{Ask, Description, Note, Reply, WatchScope};
use sokudo_workload::{Demand, Emit, Emitted, Phase};

use audit::Audit;
use keep::{Keeper, Outlet};
use load::{Loads, Share};
use policy::{Observation, Policy};
use watch::{Planned, Watch};
use work::Work;

/// Time that a controller has, beyond the longest load of a phase, to ask for its result.
const GRACE: Duration = Duration::from_secs(60);
/// A start so long ago is refused: a paced load would make up for all of it at once.
const MOST_LATE_NS: i64 = 5_000_000_000;
/// A start so far ahead is refused.
const MOST_AHEAD_NS: i64 = 3_600_000_000_000;
/// Longest name of a host, bytes: each series carries it.
const MOST_NAME_BYTES: usize = 1024;
/// Longest run that a moment can lie in: ten years.
const MOST_APART_NS: u64 = 315_360_000_000_000_000;

/// State of the session's phase.
enum State {
    Idle,
    Prepared(Work),
    Armed(Work),
    Running(Work),
}

/// Guards this host against controllers: policy, audit log and kept observations.
pub struct Guard {
    policy: Policy,
    audit: Audit,
    keeper: Option<Arc<Keeper>>,
    loads: Loads,
    grace: Duration,
}

impl Guard {
    /// A guard with the policy of the host's owner. `keeper` keeps observations that a dead controller
    /// has not received; without it nothing is kept.
    pub fn new(policy: Policy, audit: Audit, keeper: Option<Keeper>) -> Self {
        Self {
            policy,
            audit,
            keeper: keeper.map(Arc::new),
            loads: Loads::default(),
            grace: GRACE,
        }
    }

    /// The audit log.
    pub fn audit(&self) -> &Audit {
        &self.audit
    }
}

/// One controller's agent.
pub struct Session {
    host: String,
    client: Client,
    guard: Option<Arc<Guard>>,
    outlet: Outlet,
    /// Monitors that are allowed; `None` for the operator's own host: all.
    observation: Option<Observation>,
    state: State,
    /// Upper bound of the phase.
    bound_ns: u64,
    watch: Option<Watch>,
}

/// Makes a session for each controller that connects; `host` is the name of this host.
pub fn factory(host: &str) -> Factory {
    let host = host.to_owned();
    Arc::new(move |client: Client, notes: Notes| Box::new(Session::new(&host, client, None, notes)))
}

/// The same behind a guard: what its policy does not allow is refused, and every request is logged.
pub fn guarded(host: &str, guard: Arc<Guard>) -> Factory {
    let host = host.to_owned();
    Arc::new(move |client: Client, notes: Notes| {
        let guard = Some(Arc::clone(&guard));
        Box::new(Session::new(&host, client, guard, notes))
    })
}

impl Session {
    /// A session with `client` on host `host`, which sends its notes through `notes`.
    fn new(host: &str, client: Client, guard: Option<Arc<Guard>>, notes: Notes) -> Self {
        Self {
            host: host.to_owned(),
            observation: guard.as_ref().map(|guard| guard.policy.observation.clone()),
            client,
            guard,
            outlet: Outlet { notes, kept: None },
            state: State::Idle,
            bound_ns: 0,
            watch: None,
        }
    }

    fn describe(&self) -> Reply {
        Reply::Description(Description {
            name: self.host.clone(),
            os: std::env::consts::OS.into(),
            version: env!("CARGO_PKG_VERSION").into(),
            cores: std::thread::available_parallelism().map_or(1, |n| n.get() as u32),
            workloads: sokudo_workloads::all()
                .map(|workload| workload.descriptor().name.to_owned())
                .collect(),
            clock: sokudo_net::clock::identity(),
        })
    }

    fn prepare(&mut self, mut spec: PhaseSpec) -> Result<Reply, Refusal> {
        self.state = State::Idle;
        if spec.me as usize >= spec.hosts.len() {
            return Err(out_of_order("a phase whose host table lacks this host"));
        }
        let is_long = |host: &HostSpec| host.name.len() > MOST_NAME_BYTES;
        if spec.hosts.iter().any(is_long) {
            return Err(out_of_order("a name that is too long"));
        }
        let name = &spec.phase.workload;
        let workload = sokudo_workloads::find(name).ok_or_else(|| Refusal {
            operator_error: true,
            says: Text::new("error-agent-workload-unknown")
                .word("host", &self.host)
                .word("workload", name),
            hint: Some(Text::new("error-hint-same-version")),
        })?;
        if let Some(kept) = &self.outlet.kept {
            kept.name(&spec.run);
        }
        let share = self.pass(&mut spec)?;
        self.bound_ns = spec.phase.bound_ns;
        let phase = workload.prepare(spec, self.emit())?;
        let offer = phase.offer();
        self.state = State::Prepared(Work::new(phase, share));
        Ok(Reply::Offer(offer))
    }

    /// Checks a phase against the guard's policy, beside what goes on already, and bounds its length by
    /// it. The result is logged before anything is done.
    fn pass(&self, spec: &mut PhaseSpec) -> Result<Option<Share>, Refusal> {
        let Some(guard) = &self.guard else {
            return Ok(None);
        };
        let verdict = judge(&guard.policy, spec);
        let flows = spec.phase.flows.iter();
        let own = flows.filter(|flow| flow.from == spec.me || flow.to == spec.me);
        let own = u32::try_from(own.count()).unwrap_or(u32::MAX);
        let verdict = verdict.and_then(|demand| Share::take(guard, demand, own));
        let mut about = audit::of_phase(spec);
        let what = match &verdict {
            Ok(_) => "prepare",
            Err(refusal) => {
                about["why"] = english(&refusal.says).into();
                "refused"
            }
        };
        self.note(what, about)?;
        // Whatever its options are, no load goes on beyond this.
        spec.phase.bound_ns = spec
            .phase
            .bound_ns
            .min(guard.policy.longest_ns(&spec.phase.workload));
        verdict.map(Some)
    }

    /// Logs a request. One that cannot be logged is refused.
    fn note(&self, what: &str, about: serde_json::Value) -> Result<(), Refusal> {
        let Some(guard) = &self.guard else {
            return Ok(());
        };
        let noted = guard.audit.note(&self.client, what, about);
        noted.map_err(|error| Refusal {
            operator_error: false,
            says: Text::new("error-agent-no-note")
                .word("host", &self.host)
                .with("error", error),
            hint: Some(
                Text::new("error-agent-no-note-hint").with("path", guard.audit.path().display()),
            ),
        })
    }

    /// Sends the workload's notes. A full queue means that the controller reads too slowly; the bus
    /// counts what it dropped and reports the number.
    fn emit(&self) -> Emit {
        let outlet = self.outlet.clone();
        Arc::new(move |emitted| {
            let _ = outlet.push(match emitted {
                Emitted::Batch(batch) => Note::Batch(batch),
                Emitted::Rows(rows) => Note::Rows(rows),
                Emitted::Sent(text) => Note::Sent(text),
                Emitted::Problem { says, missing } => Note::Problem { says, missing },
            });
        })
    }

    fn arm(&mut self, offers: &[Option<String>]) -> Result<Reply, Refusal> {
        let State::Prepared(work) = std::mem::replace(&mut self.state, State::Idle) else {
            return Err(out_of_order("Arm before Prepare"));
        };
        work.with(|phase| phase.arm(offers))?;
        self.state = State::Armed(work);
        Ok(Reply::Done)
    }

    fn start(&mut self, at_ns: i64, t0_ns: i64) -> Result<Reply, Refusal> {
        let State::Armed(mut work) = std::mem::replace(&mut self.state, State::Idle) else {
            return Err(out_of_order("Start before Arm"));
        };
        let ahead_ns = ahead_of_now(at_ns, t0_ns)?;
        self.note("start", serde_json::Value::Null)?;
        if let Some(guard) = &self.guard {
            let longest = Duration::from_nanos(self.bound_ns.saturating_add(ahead_ns));
            work.end_after(longest.saturating_add(guard.grace))?;
        }
        work.begin_limit(at_ns);
        work.with(|phase| phase.start(at_ns, t0_ns))?;
        self.state = State::Running(work);
        Ok(Reply::Done)
    }

    fn drain(&mut self, sent: &[Option<String>]) -> Result<Reply, Refusal> {
        let State::Running(work) = std::mem::replace(&mut self.state, State::Idle) else {
            return Err(out_of_order("Drain before Start"));
        };
        let drained = work.drain(sent);
        self.note_excess(&work)?;
        Ok(Reply::Result(drained?))
    }

    /// Logs that a phase was ended because the other ends asked for more than was granted.
    fn note_excess(&self, work: &Work) -> Result<(), Refusal> {
        let Some(why) = work.exceeded() else {
            return Ok(());
        };
        let about = serde_json::json!({ "why": english(&why.says) });
        self.note("ended", about)
    }

    /// Does something with the phase that runs, if one does.
    fn if_running(&self, act: impl FnOnce(&mut dyn Phase)) {
        if let State::Running(work) = &self.state {
            // A phase that is over says so when it is asked for its result.
            let _ = work.with(|phase| {
                act(phase);
                Ok(())
            });
        }
    }

    /// Changes the running load. Logged like a start, because it is load that a controller asked for.
    fn steer(&self, change: &Change) -> Result<Reply, Refusal> {
        let State::Running(work) = &self.state else {
            return Err(out_of_order("Steer before Start"));
        };
        if !change.is_sound() {
            return Err(out_of_order("a change to a load that no host can offer"));
        }
        let about = serde_json::json!({ "users": change.users, "rate_per_s": change.rate_per_s });
        work.steer(change, || self.note("steer", about))?;
        Ok(Reply::Done)
    }

    fn begin_watch(&mut self, wish: WatchWish) -> Result<Reply, Refusal> {
        let ago_ns = now_ns().saturating_sub(wish.t0_ns);
        if ago_ns.unsigned_abs() > MOST_APART_NS {
            return Err(not_a_time(ago_ns.saturating_neg()));
        }
        if wish.host.len() > MOST_NAME_BYTES {
            return Err(out_of_order("a name that is too long"));
        }
        let planned = self.planned(&wish)?;
        let keeper = self.guard.as_ref().and_then(|guard| guard.keeper.as_ref());
        if let (None, Some(keeper)) = (&self.outlet.kept, keeper) {
            self.outlet.kept = Some(Arc::new(keeper.begin()));
        }
        // The controller names the hosts of a run; series carry those names.
        self.host = wish.host;
        let context = match wish.scope {
            WatchScope::Host => Context::host(&self.host),
            WatchScope::Process => Context::process(&self.host),
            WatchScope::Namespace => Context::namespace(&self.host),
        };
        let (t0_ns, interval_ns) = (wish.t0_ns, wish.interval_ns);
        let going_on = self.watch.as_mut();
        let watched = match going_on.filter(|watch| watch.fits(&context, t0_ns, interval_ns)) {
            Some(watch) => watch.observe(planned),
            None => {
                self.watch = None;
                let outlet = self.outlet.clone();
                let watch = Watch::begin(context, t0_ns, interval_ns, planned, outlet);
                watch.map(|watch| self.watch = Some(watch))
            }
        };
        watched.map_err(|error| Refusal {
            operator_error: false,
            says: Text::new("error-monitor-no-thread").with("error", error),
            hint: Some(Text::new("error-no-thread-hint")),
        })?;
        Ok(Reply::Done)
    }

    /// The monitors of a watch, if bounds, options and the guard let them pass. Noted when somebody
    /// asked for some, before anything is opened.
    fn planned(&self, wish: &WatchWish) -> Result<Vec<Planned>, Refusal> {
        let monitors = &wish.monitors;
        let cannot = |says: Text, hint: Option<Text>| Refusal {
            operator_error: true,
            says: Text::new("error-of-host")
                .word("host", &wish.host)
                .text("says", says),
            hint,
        };
        MonitorSpec::within_bounds(monitors).map_err(|says| cannot(says.into(), None))?;
        let policy = self.observation.as_ref();
        let verdict = policy.map_or(Ok(()), |policy| policy.allows(monitors));
        if !monitors.is_empty() {
            let names: Vec<&str> = monitors.iter().map(|spec| spec.name.as_str()).collect();
            let mut about = serde_json::json!({ "monitors": names });
            let what = match &verdict {
                Ok(()) => "observe",
                Err(refusal) => {
                    about["why"] = english(&refusal.says).into();
                    "refused"
                }
            };
            self.note(what, about)?;
        }
        verdict?;
        let allowed = |name: &str| policy.is_none_or(|policy| policy.allows_standing(name));
        watch::plan(monitors, wish.interval_ns, allowed)
            .map_err(|bad| cannot(bad.to_string().into(), Some(bad.hint())))
    }
}

/// Content of [`Ask::Watch`].
struct WatchWish {
    host: String,
    t0_ns: i64,
    interval_ns: u64,
    scope: WatchScope,
    monitors: Vec<MonitorSpec>,
}

impl Session {
    /// Ends the session in order: the controller has received everything.
    fn leave(&mut self) {
        self.state = State::Idle;
        self.watch = None;
        if let Some(kept) = self.outlet.kept.take() {
            kept.forget();
        }
    }

    fn kept(&self, run: &RunId, from: u64) -> Result<Reply, Refusal> {
        let keeper = self.guard.as_ref().and_then(|guard| guard.keeper.as_ref());
        match keeper.map(|keeper| keeper.page(run, from)) {
            // Without a keeper nothing is kept.
            None => Ok(Reply::Kept {
                batches: Vec::new(),
                next: None,
            }),
            Some(Ok(page)) => Ok(Reply::Kept {
                batches: page.batches,
                next: page.next,
            }),
            Some(Err(says)) => Err(Refusal {
                operator_error: false,
                says: Text::new("error-of-host")
                    .word("host", &self.host)
                    .word("says", says),
                hint: None,
            }),
        }
    }
}

impl Drop for Session {
    /// Stops the load: it must not outlive the session of its controller.
    fn drop(&mut self) {
        let what = match self.state {
            State::Idle => "left",
            State::Prepared(_) | State::Armed(_) | State::Running(_) => "left during a phase",
        };
        if let State::Prepared(work) | State::Armed(work) | State::Running(work) =
            std::mem::replace(&mut self.state, State::Idle)
        {
            // As below.
            let _ = self.note_excess(&work);
        }
        // Its last sample is kept, too.
        self.watch = None;
        // The controller is gone: a failure to log cannot be reported to it.
        let _ = self.note(what, serde_json::Value::Null);
    }
}

impl Handler for Session {
    fn handle(&mut self, ask: Ask) -> Reply {
        let answer = match ask {
            Ask::Describe => Ok(self.describe()),
            Ask::Clock => Ok(Reply::Clock(now_ns())),
            Ask::Environment => {
                let facts =
                    sokudo_monitors::environment::capture(&self.host, &Context::host(&self.host));
                Ok(Reply::Environment(facts))
            }
            Ask::Watch {
                host,
                t0_ns,
                interval_ns,
                scope,
                monitors,
            } => self.begin_watch(WatchWish {
                host,
                t0_ns,
                interval_ns,
                scope,
                monitors,
            }),
            Ask::Unwatch => {
                self.watch = None;
                Ok(Reply::Done)
            }
            Ask::Prepare(spec) => self.prepare(*spec),
            Ask::Arm { offers } => self.arm(&offers),
            Ask::Start { at_ns, t0_ns } => self.start(at_ns, t0_ns),
            Ask::Halt => {
                self.if_running(|phase| phase.halt());
                Ok(Reply::Done)
            }
            Ask::Steer { change } => self.steer(&change),
            Ask::Clocks { clocks } => {
                self.if_running(|phase| phase.clocks(&clocks));
                Ok(Reply::Done)
            }
            Ask::Drain { sent } => self.drain(&sent),
            Ask::Stop => {
                self.state = State::Idle;
                Ok(Reply::Done)
            }
            Ask::Bye => {
                self.leave();
                Ok(Reply::Done)
            }
            Ask::Kept { run, from } => self.kept(&run, from),
            Ask::Discard { run } => {
                let keeper = self.guard.as_ref().and_then(|guard| guard.keeper.as_ref());
                if let Some(keeper) = keeper {
                    keeper.discard(&run);
                }
                Ok(Reply::Done)
            }
            // Answered by the bus; here it changes nothing.
            Ask::Lease { .. } | Ask::Hush { .. } => Ok(Reply::Done),
        };
        answer.unwrap_or_else(Reply::Refused)
    }
}

fn out_of_order(what: &str) -> Refusal {
    Refusal {
        operator_error: false,
        says: Text::new("error-agent-out-of-order").word("what", what),
        hint: None,
    }
}

/// Nanoseconds until a start, 0 for one that has come.
///
/// Errors: no controller whose clock was compared with this one names such moments.
fn ahead_of_now(at_ns: i64, t0_ns: i64) -> Result<u64, Refusal> {
    let ahead_ns = at_ns.saturating_sub(now_ns());
    let is_near = (-MOST_LATE_NS..=MOST_AHEAD_NS).contains(&ahead_ns);
    match is_near && at_ns.abs_diff(t0_ns) <= MOST_APART_NS {
        true => Ok(u64::try_from(ahead_ns).unwrap_or(0)),
        false => Err(not_a_time(ahead_ns)),
    }
}

/// A refusal of a moment that no controller whose clock was compared with this one names.
fn not_a_time(ahead_ns: i64) -> Refusal {
    let says = Text::new("error-agent-start-time");
    Refusal {
        operator_error: false,
        says: says.number("time", ahead_ns as f64 * 1e-9, Unit::Seconds),
        hint: None,
    }
}

/// Whether a policy allows a phase: every workload that the phase carries out must be allowed. Returns
/// what they demand together.
fn judge(policy: &Policy, spec: &PhaseSpec) -> Result<Demand, Refusal> {
    let mut demands = Vec::new();
    for (workload, part) in sokudo_workloads::parts(spec)? {
        let demand = workload.demand(&part)?;
        policy.allows(&part, &demand)?;
        policy.allows_paths(&workload.paths(&part)?)?;
        demands.push(demand);
    }
    Ok(demands.into_iter().sum())
}

#[cfg(test)]
mod tests;
