//! Searches the highest rate that meets the bounds.
//!
//! Runs phases as [`sokudo_stats::RateSearch`] asks for them.

use std::time::Duration;

use sokudo_model::{Bounds, CurveMetrics, PhasePlan, PhaseRecord, RunStatus, Text, Unit, kinds};
use sokudo_stats::repeats::{AGAIN, HELD};
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

/// Purpose of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Probe,
    Confirm,
    /// At the answer, after its confirmation.
    Again,
}

impl From<Purpose> for Role {
    fn from(purpose: Purpose) -> Self {
        match purpose {
            Purpose::Scout | Purpose::Probe => Self::Probe,
            Purpose::Confirm => Self::Confirm,
        }
    }
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
/// Further trials at the answer: with the confirmation six, which give an interval of 95 %.
const AGAIN_TRIALS: u32 = 5;
/// Trials are lengthened up to this for the samples that a percentile needs, nanoseconds.
const LONGEST_NS: u64 = 60_000_000_000;
/// Longest wait for queues to empty after a trial that broke a bound, nanoseconds.
const MOST_DRAIN_NS: u64 = 5_000_000_000;

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
    /// Every trial is a phase of the record, with labels `role` = `probe`, `confirm` or `again`,
    /// `rate`, `bounds`, and `held` = `yes` or `no`. A rate that a confirmation held is tried five times
    /// more, and is the answer when at least half of the trials hold it. A trial has ten samples beyond
    /// the highest percentile that is bounded, and begins when the queues of the one before are
    /// empty. The answer goes into the run's summary, together with the numbers of the phase
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

    fn relabel(&mut self, phase: &str, label: &str, value: &str) -> Result<(), ControlError> {
        let mut phases = self.manifest.phases.iter_mut();
        if let Some(phase) = phases.rfind(|known| known.name == phase) {
            phase.labels.insert(label.into(), value.into());
        }
        Ok(self.writer.write_manifest(&self.manifest)?)
    }

    /// Does nothing for so long, or until the run is interrupted.
    fn rest(&mut self, ns: u64) {
        const LOOK_NS: u64 = 50_000_000;
        let mut left = ns;
        while left > 0 && !self.interrupted() {
            let step = left.min(LOOK_NS);
            std::thread::sleep(Duration::from_nanos(step));
            left -= step;
        }
    }
}

impl<'a> Search<'a> {
    fn new(plan: &'a SearchPlan) -> Result<Self, ControlError> {
        let name = &plan.base.workload;
        let kind = kinds::find(name).filter(|kind| kind.is_searched());
        let curve = kind.and_then(|kind| kind.curve.as_ref());
        let both = sokudo_workloads::find(name).zip(curve);
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
            let Some((trial, outcome, mut used)) = self.try_at(run, rate, purpose.into())? else {
                return Ok(None);
            };
            if purpose == Purpose::Confirm && used <= 1.0 {
                used = self.held_again(run, rate, used)?;
            }
            if purpose == Purpose::Confirm && used <= 1.0 {
                confirmed = Some(trial);
            } else if purpose == Purpose::Confirm {
                // A confirmation that failed bounds the limit from above, as a probe does.
                run.relabel(&trial.name, "role", "probe")?;
            }
            strategy.report(outcome, used);
        }
    }

    /// One trial: its record, what came out, and what it used of its bounds; `None` when the search
    /// cannot go on.
    fn try_at(
        &self,
        run: &mut Run,
        rate: Option<f64>,
        role: Role,
    ) -> Result<Option<(PhaseRecord, Outcome, f64)>, ControlError> {
        let Some(plan) = self.trial(run, rate, role)? else {
            return Ok(None);
        };
        let trial = run.run_phase(plan)?;
        let outcome = self.workload.outcome(&trial.result);
        let usable = trial.status != RunStatus::Failed && !run.interrupted();
        let Some(outcome) = outcome.filter(|_| usable) else {
            return Ok(None);
        };
        let used = self.used(&trial, &outcome);
        let held = if used <= 1.0 { "yes" } else { "no" };
        run.relabel(&trial.name, HELD, held)?;
        if used > 1.0 {
            run.rest(self.drain_ns(&trial));
        }
        Ok(Some((trial, outcome, used)))
    }

    /// Tries a rate that was confirmed again: what the trials used in their median, the confirmation
    /// with `used` among them.
    fn held_again(&self, run: &mut Run, rate: Option<f64>, used: f64) -> Result<f64, ControlError> {
        let mut all = vec![used];
        for _ in 0..AGAIN_TRIALS {
            match self.try_at(run, rate, Role::Again)? {
                Some((_, _, used)) => all.push(used),
                None => break,
            }
        }
        all.sort_by(f64::total_cmp);
        // Of an even number the lower one: half of them hold.
        Ok(all[(all.len() - 1) / 2])
    }

    /// Time until queues are empty: the last request has waited for everything before it.
    fn drain_ns(&self, trial: &PhaseRecord) -> u64 {
        let longest_s = self.curve.latency_s(&trial.result, "max").unwrap_or(0.0);
        ((longest_s * 1e9) as u64).min(MOST_DRAIN_NS)
    }

    /// Duration of a trial at a rate: long enough for the highest percentile that is bounded. `Err`
    /// with the duration that it would need when that is too long.
    fn duration_ns(&self, rate: Option<f64>, role: Role) -> Result<u64, u64> {
        let plan = self.plan;
        let usual_ns = match role {
            Role::Probe | Role::Again => plan.probe_ns,
            Role::Confirm => plan.confirm_ns,
        };
        let needed = rate.map_or(0.0, |rate| plan.bounds.samples() / rate * 1e9);
        let needed_ns = needed.ceil() as u64;
        match needed_ns <= LONGEST_NS.max(plan.confirm_ns) {
            true => Ok(usual_ns.max(needed_ns)),
            false => Err(needed_ns),
        }
    }

    /// The largest of measured over allowed. A rate that is not carried does not hold, whatever
    /// else it keeps: a lower rate than was offered has few errors and short latencies.
    fn used(&self, trial: &PhaseRecord, outcome: &Outcome) -> f64 {
        let bounds = &self.plan.bounds;
        let shares = bounds.iter().filter(|bound| bound.unit() == Unit::Ratio);
        let allowed = shares.map(|bound| bound.limit).fold(0.0, f64::max) + NOT_CARRIED;
        let missing = 1.0 - outcome.delivered / outcome.offered;
        let carried = match missing.is_finite() {
            true => missing.max(0.0) / allowed,
            false => f64::MAX,
        };
        bounds.used(self.curve, &trial.result).max(carried)
    }

    /// The phase of a trial; `None` when it would take too long, which is told.
    fn trial(
        &self,
        run: &mut Run,
        rate: Option<f64>,
        role: Role,
    ) -> Result<Option<PhasePlan>, ControlError> {
        let plan = self.plan;
        let duration_ns = match self.duration_ns(rate, role) {
            Ok(duration_ns) => duration_ns,
            Err(needed_ns) => {
                let says = Text::new("engine-search-too-slow")
                    .number("samples", plan.bounds.samples(), Unit::One)
                    .word("bounds", plan.bounds.to_string())
                    .number("rate", rate.unwrap_or(0.0), Unit::PerSecond)
                    .word("needed", format!("{}s", needed_ns.div_ceil(1_000_000_000)));
                run.note_problem(says);
                return Ok(None);
            }
        };
        let role = match role {
            Role::Probe => "probe",
            Role::Confirm => "confirm",
            Role::Again => AGAIN,
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
        Ok(Some(phase))
    }
}

#[cfg(test)]
mod tests {
    use sokudo_model::kinds::rr;
    use sokudo_model::{PhaseResult, Stat};

    use super::*;

    const S: u64 = 1_000_000_000;

    fn plan(bounds: &str) -> SearchPlan {
        SearchPlan {
            base: PhasePlan {
                name: "search".into(),
                workload: "rr".into(),
                options: "{}".into(),
                flows: Vec::new(),
                duration_ns: 10 * S,
                bound_ns: 40 * S,
                labels: Default::default(),
            },
            probe_ns: 2 * S,
            confirm_ns: 10 * S,
            bounds: bounds.parse().expect("bounds"),
            max_probes: 16,
        }
    }

    #[test]
    fn a_trial_has_ten_samples_beyond_the_percentile_or_says_how_long_that_takes() {
        let last = |bounds: &str, rate: f64, role: Role| {
            let plan = plan(bounds);
            let search = Search::new(&plan).expect("a search");
            search.duration_ns(Some(rate), role)
        };
        assert_eq!(last("p99<1ms", 10_000.0, Role::Probe), Ok(2 * S));
        assert_eq!(last("p99<1ms", 10_000.0, Role::Confirm), Ok(10 * S));
        let lengthened = last("p99<1ms", 100.0, Role::Again).expect("possible");
        assert_eq!(lengthened.div_ceil(S), 10);
        let too_long = last("p999<1ms", 50.0, Role::Probe).expect_err("too long");
        assert_eq!(too_long.div_ceil(S), 200);
        assert_eq!(last("errors<1%", 1.0, Role::Probe), Ok(2 * S));
    }

    #[test]
    fn the_next_trial_waits_as_long_as_the_slowest_request_did() {
        let plan = plan("p99<1ms");
        let search = Search::new(&plan).expect("a search");
        let after = |max_s: f64| {
            let summary = [(rr::LATENCY_SECONDS.stat(Stat::Max), max_s)].into();
            let result = PhaseResult {
                summary,
                ..PhaseResult::default()
            };
            search.drain_ns(&PhaseRecord::plain("search-1", "rr", (0, 1), result))
        };
        assert_eq!(after(0.25), S / 4);
        assert_eq!(after(100.0), MOST_DRAIN_NS);
    }
}
