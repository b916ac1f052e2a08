//! Carries out a load that the page ordered, from this host.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use sokudo_controller::{ControlError, Hosts, Observer, Run, RunConfig};
use sokudo_i18n::Lang;
use sokudo_model::{MonitorSpec, Record, Refusal, RunStatus};

use crate::{WATCH_NS, conclude};

/// A load that a page asks for.
pub struct PageOrder<'a> {
    /// Name of the load.
    pub workload: &'static str,
    /// Seed of every random choice.
    pub seed: u64,
    /// Time between two samples, nanoseconds.
    pub interval_ns: u64,
    /// Monitors beside the usual ones.
    pub monitors: Vec<MonitorSpec>,
    /// Ends the run early.
    pub stop: Arc<AtomicBool>,
    /// Told how it goes on.
    pub observer: Box<dyn Observer>,
    /// Called once when the run has begun.
    pub begun: &'a dyn Fn(&Run),
    /// The command line that does the same, for the record that lies there.
    pub command: &'a dyn Fn(&std::path::Path) -> Vec<String>,
    /// Files for the record: name and content.
    pub files: Vec<(String, Vec<u8>)>,
}

/// Measures once, and returns the record.
pub fn measured(
    asked: PageOrder<'_>,
    measure: impl FnOnce(&mut Run) -> Result<(), ControlError>,
) -> Result<Record, Refusal> {
    let config = RunConfig {
        workload: asked.workload.into(),
        command: Vec::new(),
        root: sokudo_store::runs_root(),
        seed: asked.seed,
        interval_ns: asked.interval_ns.max(WATCH_NS),
        monitors: asked.monitors,
        stop: asked.stop,
    };
    let hosts = Hosts::own(sokudo_agent::factory)?;
    let mut run = Run::begin(hosts, config, asked.observer)?;
    let command = (asked.command)(run.path());
    run.manifest_mut().command = command;
    (asked.begun)(&run);
    let outcome = measure(&mut run);
    if let Err(error) = outcome {
        let phases = &run.manifest().phases;
        if phases.iter().all(|phase| phase.status == RunStatus::Failed) {
            sokudo_store::discard(&run.finish()?.path)?;
            return Err(error.into());
        }
        run.ended_by(&error);
    }
    let path = run.finish()?.path;
    sokudo_store::attach_all(&path, &asked.files)?;
    conclude(&path, Lang::from_env())
}
