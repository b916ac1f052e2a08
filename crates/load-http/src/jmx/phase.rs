//! One host's part of a load as a plan says.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use sokudo_jmeter::run::{GeneratorShare, asked_per_s};
use sokudo_model::kinds::http as numbers;
use sokudo_model::{Batch, Change, Labels, Metric, PhaseSpec, Refusal, SeriesKey, Text};
use sokudo_workload::contract::{Emit, Emitted, Phase};
use sokudo_workload::failures::Failures;
use sokudo_workload::limit::Limit;
use sokudo_workload::refusal::{failed, operator};
use sokudo_workload::reporting::{self, Distributions, HISTOGRAM_EVERY_NS, never_started};

use super::bundle::Bundle;
use super::generator::{Generator, LoadObserver, OpenLog, UsersSeen};
use super::options::{JmxOptions, Together};
use super::read::{Duty, Prepared, read_plan};
use super::results::Numbers;
use super::rows::RowLog;
use super::tally::{LabelTally, Tallies};
use super::{Finished, NAME};

/// Labels that have series of their own; the rest is in the totals.
const MOST_SERIES: usize = 20;
/// Between the seeds of two generators of the same plan: the golden ratio of 2^64.
const SEED_STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// Whether this process was started to execute plans of its own files. Others that reach it must
/// not: such a plan reads and writes files of this host.
static PERMITTED: AtomicBool = AtomicBool::new(false);

/// The password of the proxy: known to this process alone, because options are recorded.
static PROXY_PASSWORD: OnceLock<String> = OnceLock::new();

/// Gives this process the password of its proxy; the first one stays.
pub fn know_proxy_password(password: String) {
    let _ = PROXY_PASSWORD.set(password);
}

/// The password of the proxy, if one was given.
pub(super) fn proxy_password() -> Option<&'static str> {
    PROXY_PASSWORD.get().map(String::as_str)
}

/// Lets this process execute plans. For the command that its own operator typed, never for one that
/// serves others.
pub fn permit() {
    PERMITTED.store(true, Ordering::Relaxed);
}

/// One host's part of a phase.
pub(super) struct JmxPhase {
    options: JmxOptions,
    spec: PhaseSpec,
    emit: Emit,
    role: Role,
    generator: Option<Generator>,
}

/// Role of this host in a phase.
enum Role {
    /// It executes a plan of its own.
    Alone(Box<Prepared>),
    /// It hands the plan to the generators.
    Gives(Bundle),
    /// It executes what it is given; `None` until it has been.
    Given(Option<Box<Prepared>>),
}

impl JmxPhase {
    /// Reads the plan; no traffic yet.
    pub fn prepare(options: JmxOptions, spec: PhaseSpec, emit: Emit) -> Result<Self, Refusal> {
        let role = match &options.together {
            Some(_) if generates(&spec) => Role::Given(None),
            together => {
                must_be_permitted()?;
                match together {
                    Some(_) => Role::Gives(Bundle::collect(&options, spec.seed)?),
                    None => {
                        let reading = read_plan(&options, spec.seed)?;
                        Role::Alone(Box::new(Prepared::new(reading, &options, spec.seed)?))
                    }
                }
            }
        };
        Ok(Self {
            options,
            spec,
            emit,
            role,
            generator: None,
        })
    }

    fn name(&self) -> String {
        let me = self.spec.hosts.get(self.spec.me as usize);
        me.map_or(String::new(), |host| host.name.clone())
    }

    /// Share of this host among the generators.
    fn part(&self) -> GeneratorShare {
        let flows = &self.spec.phase.flows;
        let index = flows.iter().position(|flow| flow.from == self.spec.me);
        GeneratorShare::new(index.unwrap_or(0) as u64, flows.len() as u64)
            .unwrap_or(GeneratorShare::WHOLE)
    }

    /// A change of all generators together, for one that does the whole plan.
    fn own_part_of(&self, change: &Change) -> Change {
        let replicates = self
            .options
            .together
            .as_ref()
            .is_some_and(|all| all.replicate);
        let rate_per_s = change.rate_per_s.map(|per_s| match replicates {
            true => per_s / self.part().of() as f64,
            false => per_s,
        });
        Change {
            rate_per_s,
            ..*change
        }
    }

    /// Random choices: those of one test where users are divided, else each generator's own.
    fn seed(&self) -> u64 {
        match &self.options.together {
            Some(together) if together.replicate => {
                let index = self.part().index();
                self.spec.seed.wrapping_add(index.wrapping_mul(SEED_STEP))
            }
            _ => self.spec.seed,
        }
    }

    /// Share of this generator; `t0_ns` is the run's start on this host's clock.
    fn duty(&self, together: &Together, t0_ns: i64) -> Duty {
        let (part, host) = (self.part(), self.name());
        let (users, name_prefix) = match together.replicate {
            true => (GeneratorShare::WHOLE, host.clone()),
            false => (part, String::new()),
        };
        Duty {
            users,
            data: if together.split_data {
                part
            } else {
                GeneratorShare::WHOLE
            },
            name_prefix,
            host,
            wall_offset_ns: together.start_unix_ns.saturating_sub(t0_ns),
        }
    }

    /// Sender of the rows when they are not written here.
    fn away(&self, together: &Together, t0_ns: i64) -> Result<Option<OpenLog>, Refusal> {
        if !together.rows {
            return Ok(None);
        }
        let format = Arc::new(self.options.row_format(&self.name()));
        let (log, sender) = RowLog::away(Arc::clone(&self.emit), t0_ns)?;
        Ok(Some((log, format, sender)))
    }
}

/// True when this host executes a plan in the phase.
pub(super) fn generates(spec: &PhaseSpec) -> bool {
    spec.phase.flows.iter().any(|flow| flow.from == spec.me)
}

fn must_be_permitted() -> Result<(), Refusal> {
    match PERMITTED.load(Ordering::Relaxed) {
        true => Ok(()),
        false => Err(operator(
            Text::new("error-jmx-own-files"),
            Text::new("error-jmx-own-files-hint"),
        )),
    }
}

impl Phase<Numbers> for JmxPhase {
    fn offer(&self) -> String {
        match &self.role {
            Role::Gives(bundle) => bundle.to_text(),
            Role::Alone(_) | Role::Given(_) => "{}".into(),
        }
    }

    fn hold_to(&mut self, _: &Arc<Limit>) {
        // A policy with a rate allows no plan: what it asks for is known when it runs.
    }

    fn arm(&mut self, offers: &[Option<String>]) -> Result<(), Refusal> {
        if !matches!(self.role, Role::Given(_)) {
            return Ok(());
        }
        let mut flows = self.spec.phase.flows.iter();
        let own = flows.find(|flow| flow.from == self.spec.me);
        let giver = own.map_or(0, |flow| flow.to);
        let text = offers.get(giver as usize).and_then(Option::as_deref);
        let text = text.ok_or_else(|| failed(Text::new("error-jmx-not-sent"), None))?;
        let options = JmxOptions {
            // The name alone: nothing here is opened by it.
            plan: self.options.plan.file_name().unwrap_or_default().into(),
            key_store: None,
            ..self.options.clone()
        };
        let prepared = Bundle::parse(text)?.prepare(&options, self.seed())?;
        self.role = Role::Given(Some(Box::new(prepared)));
        Ok(())
    }

    fn start(&mut self, at_ns: i64, t0_ns: i64) -> Result<(), Refusal> {
        let names = reporting::Names {
            host: self.name(),
            flows: Default::default(),
            t0_ns,
            start_ns: at_ns,
        };
        let listener = Arc::new(Series {
            names,
            emit: Arc::clone(&self.emit),
            state: Default::default(),
        });
        let emit = Arc::clone(&self.emit);
        let ended = move || emit(Emitted::Sent("{}".into()));
        let when = (at_ns, self.seed());
        let together = self.options.together.clone();
        let (log, duty) = match &together {
            Some(together) => (
                self.away(together, t0_ns)?,
                Some(self.duty(together, t0_ns)),
            ),
            None => (None, None),
        };
        let generator = match (&mut self.role, duty) {
            (Role::Given(Some(prepared)), Some(duty)) => {
                prepared.duty = duty;
                Generator::start_with(log, prepared, &self.options, when, listener, ended)?
            }
            (Role::Alone(prepared), _) => {
                Generator::start(prepared, &self.options, when, listener, ended)?
            }
            (Role::Gives(_), _) => return Ok(()),
            (Role::Given(_), _) => return Err(failed(Text::new("error-jmx-not-sent"), None)),
        };
        self.generator = Some(generator);
        Ok(())
    }

    fn halt(&mut self) {
        if let Some(generator) = &self.generator {
            generator.stop();
        }
    }

    fn steer(&mut self, change: &Change) -> Result<(), Refusal> {
        match &self.generator {
            Some(generator) => generator.steer(&self.own_part_of(change), self.part()),
            // A host that only gave the plan has no users.
            None => Ok(()),
        }
    }

    fn drain(&mut self, _sent: &[Option<String>]) -> Result<Numbers, Refusal> {
        if let Role::Gives(_) = self.role {
            return Ok(Numbers::default());
        }
        let Some(generator) = self.generator.take() else {
            return Err(never_started());
        };
        if !generator.is_over() {
            generator.stop_now();
        }
        let finished = generator.finish()?;
        self.tell(&finished);
        let asked = match &self.role {
            Role::Given(Some(prepared)) | Role::Alone(prepared) if !finished.rate_changed => {
                let all = asked_per_s(&prepared.plan);
                all.map(|all| all / prepared.duty.users.of() as f64)
            }
            _ => None,
        };
        Ok(Numbers::new(&finished, asked))
    }
}

impl JmxPhase {
    fn tell(&self, finished: &Finished) {
        let problem = |says: Text| {
            (self.emit)(Emitted::Problem {
                says,
                missing: None,
            });
        };
        for what in &finished.problems {
            problem(Text::new("jmx-run-problem").text("what", what.clone()));
        }
        for (what, count) in &finished.troubles {
            let says = Text::new("jmx-run-trouble").word("what", what.as_str());
            problem(says.word("count", count.to_string()));
        }
        if finished.lost_rows > 0 {
            problem(Text::new("jmx-run-lost-rows").word("count", finished.lost_rows.to_string()));
        }
    }
}

/// Makes series of what is seen.
struct Series {
    names: reporting::Names,
    emit: Emit,
    state: std::sync::Mutex<SeriesState>,
}

#[derive(Default)]
struct SeriesState {
    last_ns: Option<i64>,
    labels: Vec<String>,
    /// Labels of which something failed: the others have no series of it.
    failing: Vec<String>,
    reasons: Failures,
    distributions: Distributions,
}

impl LoadObserver for Series {
    fn interval(&self, at_ns: i64, seen: &Tallies, users: UsersSeen) {
        let mut state = self
            .state
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let since_ns = state.last_ns.replace(at_ns).unwrap_or(self.names.start_ns);
        let seconds = (at_ns - since_ns) as f64 / 1e9;
        if seconds <= 0.0 {
            return;
        }
        let mut batch = Batch::default();
        let t_ns = at_ns - self.names.t0_ns;
        batch.push(
            &self.names.key(NAME, numbers::ACTIVE_USERS, ""),
            t_ns,
            f64::from(users.active),
        );
        if let Some(ratio) = users.pausing {
            let key = self.names.key(NAME, numbers::PAUSING_RATIO, "");
            batch.push(&key, t_ns, ratio);
        }
        for (label, tally) in seen.iter().filter(|(_, tally)| !tally.is_transaction) {
            state.reasons.add_all(label, &tally.reasons);
            let known = state.labels.iter().any(|known| known == label);
            if !known && state.labels.len() < MOST_SERIES {
                state.labels.push(label.clone());
            }
            if known || state.labels.last() == Some(label) {
                self.one(&mut batch, &mut state, (at_ns, seconds), label, tally);
            }
        }
        state.reasons.tell(&self.names, NAME, t_ns, &mut batch);
        state
            .distributions
            .flush(&self.names, NAME, at_ns, HISTOGRAM_EVERY_NS, &mut batch);
        (self.emit)(Emitted::Batch(batch));
    }
}

impl Series {
    fn one(
        &self,
        batch: &mut Batch,
        state: &mut SeriesState,
        (at_ns, seconds): (i64, f64),
        label: &str,
        tally: &LabelTally,
    ) {
        let key = |metric: Metric| SeriesKey {
            host: self.names.host.clone(),
            source: NAME.into(),
            metric: metric.into(),
            labels: Labels::from([("flow".into(), label.into())]),
        };
        let t_ns = at_ns - self.names.t0_ns;
        batch.push(
            &key(numbers::REQUESTS_PER_SECOND),
            t_ns,
            tally.samples as f64 / seconds,
        );
        let known = state.failing.iter().any(|known| known == label);
        if tally.failed > 0 && !known {
            state.failing.push(label.into());
        }
        if tally.failed > 0 || known {
            let per_s = tally.failed as f64 / seconds;
            batch.push(&key(numbers::FAILED_PER_SECOND), t_ns, per_s);
        }
        if tally.samples > 0 {
            let share = tally.failed as f64 / tally.samples as f64;
            batch.push(&key(numbers::ERROR_RATIO), t_ns, share);
        }
        if tally.latency.is_empty() {
            return;
        }
        let quantile = |q: f64| tally.latency.quantile(q) as f64 / 1e9;
        batch.push(&key(numbers::LATENCY_P50_SECONDS), t_ns, quantile(0.5));
        batch.push(&key(numbers::LATENCY_P99_SECONDS), t_ns, quantile(0.99));
        let answered = tally.samples - tally.lost;
        for (metric, seconds) in tally.spent.means(answered) {
            batch.push(&key(metric), t_ns, seconds);
        }
        let names = &self.names;
        state.distributions.add(
            names,
            numbers::LATENCY_SECONDS,
            label.into(),
            at_ns,
            &tally.latency,
        );
    }
}
