//! Begins a record of what many hosts do, and closes it with its conclusions.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use sokudo_controller::{Hosts, Observer, Run, RunConfig};
use sokudo_i18n::Lang;
use sokudo_model::{MonitorSpec, Record, Refusal, RunStatus, Text, secrets};
use sokudo_monitors::Files;
use sokudo_scenario::HostInfo;
use sokudo_store::export::commands;
use sokudo_store::layout::COMMANDS;
use sokudo_workload::refusal::failed;

use crate::lab::FindKnobs;
use crate::witness::{Heard, Witness};
use crate::{Lab, Voice, WATCH_NS, infos};

/// End of the lines.
pub enum Ended {
    /// All of them were carried out.
    Well,
    /// One of them was not; what came before is kept.
    Early(Refusal),
    /// The operator interrupted them.
    Interrupted,
}

/// Result of the lines, after the last one.
pub struct Left {
    /// The run; `None` when the script engine did not end.
    pub lab: Option<Lab>,
    /// End of the lines.
    pub ended: Ended,
    /// Files for the record: name and content.
    pub files: Vec<(&'static str, String)>,
}

/// A closed record.
pub struct Sealed {
    /// The record and where it is; `None` when nothing was loaded, and nothing is kept.
    pub record: Option<(PathBuf, Record)>,
    /// End of the lines.
    pub ended: Ended,
}

/// Hosts that were reached.
pub struct Reached {
    /// The hosts.
    pub hosts: Hosts,
    /// Note of the record about them.
    pub note: Option<Text>,
    /// Index of host number 1.
    pub first: usize,
}

impl Reached {
    /// The hosts by number.
    pub fn infos(&self) -> Vec<HostInfo> {
        infos(&self.hosts, self.first)
    }
}

/// Settings with which a run of many hosts begins.
pub struct Beginning<'a> {
    /// Name of the run's load.
    pub name: &'a str,
    /// The command line, without secrets.
    pub command: Vec<String>,
    /// Seed of every random choice.
    pub seed: u64,
    /// Time between two samples of the monitors, nanoseconds.
    pub interval_ns: u64,
    /// Monitors beside the usual ones.
    pub monitors: Vec<MonitorSpec>,
    /// Phases whose flows begin further apart than this are repeated, nanoseconds.
    pub max_skew_ns: Option<u64>,
    /// Nothing but load travels during a phase.
    pub quiet_phases: bool,
    /// Set when the operator wants the run to end.
    pub stop: Arc<AtomicBool>,
    /// Told how the run goes on.
    pub observer: Box<dyn Observer>,
    /// Told what the lines say.
    pub voice: Voice,
    /// Whether loads may name files of this host.
    pub files: Files,
    /// Asked for when the first knob of a target is changed.
    pub find_knobs: Option<FindKnobs>,
}

/// Begins a record of what these hosts do.
pub fn begin(reached: Reached, with: Beginning<'_>) -> Result<Lab, Refusal> {
    let config = RunConfig {
        workload: with.name.into(),
        command: with.command,
        root: sokudo_store::runs_root(),
        seed: with.seed,
        interval_ns: with.interval_ns.max(WATCH_NS),
        monitors: with.monitors,
        stop: Arc::clone(&with.stop),
    };
    let heard = Heard::default();
    let observer = Box::new(Witness {
        inner: with.observer,
        heard: heard.clone(),
    });
    let mut run = Run::begin(reached.hosts, config, observer)?;
    run.manifest_mut().notes.extend(reached.note);
    if let Some(most_ns) = with.max_skew_ns {
        run.repeat_above_skew(most_ns);
    }
    if with.quiet_phases {
        run.keep_phases_quiet();
    }
    Ok(Lab {
        run,
        first: reached.first,
        voice: with.voice,
        stop: with.stop,
        seed: with.seed,
        heard,
        files: with.files,
        find_knobs: with.find_knobs,
        loaded: Vec::new(),
        attached: Vec::new(),
        settings: None,
    })
}

/// Closes the record, and puts into it what is computed from it.
pub fn seal(left: Left, lang: Lang) -> Result<Sealed, Refusal> {
    let Some(lab) = left.lab else {
        return Err(failed(Text::new("error-script-endless"), None));
    };
    let mut run = lab.run;
    let phases = &run.manifest().phases;
    if phases.iter().all(|phase| phase.status == RunStatus::Failed) {
        sokudo_store::discard(&run.finish()?.path)?;
        return Ok(Sealed {
            record: None,
            ended: left.ended,
        });
    }
    if let Ended::Early(refusal) = &left.ended {
        let why = refusal.says.clone();
        run.note_problem(Text::new("engine-ended-by").text("why", why));
    }
    run.group_numbers();
    let path = run.finish()?.path;
    for (name, text) in left.files {
        sokudo_store::attach(&path, name, secrets::hidden(&text).as_bytes())?;
    }
    let record = conclude(&path, lang)?;
    let tables = commands::files(&record)
        .map_err(|error| sokudo_store::cannot_write(&path.join(COMMANDS), &error))?;
    sokudo_store::attach_all(&path, &tables)?;
    Ok(Sealed {
        record: Some((path, record)),
        ended: left.ended,
    })
}

/// Analyses a closed record and writes `findings.json` and `report.html` into it.
pub fn conclude(path: &Path, lang: Lang) -> Result<Record, Refusal> {
    let mut record = sokudo_store::load(path)?;
    record.findings = sokudo_analyze::findings(&record);
    record.checks = sokudo_analyze::checks(&record);
    sokudo_store::save_findings(path, &record.findings, &record.checks)?;
    sokudo_store::attach(
        path,
        "report.html",
        sokudo_report::html(&record, lang).as_bytes(),
    )?;
    Ok(record)
}
