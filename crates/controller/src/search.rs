//! Which is the highest rate that holds?
//!
//! Runs phases as [`sokudo_stats::RateSearch`] asks for them.

use sokudo_model::{PhasePlan, PhaseRecord, RunStatus, Unit};
use sokudo_stats::{Best, Purpose, RateSearch, RateSearchConfig, Step};

use crate::error::ControlError;
use crate::run::Run;

/// What is searched, and how hard.
#[derive(Debug, Clone)]
pub struct SearchPlan {
    /// Phase to vary; its name becomes `<name>-1`, `<name>-2`, …
    pub base: PhasePlan,
    /// Load of a probe, nanoseconds.
    pub probe_ns: u64,
    /// Load of a confirmation, nanoseconds.
    pub confirm_ns: u64,
    /// Largest loss that still holds, 0 to 1.
    pub max_loss: f64,
    /// Probes at most; confirmations come on top.
    pub max_probes: u32,
    /// Highest rate to offer, events per second; `None` begins as fast as possible.
    pub ceiling: Option<f64>,
}

/// What a search found.
#[derive(Debug, Clone)]
pub struct Searched {
    /// The rate that held; `None` when none did.
    pub best: Option<Best>,
    /// The phase that confirmed it.
    pub confirmed: Option<PhaseRecord>,
    /// Trials made.
    pub trials: u32,
}

/// Rates closer than this share are not told apart.
const RESOLUTION: f64 = 0.05;
/// Confirmations at most.
const MAX_CONFIRMS: u32 = 6;
/// Lowest rate worth trying, events per second.
const LOW_PER_S: f64 = 100.0;

impl Run {
    /// Searches the highest rate that keeps the loss within the bound.
    ///
    /// Every trial is a phase of the record, with labels `role` = `probe` or `confirm`, `rate`, and
    /// `max_loss` (a ratio).
    pub fn search(&mut self, plan: &SearchPlan) -> Result<Searched, ControlError> {
        let workload =
            sokudo_workloads::find(&plan.base.workload).ok_or_else(|| ControlError::Operator {
                says: format!("there is no workload `{}`", plan.base.workload),
                hint: None,
            })?;
        let mut search = RateSearch::new(RateSearchConfig {
            max_loss: plan.max_loss,
            low: LOW_PER_S,
            ceiling: plan.ceiling,
            resolution: RESOLUTION,
            max_probes: plan.max_probes,
            max_confirms: MAX_CONFIRMS,
        });
        let mut confirmed = None;
        loop {
            let (rate, purpose) = match search.next() {
                Step::Done { best, trials } => {
                    return Ok(Searched {
                        best,
                        confirmed: confirmed.filter(|_| best.is_some()),
                        trials,
                    });
                }
                Step::Try { rate, purpose } => (rate, purpose),
            };
            let trial = self.trial(plan, workload, rate, purpose)?;
            let outcome = workload.outcome(&trial.result);
            if trial.status == RunStatus::Failed || self.interrupted() {
                return Ok(Searched {
                    best: None,
                    confirmed: None,
                    trials: 0,
                });
            }
            let Some(outcome) = outcome else {
                return Ok(Searched {
                    best: None,
                    confirmed: None,
                    trials: 0,
                });
            };
            if purpose == Purpose::Confirm && outcome.loss <= plan.max_loss {
                confirmed = Some(trial);
            } else if purpose == Purpose::Confirm {
                // A confirmation that failed has told where the limit lies, as a probe does.
                self.relabel_last("role", "probe")?;
            }
            search.report(outcome);
        }
    }

    fn relabel_last(&mut self, label: &str, value: &str) -> Result<(), ControlError> {
        if let Some(phase) = self.manifest.phases.last_mut() {
            phase.labels.insert(label.into(), value.into());
        }
        Ok(self.writer.write_manifest(&self.manifest)?)
    }

    fn trial(
        &mut self,
        plan: &SearchPlan,
        workload: &dyn sokudo_workloads::Workload,
        rate: Option<f64>,
        purpose: Purpose,
    ) -> Result<PhaseRecord, ControlError> {
        let (role, duration_ns) = match purpose {
            Purpose::Probe => ("probe", plan.probe_ns),
            Purpose::Confirm => ("confirm", plan.confirm_ns),
        };
        let mut phase = plan.base.clone();
        let options = workload.trial(&plan.base.options, rate, duration_ns);
        phase.options = options.map_err(|refusal| ControlError::Refused {
            host: "this host".into(),
            refusal,
        })?;
        let number = 1 + self
            .manifest()
            .phases
            .iter()
            .filter(|p| p.labels.contains_key("role"))
            .count();
        phase.name = format!("{}-{number}", plan.base.name);
        phase.labels.insert("role".into(), role.into());
        let shown = rate.map_or("unlimited".to_owned(), |rate| {
            sokudo_model::units::human(rate, Unit::PacketsPerSecond)
        });
        phase.labels.insert("rate".into(), shown);
        phase
            .labels
            .insert("max_loss".into(), plan.max_loss.to_string());
        phase.duration_ns = duration_ns;
        phase.bound_ns = duration_ns + crate::phase::SLACK_NS;
        self.run_phase(phase)
    }
}
