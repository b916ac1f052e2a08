//! Runs phases one after the other, and one phase several times.
//!
//! [`sokudo_stats::repeats`] computes medians and their intervals from the recorded phases.

use sokudo_model::{PhasePlan, PhaseRecord, PhaseResult, RunStatus, Summary, Text};
use sokudo_stats::Repeats;
use sokudo_stats::repeats::{LABEL, TURN, of_runs, repeats_of};

use crate::error::ControlError;
use crate::run::Run;

impl Run {
    /// Runs a phase `runs` times, with the labels `role` = `repeat` and `repeat` = the run's number;
    /// the numbers of the run in the middle go into the run's summary. `None` when no run gave
    /// numbers.
    ///
    /// A run that fails is kept as [`Run::sweep`] keeps a step that fails.
    pub fn repeat(&mut self, plan: &PhasePlan, runs: u32) -> Result<Option<Repeats>, ControlError> {
        let numbered = (1..=runs).map(|number| {
            let mut phase = plan.clone();
            phase.name = format!("{}-{number}", plan.name);
            let labels = [("role", LABEL.to_owned()), (LABEL, number.to_string())];
            let labels = labels.map(|(label, value)| (label.to_owned(), value));
            phase.labels.extend(labels);
            phase
        });
        self.run_each(numbered.collect(), |phase| {
            Text::new("engine-repeat-failed").word("value", &phase.labels[LABEL])
        })?;
        let repeats = repeats_of(&self.manifest.phases);
        if let Some(repeats) = &repeats {
            self.describe(repeats.subject());
            self.manifest.summary.extend(repeats.summary());
        }
        Ok(repeats)
    }

    /// Runs the turns of a layer of a check; `after` adds to the numbers of each. Those of the turn in the
    /// middle, by its rate, that `is_of_run` are added to the run's summary, and the others get the label
    /// `role` = `turn`.
    ///
    /// A turn that fails is kept as [`Run::sweep`] keeps a step that fails.
    pub(crate) fn turns(
        &mut self,
        turns: Vec<PhasePlan>,
        mut after: impl FnMut(&mut Summary),
        is_of_run: fn(&str) -> bool,
    ) -> Result<(), ControlError> {
        let first = self.manifest.phases.len();
        for (index, turn) in turns.into_iter().enumerate() {
            let goes_on = self.run_or_keep(turn, index == 0, |phase| {
                Text::new("engine-repeat-failed").word("value", &phase.labels[TURN])
            })?;
            if let Some(phase) = self.manifest.phases[first..].last_mut() {
                after(&mut phase.result.summary);
            }
            if !goes_on {
                break;
            }
        }
        let turns = &self.manifest.phases[first..];
        let middle = of_runs(&turns.iter().collect::<Vec<_>>()).map_or(0, |all| all.middle);
        for (at, turn) in self.manifest.phases[first..].iter_mut().enumerate() {
            if at == middle {
                let numbers = turn.result.summary.iter();
                let of_run = numbers.filter(|(name, _)| is_of_run(name));
                let of_run = of_run.map(|(name, value)| (name.clone(), *value));
                self.manifest.summary.extend(of_run);
            } else {
                turn.labels.insert("role".to_owned(), TURN.to_owned());
            }
        }
        match self.interrupted() {
            true => Err(ControlError::Interrupted),
            false => Ok(()),
        }
    }

    /// Runs phases one after the other. A phase that gives no numbers is kept as a failed one, and
    /// `failed` with `why` is noted; the others still run. An interruption, or a host that is lost, ends
    /// them. Errors: the first phase was refused, so nothing was measured; or the record cannot be
    /// written.
    pub(crate) fn run_each(
        &mut self,
        phases: Vec<PhasePlan>,
        failed: fn(&PhasePlan) -> Text,
    ) -> Result<(), ControlError> {
        for (index, phase) in phases.into_iter().enumerate() {
            if !self.run_or_keep(phase, index == 0, failed)? {
                break;
            }
        }
        Ok(())
    }

    /// Runs one of several phases, the first of which must not fail; see [`Run::run_each`]. False:
    /// the others do not run.
    pub(crate) fn run_or_keep(
        &mut self,
        phase: PhasePlan,
        is_first: bool,
        failed: fn(&PhasePlan) -> Text,
    ) -> Result<bool, ControlError> {
        let t0_ns = self.elapsed_ns();
        match self.run_phase(phase.clone()) {
            Ok(_) => {}
            Err(ControlError::Interrupted) => return Ok(false),
            Err(error @ ControlError::Store(_)) => return Err(error),
            Err(error) if is_first => return Err(error),
            Err(error) => {
                let says = failed(&phase).word("why", error.to_string());
                self.keep_failed(phase, t0_ns, says)?;
            }
        }
        Ok(!self.interrupted() && !self.lost.contains(&true))
    }

    /// Keeps a phase that gave no numbers, and says why.
    fn keep_failed(
        &mut self,
        phase: PhasePlan,
        t0_ns: i64,
        says: Text,
    ) -> Result<(), ControlError> {
        self.problem("", &phase.name, says, None);
        let t1_ns = self.elapsed_ns();
        self.add_phase(PhaseRecord {
            name: phase.name,
            workload: phase.workload,
            options: phase.options,
            labels: phase.labels,
            t0_ns,
            t1_ns,
            status: RunStatus::Failed,
            result: PhaseResult::default(),
        })
    }

    /// The totals of the run become those of its last phase with this name.
    pub(crate) fn describe(&mut self, name: &str) {
        let mut phases = self.manifest.phases.iter();
        if let Some(phase) = phases.rfind(|phase| phase.name == name) {
            self.manifest.summary = phase.result.summary.clone();
        }
    }
}
