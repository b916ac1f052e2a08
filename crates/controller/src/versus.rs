//! Measures with and without one change, in turns.

use sokudo_model::{PhasePlan, Text};
use sokudo_stats::versus::{ARM, LABEL, Versus, WITH, WITHOUT, median, versus_of};

use crate::error::ControlError;
use crate::run::Run;

/// The order of the runs: drift over time weighs on both kinds alike.
const ORDER: [&str; 8] = [WITHOUT, WITH, WITH, WITHOUT, WITHOUT, WITH, WITH, WITHOUT];

impl Run {
    /// Runs two phases that differ in one option, four times each, and adds the effect of the change to
    /// the run's summary. `None` when one of them never gave numbers.
    ///
    /// A run that fails is kept as [`Run::sweep`] keeps a step that fails.
    pub fn versus(
        &mut self,
        (option, value): (&str, &str),
        without: &PhasePlan,
        with: &PhasePlan,
    ) -> Result<Option<Versus>, ControlError> {
        let planned = ORDER.iter().zip(1..).map(|(arm, number)| {
            let mut phase = if *arm == WITH { with } else { without }.clone();
            phase.name = format!("versus-{number}-{arm}");
            let labels = [
                ("role", LABEL),
                (LABEL, option),
                ("value", value),
                (ARM, arm),
            ];
            let labels = labels.map(|(label, value)| (label.to_owned(), value.to_owned()));
            phase.labels.extend(labels);
            phase
        });
        self.run_each(planned.collect(), |phase| {
            Text::new("engine-versus-run-failed").word("value", &phase.name)
        })?;
        let found = versus_of(&self.manifest.phases);
        if let Some(found) = &found {
            let middle = median(&found.without);
            let distance = |phase: &sokudo_model::PhaseRecord| {
                let carried = found.metric.of(&phase.result.summary)?;
                Some((carried - middle).abs())
            };
            let is_without = |phase: &&sokudo_model::PhaseRecord| {
                phase.labels.get(ARM).is_some_and(|arm| arm == WITHOUT)
            };
            let phases = self.manifest.phases.iter().filter(is_without);
            let measured = phases.filter_map(|phase| Some((distance(phase)?, phase.name.clone())));
            let subject = measured.min_by(|a, b| a.0.total_cmp(&b.0));
            if let Some((_, name)) = subject {
                self.describe(&name);
            }
            self.manifest.summary.extend(found.summary());
        }
        Ok(found)
    }
}
