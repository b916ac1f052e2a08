//! Steps that commands share whose far end is a process of another tool.
//!
//! There is no agent at the far end, and no exchange of results: one phase, measured here.

use std::sync::atomic::AtomicBool;

use sokudo_controller::{Hosts, Run, RunConfig};
use sokudo_i18n::I18n;
use sokudo_model::{Labels, PhasePlan, PhaseRecord, PhaseResult, Refusal, RunStatus, Text};

use super::finish::{ShowOptions, finish};
use super::observe::ObserveArgs;
use super::observer::Terminal;
use super::{Exit, Failure, command_for_record, stop_flag};

/// Run with a foreign far end that is to be recorded.
pub struct Foreign<'a> {
    /// Name of the workload whose words are used.
    pub workload: &'static str,
    /// Value of the label `wire`.
    pub wire: &'static str,
    /// The workload's options as JSON.
    pub options: String,
    /// Duration, nanoseconds; 0 when something else bounds it.
    pub duration_ns: u64,
    /// Time between two samples, nanoseconds.
    pub interval_ns: u64,
    /// Seed of every random choice.
    pub seed: Option<u64>,
    /// Monitors beside the usual ones.
    pub observe: &'a ObserveArgs,
    /// Output of the result.
    pub show: &'a ShowOptions,
}

/// Measures, records and shows. `measure` gives the result, and what went wrong on the way.
pub fn record(
    foreign: &Foreign<'_>,
    measure: impl FnOnce(&AtomicBool) -> Result<(PhaseResult, Vec<String>), Refusal>,
) -> Result<Exit, Failure> {
    let stop = stop_flag()?;
    let config = RunConfig {
        workload: foreign.workload.into(),
        command: command_for_record(),
        root: sokudo_store::runs_root(),
        seed: foreign.seed.unwrap_or_else(sokudo_session::random_seed),
        interval_ns: foreign.interval_ns.max(100_000_000),
        monitors: foreign.observe.specs()?,
        stop: stop.clone(),
    };
    let hosts = Hosts::own(sokudo_agent::factory)?;
    let observer = Terminal::new(foreign.show.lang(), None, None);
    let mut run = Run::begin(hosts, config, Box::new(observer))?;
    let t0_ns = run.elapsed_ns();
    let (result, problems) = match measure(&stop) {
        Ok(measured) => measured,
        Err(refusal) => {
            sokudo_store::discard(&run.finish()?.path)?;
            return Err(refusal.into());
        }
    };
    run.manifest_mut()
        .notes
        .push(Text::new("engine-foreign-wire"));
    let plan = plan(foreign);
    run.manifest_mut().plan.phases.push(plan.clone());
    let status = if problems.is_empty() {
        RunStatus::Ok
    } else {
        RunStatus::Partial
    };
    let i18n = I18n::new(foreign.show.lang());
    for problem in problems {
        eprintln!("  ! {}", i18n.text(&Text::recorded(problem)));
    }
    let t1_ns = run.elapsed_ns();
    run.add_phase(PhaseRecord {
        name: plan.name,
        workload: plan.workload,
        options: plan.options,
        labels: plan.labels,
        t0_ns,
        t1_ns,
        status,
        result,
    })?;
    finish(run, foreign.show)
}

fn plan(foreign: &Foreign<'_>) -> PhasePlan {
    PhasePlan {
        name: "measure".into(),
        workload: foreign.workload.into(),
        options: foreign.options.clone(),
        flows: Vec::new(),
        duration_ns: foreign.duration_ns,
        bound_ns: foreign.duration_ns,
        labels: Labels::from([("wire".to_owned(), foreign.wire.to_owned())]),
    }
}
