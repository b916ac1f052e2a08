//! Sets limits in front of the knee, and checks them with more users.

use sokudo_model::{PhasePlan, Refusal, Text};
use sokudo_stats::capacity::protect::{AFTER, ARM, BEFORE, LABEL, Limits, SURPLUS};
use sokudo_stats::capacity::record::KneeFound;

use crate::error::ControlError;
use crate::run::Run;

use super::KneePlan;

/// The order of the runs: drift over time weighs on both kinds alike.
const ORDER: [&str; 4] = [BEFORE, AFTER, AFTER, BEFORE];

impl Run {
    /// Runs the load with [`SURPLUS`] times the users of the knee, with and without limits; the knobs
    /// are put back after each run with them.
    ///
    /// A search without an answer, and a server that refuses the limits, leave a problem in the record.
    pub(super) fn protect(
        &mut self,
        plan: &KneePlan,
        found: &KneeFound,
        users_per_value: f64,
        phase_of: &dyn Fn(u32) -> Result<PhasePlan, Refusal>,
    ) -> Result<(), ControlError> {
        let Some(knee) = found.answer() else {
            self.note_problem(Text::new("engine-protect-no-knee"));
            return Ok(());
        };
        let value = (knee.users * SURPLUS).ceil().max(1.0) as u32;
        let limits = Limits::of(knee.users * users_per_value);
        let users = f64::from(value) * users_per_value;
        for (arm, number) in ORDER.into_iter().zip(1..) {
            let refused = |refusal| ControlError::refused("this host".into(), refusal);
            let mut phase = phase_of(value).map_err(refused)?;
            phase.name = format!("{LABEL}-{number}-{arm}");
            let labels = [
                ("role", LABEL.to_owned()),
                (LABEL, plan.range.option.clone()),
                ("value", value.to_string()),
                ("users", format!("{users:.0}")),
                (ARM, arm.to_owned()),
                ("workers", limits.workers.to_string()),
                ("open", limits.open.to_string()),
            ];
            let labels = labels.map(|(label, value)| (label.to_owned(), value));
            phase.labels.extend(labels);
            if arm == AFTER
                && let Err(error) = self.set_knobs(&limits.knobs())
            {
                let why = error.says();
                self.note_problem(Text::new("engine-protect-refused").text("why", why));
                return Ok(());
            }
            let goes_on = self.run_or_keep(phase, false, |phase| {
                Text::new("engine-knee-run-failed").word("value", &phase.labels["value"])
            });
            if arm == AFTER {
                self.put_knobs_back();
            }
            if !goes_on? {
                break;
            }
        }
        Ok(())
    }
}
