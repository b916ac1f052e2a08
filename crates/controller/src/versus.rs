//! Measures with and without one change, in turns.

use sokudo_model::{PhasePlan, Text};
use sokudo_stats::versus::{ARM, LABEL, Versus, WITH, WITHOUT, median, versus_of};

use crate::error::ControlError;
use crate::run::Run;

/// The order of the runs: drift over time weighs on both kinds alike.
const ORDER: [&str; 8] = [WITHOUT, WITH, WITH, WITHOUT, WITHOUT, WITH, WITH, WITHOUT];

impl Run {
    /// Runs one phase with and without a change of a knob of the loaded server, as [`Run::versus`] does
    /// with an option; the knob is put back after each run with it.
    pub fn versus_knob(
        &mut self,
        (option, knob, value): (&str, &str, &str),
        phase: &PhasePlan,
    ) -> Result<Option<Versus>, ControlError> {
        let pair = [(knob.to_owned(), value.to_owned())];
        // A value that is refused is told before anything runs.
        self.set_knobs(&pair)?;
        self.put_knobs_back();
        for (index, phase) in planned((option, value), phase, phase).enumerate() {
            let has_change = phase.labels.get(ARM).is_some_and(|arm| arm == WITH);
            if has_change {
                self.set_knobs(&pair)?;
            }
            let goes_on = self.run_or_keep(phase, index == 0, failed);
            if has_change {
                self.put_knobs_back();
            }
            if !goes_on? {
                break;
            }
        }
        Ok(self.versus_found())
    }

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
        let planned = planned((option, value), without, with);
        self.run_each(planned.collect(), failed)?;
        Ok(self.versus_found())
    }

    /// The effect of the runs so far, which becomes the run's summary.
    fn versus_found(&mut self) -> Option<Versus> {
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
        found
    }
}

/// The runs in their order, labelled.
fn planned<'a>(
    (option, value): (&'a str, &'a str),
    without: &'a PhasePlan,
    with: &'a PhasePlan,
) -> impl Iterator<Item = PhasePlan> + 'a {
    ORDER.iter().zip(1..).map(move |(arm, number)| {
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
    })
}

fn failed(phase: &PhasePlan) -> Text {
    Text::new("engine-versus-run-failed").word("value", &phase.name)
}
