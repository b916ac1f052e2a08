//! Raises the users of a closed load until requests queue, and finds the knee.
//!
//! Runs phases as [`sokudo_stats::capacity::search`] asks for them.

mod protect;
mod range;
mod settled;

use std::collections::BTreeMap;

use sokudo_model::metrics::host;
use sokudo_model::{Batch, Bounds, PhasePlan, PhaseRecord, Refusal, Text};
use sokudo_stats::capacity::record::{
    CPU, KneeFound, LABEL, Rule, SETTLED, WARM_UP, knee_of, visit_of,
};
use sokudo_stats::capacity::search::{KneeSearch, KneeSearchConfig, Pass, Until};
use sokudo_stats::repeats::HELD;

use crate::error::ControlError;
use crate::run::Run;

pub use range::KneeRange;
pub(crate) use settled::RateWatch;

/// Different numbers of users at most.
const MAX_LEVELS: usize = 12;

/// Settings of a search for the knee.
#[derive(Debug, Clone)]
pub struct KneePlan {
    /// The option that is raised, and its range.
    pub range: KneeRange,
    /// The rule that gives the answer.
    pub rule: Rule,
    /// Demands, for the rule that asks for them.
    pub bounds: Option<Bounds>,
    /// The server runs on the host that generates the load: its CPU counts.
    pub is_server_here: bool,
    /// Afterwards, check limits in front of the knee: users per unit of the option that is raised.
    pub protect: Option<f64>,
}

/// Time that the CPUs of each host idled in a phase, as its monitor saw it.
#[derive(Debug, Default)]
pub(crate) struct CpuWatch {
    idle: BTreeMap<String, (f64, u32)>,
}

impl CpuWatch {
    /// Takes the samples of the hosts' CPUs.
    pub(crate) fn take(&mut self, batch: &Batch) {
        let series = batch.series.iter();
        let wanted = series.filter(|series| {
            let (key, labels) = (&series.key, &series.key.labels);
            let has = |name: &str, value: &str| labels.get(name).is_some_and(|is| is == value);
            key.metric == host::CPU_RATIO.name && has("core", "all") && has("state", "idle")
        });
        for series in wanted {
            let entry = self.idle.entry(series.key.host.clone()).or_default();
            for (_, share) in &series.points {
                entry.0 += share;
                entry.1 += 1;
            }
        }
    }

    /// Mean share of the busiest of these hosts' CPUs that was used.
    fn busiest<'a>(&self, hosts: impl Iterator<Item = &'a str>) -> Option<f64> {
        let used = hosts.filter_map(|host| {
            let (idle, samples) = self.idle.get(host)?;
            (*samples > 0).then(|| 1.0 - idle / f64::from(*samples))
        });
        used.reduce(f64::max)
    }
}

impl Run {
    /// Runs a closed load with more and more users, and adds the knee to the run's summary.
    /// `phase_of` makes the phase with so many users. `None` when no level gave numbers.
    ///
    /// Every run is a phase of the record; its labels are those of
    /// [`sokudo_stats::capacity::record`]. A run that fails is kept, and nothing above it is tried.
    pub fn knee(
        &mut self,
        plan: &KneePlan,
        phase_of: &dyn Fn(u32) -> Result<PhasePlan, Refusal>,
    ) -> Result<Option<KneeFound>, ControlError> {
        if plan.protect.is_some() {
            self.knobs()?;
        }
        let mut search = KneeSearch::new(KneeSearchConfig {
            low: plan.range.low,
            high: plan.range.high,
            max_levels: MAX_LEVELS,
            until: match plan.rule {
                Rule::Slo => Until::Broken,
                Rule::Bound | Rule::Kneedle | Rule::Cpu(_) => Until::Saturated,
            },
        });
        while let Some((users, pass)) = search.next_run() {
            let phase = phase_of(users);
            let phase =
                phase.map_err(|refusal| ControlError::refused("this host".into(), refusal))?;
            let phase = self.labelled(plan, phase, users, pass);
            let name = phase.name.clone();
            let goes_on = self.run_or_keep(phase, search.levels().is_empty(), |phase| {
                Text::new("engine-knee-run-failed").word("value", &phase.labels["value"])
            })?;
            if !goes_on {
                break;
            }
            let visit = self.judged(plan, &name)?;
            search.report(visit.as_ref().and_then(visit_of));
        }
        let found = knee_of(&self.manifest.phases);
        if let Some(found) = &found {
            self.describe(&found.phases[found.subject()]);
            self.manifest.summary.extend(found.summary());
        }
        if let (Some(found), Some(users_per_value)) = (&found, plan.protect)
            && !self.interrupted()
        {
            self.protect(plan, found, users_per_value, phase_of)?;
        }
        Ok(found)
    }

    fn labelled(
        &mut self,
        plan: &KneePlan,
        mut phase: PhasePlan,
        users: u32,
        pass: Pass,
    ) -> PhasePlan {
        let number = 1 + self.manifest.phases.len();
        phase.name = format!("knee-{number}-at-{users}");
        let labels = [
            ("role", LABEL.to_owned()),
            (LABEL, plan.range.option.clone()),
            ("value", users.to_string()),
            ("pass", pass.word().to_owned()),
            ("rule", plan.rule.word()),
        ];
        let labels = labels.map(|(label, value)| (label.to_owned(), value));
        phase.labels.extend(labels);
        let bounds = plan.bounds.as_ref();
        let bounds = bounds.map(|bounds| ("bounds".to_owned(), bounds.to_string()));
        phase.labels.extend(bounds);
        self.cpu_watch = CpuWatch::default();
        self.rate_watch = RateWatch::of(&phase);
        phase
    }

    /// The run with its labels `cpu` and `held`; `None` when it is not in the record.
    fn judged(&mut self, plan: &KneePlan, name: &str) -> Result<Option<PhaseRecord>, ControlError> {
        let Some(at) = self
            .manifest
            .phases
            .iter()
            .rposition(|phase| phase.name == name)
        else {
            return Ok(None);
        };
        let cpu = self.server_cpu(plan, at);
        let settled = self.rate_watch.settled(self.manifest.phases[at].t0_ns);
        let phase = &mut self.manifest.phases[at];
        if let Some(cpu) = cpu {
            phase.labels.insert(CPU.into(), format!("{cpu:.4}"));
        }
        if let Some(settled) = settled {
            let labels = [(WARM_UP, settled.warm_up_s), (SETTLED, settled.ratio)];
            let labels = labels.map(|(name, value)| (name.to_owned(), format!("{value:.4}")));
            phase.labels.extend(labels);
        }
        let curve = phase.kind().and_then(|kind| kind.curve.as_ref());
        if let (Some(bounds), Some(curve)) = (&plan.bounds, curve) {
            let held = bounds.used(curve, &phase.result) <= 1.0;
            phase
                .labels
                .insert(HELD.into(), if held { "yes" } else { "no" }.into());
        }
        let judged = phase.clone();
        self.writer.write_manifest(&self.manifest)?;
        Ok(Some(judged))
    }

    /// CPU of the hosts that only answer; of all where the server runs beside the load.
    fn server_cpu(&self, plan: &KneePlan, at: usize) -> Option<f64> {
        let phase = &self.manifest.phases[at];
        let loads = |host: &str| phase.result.flows.iter().any(|flow| flow.from == host);
        let hosts = || self.hosts.list().iter().map(|host| host.name.as_str());
        let answering = self.cpu_watch.busiest(hosts().filter(|host| !loads(host)));
        answering.or_else(|| {
            self.cpu_watch
                .busiest(hosts())
                .filter(|_| plan.is_server_here)
        })
    }
}
