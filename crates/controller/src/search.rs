//! Searches the highest rate that meets the bounds.
//!
//! Runs phases as [`sokudo_stats::RateSearch`] asks for them.

use sokudo_model::{Bounds, CurveMetrics, PhasePlan, PhaseRecord, RunStatus, Text, Unit, kinds};
use sokudo_stats::{Best, First, Outcome, Purpose, RateSearch, RateSearchConfig, SearchStep};
use sokudo_workload::Workload;

use crate::error::ControlError;
use crate::run::Run;

/// Settings of a search.
#[derive(Debug, Clone)]
pub struct SearchPlan {
    /// Phase to vary; its name becomes `<name>-1`, `<name>-2`, …
    pub base: PhasePlan,
    /// Load of a probe, nanoseconds.
    pub probe_ns: u64,
    /// Load of a confirmation, nanoseconds.
    pub confirm_ns: u64,
    /// The bounds that a rate must meet.
    pub bounds: Bounds,
    /// Probes at most; confirmations come on top.
    pub max_probes: u32,
}

/// Result of a search.
#[derive(Debug, Clone)]
pub struct Searched {
    /// The rate that held.
    pub best: Best,
    /// The phase that confirmed it.
    pub confirmed: PhaseRecord,
}

/// Rates that differ by less than this share count as equal.
const RESOLUTION: f64 = 0.05;
/// Confirmations at most.
const MAX_CONFIRMS: u32 = 6;
/// Share of the offered rate, beyond the losses allowed, that may be missing from what was carried:
/// both are measured over times that differ a little.
const NOT_CARRIED: f64 = 0.03;
/// Lowest rate worth trying, events per second.
const LOW_PER_S: f64 = 100.0;

/// One search at work.
struct Search<'a> {
    plan: &'a SearchPlan,
    workload: &'static dyn Workload,
    curve: &'static CurveMetrics,
}

impl Run {
    /// Searches the highest rate that keeps the bounds; `None` when no rate does, or when the
    /// search was ended early.
    ///
    /// Every trial is a phase of the record, with labels `role` = `probe` or `confirm`, `rate`, and
    /// `bounds`. The answer goes into the run's summary, together with the numbers of the phase
    /// that confirmed it.
    pub fn search(&mut self, plan: &SearchPlan) -> Result<Option<Searched>, ControlError> {
        let search = Search::new(plan)?;
        let found = search.run(self)?;
        if let Some(found) = &found {
            let result = &found.confirmed.result;
            let best = search.workload.best(&found.best, result);
            let summary = &mut self.manifest.summary;
            summary.extend(result.summary.clone());
            summary.extend(best);
        }
        Ok(found)
    }

    fn relabel_last(&mut self, label: &str, value: &str) -> Result<(), ControlError> {
        if let Some(phase) = self.manifest.phases.last_mut() {
            phase.labels.insert(label.into(), value.into());
        }
        Ok(self.writer.write_manifest(&self.manifest)?)
    }
}

impl<'a> Search<'a> {
    fn new(plan: &'a SearchPlan) -> Result<Self, ControlError> {
        let name = &plan.base.workload;
        let both = sokudo_workloads::find(name).zip(kinds::curve_metrics(name));
        let (workload, curve) = both.ok_or_else(|| ControlError::Operator {
            says: Text::new("error-search-no-rate").word("workload", name),
            hint: None,
        })?;
        plan.bounds.check(name, curve).map_err(|refusal| {
            let host = "this host".into();
            ControlError::refused(host, refusal)
        })?;
        Ok(Self {
            plan,
            workload,
            curve,
        })
    }

    fn run(&self, run: &mut Run) -> Result<Option<Searched>, ControlError> {
        let mut strategy = RateSearch::new(RateSearchConfig {
            low: LOW_PER_S,
            first: self.workload.first(),
            resolution: RESOLUTION,
            max_probes: self.plan.max_probes,
            max_confirms: MAX_CONFIRMS,
        });
        let mut confirmed = None;
        loop {
            let (rate, purpose) = match strategy.next() {
                SearchStep::Done { best, .. } => {
                    let both = best.zip(confirmed);
                    return Ok(both.map(|(best, confirmed)| Searched { best, confirmed }));
                }
                SearchStep::Try { rate, purpose } => (rate, purpose),
            };
            let trial = run.run_phase(self.trial(run, rate, purpose)?)?;
            let outcome = self.workload.outcome(&trial.result);
            let usable = trial.status != RunStatus::Failed && !run.interrupted();
            let Some(outcome) = outcome.filter(|_| usable) else {
                return Ok(None);
            };
            let used = self.used(&trial, &outcome);
            if purpose == Purpose::Confirm && used <= 1.0 {
                confirmed = Some(trial);
            } else if purpose == Purpose::Confirm {
                // A confirmation that failed bounds the limit from above, as a probe does.
                run.relabel_last("role", "probe")?;
            }
            strategy.report(outcome, used);
        }
    }

    /// The largest of measured over allowed. A rate that is not carried does not hold, whatever
    /// else it keeps: a lower rate than was offered has few errors and short latencies.
    fn used(&self, trial: &PhaseRecord, outcome: &Outcome) -> f64 {
        let bounds = &self.plan.bounds;
        let shares = bounds.iter().filter(|bound| !bound.is_time());
        let allowed = shares.map(|bound| bound.most).fold(0.0, f64::max) + NOT_CARRIED;
        let missing = 1.0 - outcome.delivered / outcome.offered;
        let carried = match missing.is_finite() {
            true => missing.max(0.0) / allowed,
            false => f64::MAX,
        };
        bounds.used(self.curve, &trial.result).max(carried)
    }

    fn trial(
        &self,
        run: &Run,
        rate: Option<f64>,
        purpose: Purpose,
    ) -> Result<PhasePlan, ControlError> {
        let plan = self.plan;
        let (role, duration_ns) = match purpose {
            Purpose::Scout | Purpose::Probe => ("probe", plan.probe_ns),
            Purpose::Confirm => ("confirm", plan.confirm_ns),
        };
        let options = self.workload.trial(&plan.base.options, rate, duration_ns);
        let mut phase = plan.base.clone();
        phase.options =
            options.map_err(|refusal| ControlError::refused("this host".into(), refusal))?;
        let trials = run.manifest().phases.iter();
        let number = 1 + trials.filter(|p| p.labels.contains_key("bounds")).count();
        phase.name = format!("{}-{number}", plan.base.name);
        let shown = match (rate, self.workload.first()) {
            (Some(rate), First::Unlimited) => {
                sokudo_model::units::human(rate, Unit::PacketsPerSecond)
            }
            (Some(rate), _) => sokudo_model::units::human(rate, Unit::PerSecond),
            (None, First::ClosedLoop) => "closed loop".into(),
            (None, _) => "unlimited".into(),
        };
        let labels = [
            ("role", role.to_owned()),
            ("rate", shown),
            ("bounds", plan.bounds.to_string()),
        ];
        let labels = labels.map(|(label, value)| (label.to_owned(), value));
        phase.labels.extend(labels);
        phase.duration_ns = duration_ns;
        phase.bound_ns = duration_ns + crate::phase::SLACK_NS;
        Ok(phase)
    }
}
