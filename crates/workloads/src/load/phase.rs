//! One host's part of a load as a plan says.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sokudo_model::{Batch, Labels, PhaseSpec, Refusal, SeriesKey, Text};

use super::generator::{Generator, Listener};
use super::options::LoadOptions;
use super::read::{Prepared, read_plan};
use super::results::Numbers;
use super::tally::{LabelTally, Tallies};
use super::{Finished, NAME};
use crate::contract::{Emit, Emitted, Phase};
use crate::refusal::{failed, operator};
use crate::reporting::{self, Distributions, HISTOGRAM_EVERY_NS};

/// Labels that have series of their own; the rest is in the totals.
const MOST_SERIES: usize = 20;

/// Whether this process was started to execute plans. Others that reach it must not: a plan reads
/// and writes files of this host.
static PERMITTED: AtomicBool = AtomicBool::new(false);

/// Lets this process execute plans. For the command that its own operator typed, never for one that
/// serves others.
pub fn permit() {
    PERMITTED.store(true, Ordering::Relaxed);
}

/// One host's part of a phase.
pub(super) struct LoadPhase {
    options: LoadOptions,
    spec: PhaseSpec,
    emit: Emit,
    prepared: Prepared,
    generator: Option<Generator>,
}

impl LoadPhase {
    /// Reads the plan; no traffic yet.
    pub fn prepare(options: LoadOptions, spec: PhaseSpec, emit: Emit) -> Result<Self, Refusal> {
        if !PERMITTED.load(Ordering::Relaxed) {
            return Err(operator(
                "this host executes no test plans for others: they read and write its files",
                "type `sokudo load` on that host itself",
            ));
        }
        let reading = read_plan(&options, spec.seed)?;
        let prepared = Prepared::new(reading, &options, spec.seed)?;
        Ok(Self {
            options,
            spec,
            emit,
            prepared,
            generator: None,
        })
    }
}

impl Phase for LoadPhase {
    fn offer(&self) -> String {
        "{}".into()
    }

    fn arm(&mut self, _offers: &[Option<String>]) -> Result<(), Refusal> {
        Ok(())
    }

    fn start(&mut self, at_ns: i64, t0_ns: i64) -> Result<(), Refusal> {
        let me = self.spec.hosts.get(self.spec.me as usize);
        let names = reporting::Names {
            host: me.map_or(String::new(), |host| host.name.clone()),
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
        let when = (at_ns, self.spec.seed);
        let generator = Generator::start(&self.prepared, &self.options, when, listener, ended)?;
        self.generator = Some(generator);
        Ok(())
    }

    fn halt(&mut self) {
        if let Some(generator) = &self.generator {
            generator.stop();
        }
    }

    fn drain(&mut self, _sent: &[Option<String>]) -> Result<String, Refusal> {
        let Some(generator) = self.generator.take() else {
            return Err(failed("the phase was never started on this host", None));
        };
        if !generator.is_over() {
            generator.stop_now();
        }
        let finished = generator.finish()?;
        self.tell(&finished);
        let numbers = Numbers::new(&finished, self.options.open_per_s);
        serde_json::to_string(&numbers)
            .map_err(|error| failed(format!("the result cannot be written: {error}"), None))
    }
}

impl LoadPhase {
    fn tell(&self, finished: &Finished) {
        let problem = |says: Text| {
            (self.emit)(Emitted::Problem {
                says,
                missing: None,
            });
        };
        for what in &finished.problems {
            problem(Text::new("load-problem").word("what", what.as_str()));
        }
        for (what, count) in &finished.troubles {
            let says = Text::new("load-trouble").word("what", what.as_str());
            problem(says.word("count", count.to_string()));
        }
        if finished.lost_rows > 0 {
            problem(Text::new("load-lost-rows").word("count", finished.lost_rows.to_string()));
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
    distributions: Distributions,
}

impl Listener for Series {
    fn interval(&self, at_ns: i64, seen: &Tallies, active: u32) {
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
            &self.names.key(NAME, "http.active_users", ""),
            t_ns,
            f64::from(active),
        );
        for (label, tally) in seen.iter().filter(|(_, tally)| !tally.is_transaction) {
            let known = state.labels.iter().any(|known| known == label);
            if !known && state.labels.len() < MOST_SERIES {
                state.labels.push(label.clone());
            }
            if known || state.labels.last() == Some(label) {
                self.one(
                    &mut batch,
                    &mut state.distributions,
                    (at_ns, seconds),
                    label,
                    tally,
                );
            }
        }
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
        distributions: &mut Distributions,
        (at_ns, seconds): (i64, f64),
        label: &str,
        tally: &LabelTally,
    ) {
        let key = |metric: &str| SeriesKey {
            host: self.names.host.clone(),
            source: NAME.into(),
            metric: metric.into(),
            labels: Labels::from([("flow".into(), label.into())]),
        };
        let t_ns = at_ns - self.names.t0_ns;
        batch.push(
            &key("http.requests_per_second"),
            t_ns,
            tally.samples as f64 / seconds,
        );
        if tally.latency.is_empty() {
            return;
        }
        let quantile = |q: f64| tally.latency.quantile(q) as f64 / 1e9;
        batch.push(&key("http.latency_p50_seconds"), t_ns, quantile(0.5));
        batch.push(&key("http.latency_p99_seconds"), t_ns, quantile(0.99));
        let names = &self.names;
        distributions.add(
            names,
            "http.latency_seconds",
            label.into(),
            at_ns,
            &tally.latency,
        );
    }
}
