//! The manifest of a run: which run it is, what it did, and what is missing.

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::advice::Advice;
use crate::kinds::{self, Kind};
use crate::plan::Plan;
use crate::proof::Proof;
use crate::series::Labels;
use crate::summary::{PhaseResult, Summary};
use crate::text::Text;

/// Version of `run.json` that this program writes.
pub const RUN_SCHEMA: &str = "sokudo.run/1";

/// Name of a run and of its directory: `2026-11-20T13-57-28-datagram-7f3a`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RunId(pub String);

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// End of a run or a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunStatus {
    /// Still going on, or the program died before it could say how it ended.
    Running,
    /// Everything that was asked for was measured.
    Ok,
    /// Something is missing; `problems` says what.
    Partial,
    /// Nothing usable came out.
    Failed,
}

impl RunStatus {
    /// One word for lists and programs. A run that measured everything but broke a check is `missed`.
    pub fn word(self, is_passed: bool) -> &'static str {
        match self {
            Self::Ok if is_passed => "ok",
            Self::Ok => "missed",
            Self::Partial => "partial",
            Self::Failed => "failed",
            Self::Running => "running",
        }
    }
}

/// Something that went wrong during the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Problem {
    /// Nanoseconds since the run's start.
    pub t_ns: i64,
    /// Host concerned; empty for the controller itself.
    pub host: String,
    /// Phase concerned; empty outside phases.
    pub phase: String,
    /// The problem.
    pub says: Text,
    /// Part of the record that is missing because of it.
    pub missing: Option<Text>,
}

/// One host that took part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HostEntry {
    /// Name, unique within the run.
    pub name: String,
    /// Address the controller reached it by; `in-process` for the controller's own host.
    pub address: String,
    /// Operating system: `linux`, `macos`, `windows`.
    pub os: String,
    /// sokudo's version there.
    pub version: String,
    /// Host clock minus controller clock, nanoseconds.
    pub clock_offset_ns: i64,
    /// Half of the smallest round trip: the offset is right within this, nanoseconds.
    pub clock_error_ns: u64,
    /// Its machine, by its clock: hosts with the same word share one. `None` where the system does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
}

/// One phase as it was executed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PhaseRecord {
    /// Name as in the plan.
    pub name: String,
    /// Workload's registry name.
    pub workload: String,
    /// The workload's options as JSON text, after defaults were filled in.
    pub options: String,
    /// Labels that identify this phase in a sweep or search.
    #[serde(default)]
    pub labels: Labels,
    /// Start of load, nanoseconds since the run's start.
    pub t0_ns: i64,
    /// End of the phase, nanoseconds since the run's start.
    pub t1_ns: i64,
    /// Its end.
    pub status: RunStatus,
    /// Its result.
    pub result: PhaseResult,
}

/// Label of a phase with the name of its layer of a check, where that is not the workload's.
pub const LAYER: &str = "layer";

/// Labels of a phase that was measured in turns with different settings of a server.
pub mod profile {
    /// Name of its settings.
    pub const NAME: &str = "profile";
    /// Place of the settings in the scenario, from 0; the first ones have 0 and, where they are measured again in
    /// the same round, 1.
    pub const SIDE: &str = "profile_side";
    /// Number of the round, from 1.
    pub const ROUND: &str = "profile_round";
    /// Least relative difference that counts.
    pub const LEAST: &str = "profile_least";

    /// End of the name of a phase of such a turn, from its labels; empty for another phase.
    pub fn suffix(labels: &crate::Labels) -> String {
        match (labels.get(NAME), labels.get(ROUND)) {
            (Some(name), Some(round)) => format!(" · {name} {round}"),
            _ => String::new(),
        }
    }
}

impl PhaseRecord {
    /// Name of the layer of a check that the phase belongs to.
    pub fn layer(&self) -> &str {
        self.labels.get(LAYER).unwrap_or(&self.workload)
    }

    /// A phase that ended well, without options and labels; `span_ns` is its start and its end.
    pub fn plain(name: &str, workload: &str, span_ns: (i64, i64), result: PhaseResult) -> Self {
        Self {
            name: name.into(),
            workload: workload.into(),
            options: "{}".into(),
            labels: Labels::new(),
            t0_ns: span_ns.0,
            t1_ns: span_ns.1,
            status: RunStatus::Ok,
            result,
        }
    }
}

/// `run.json`: ties a record together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`RUN_SCHEMA`].
    pub schema: String,
    /// Name of the run.
    pub id: RunId,
    /// Name of the run's load: `check`, `datagram`.
    pub workload: String,
    /// Program version that wrote it.
    pub version: String,
    /// Start in wall-clock time: RFC 3339 with offset, from the controller's clock.
    pub started: String,
    /// The same moment as nanoseconds since the Unix epoch.
    pub started_unix_ns: i64,
    /// Command line, secrets removed.
    pub command: Vec<String>,
    /// The plan that was executed.
    pub plan: Plan,
    /// SHA-256 of the plan's JSON, hexadecimal.
    pub plan_sha256: String,
    /// Seed of every random choice.
    pub seed: u64,
    /// Hosts; flows refer to them by index.
    pub hosts: Vec<HostEntry>,
    /// Phases in the order they were executed.
    pub phases: Vec<PhaseRecord>,
    /// Totals over the run, the same keys that `--json` prints.
    pub summary: Summary,
    /// Facts that people should see beside the verdict, such as how the hosts were made.
    #[serde(default)]
    pub notes: Vec<Text>,
    /// Its end.
    pub status: RunStatus,
    /// Problems of the run.
    pub problems: Vec<Problem>,
    /// Causes of its limit that were put to the test by later runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub proofs: Vec<Proof>,
    /// Prediction of a replication, and the settings that were chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advice: Option<Advice>,
    /// File name relative to the record → SHA-256, hexadecimal. Written when the run is closed.
    pub files: BTreeMap<String, String>,
}

/// Label of the loads of a phase that mixed several workloads: the name of that phase in the plan.
/// Each load is a phase of its own in the record, with the same start.
pub const TOGETHER: &str = "together";

/// Names of runs in which many hosts load each other in phases, each with its own command.
const OF_MANY_HOSTS: [&str; 3] = ["console", "pairs", "run"];

/// Names that a list shows before it counts the rest.
const NAMED_MAX: usize = 2;

impl Manifest {
    /// Loads of the run, in a few words: each once, with its plan, its server, or its hosts.
    pub fn did(&self) -> String {
        let of_phase = |phase: &PhaseRecord| {
            let words = [phase.workload.clone(), phase.target()];
            words.join(" ").trim_end().to_owned()
        };
        let mut known = HashSet::new();
        let mut all: Vec<String> = self.phases.iter().map(of_phase).collect();
        all.retain(|words| known.insert(words.clone()));
        let more = all.len().saturating_sub(NAMED_MAX);
        all.truncate(NAMED_MAX);
        let rest = (more > 0).then(|| format!("+{more}"));
        all.into_iter().chain(rest).collect::<Vec<_>>().join(", ")
    }
}

impl PhaseRecord {
    /// The plan, the server or the hosts that its load was about; empty where none is named.
    fn target(&self) -> String {
        if self.kind().is_some_and(|kind| kind.is_plan) {
            let options: serde_json::Value =
                serde_json::from_str(&self.options).unwrap_or_default();
            let plan = options["plan"].as_str().unwrap_or_default();
            let name = Path::new(plan).file_name().and_then(|name| name.to_str());
            return name.unwrap_or_default().to_owned();
        }
        let names: HashSet<&str> = self.result.flows.iter().map(|flow| &*flow.to).collect();
        match (self.result.flows.first(), names.len()) {
            (None, _) => String::new(),
            (Some(one), 1) => format!("→ {}", one.to),
            (Some(one), all) => format!("→ {} +{}", one.to, all - 1),
        }
    }

    /// The kind of its workload; `None` for several workloads together and for unknown ones.
    pub fn kind(&self) -> Option<&'static Kind> {
        kinds::find(&self.workload)
    }

    /// Name of the moment in which it was loaded: the mixed phase that it is a part of, else its own
    /// name.
    pub fn moment(&self) -> &str {
        self.labels.get(TOGETHER).unwrap_or(&self.name)
    }
}

/// The phases by the moment in which they were loaded: the loads of a mixed phase together, every
/// other phase alone.
pub fn moments(phases: &[PhaseRecord]) -> impl Iterator<Item = &[PhaseRecord]> {
    let mixed = |phase: &PhaseRecord| phase.labels.get(TOGETHER).cloned();
    phases.chunk_by(move |a, b| mixed(a).is_some_and(|moment| Some(moment) == mixed(b)))
}

impl Manifest {
    /// The loads that started at the same moment as a phase, itself among them.
    pub fn beside(&self, phase: &PhaseRecord) -> &[PhaseRecord] {
        let is_beside = |loads: &&[PhaseRecord]| loads.iter().any(|load| load.name == phase.name);
        moments(&self.phases).find(is_beside).unwrap_or_default()
    }

    /// True for a run that gives orders to many hosts: a console, a script, a scenario.
    pub fn is_of_many_hosts(&self) -> bool {
        OF_MANY_HOSTS.contains(&self.workload.as_str())
    }

    /// True for a check of one machine or of a group.
    pub fn is_check(&self) -> bool {
        self.workload == "check"
    }

    /// The manifest of a run that has just begun.
    pub fn new(id: RunId, workload: &str) -> Self {
        Self {
            schema: RUN_SCHEMA.into(),
            id,
            workload: workload.into(),
            // All crates of the program have one version.
            version: env!("CARGO_PKG_VERSION").into(),
            started: String::new(),
            started_unix_ns: 0,
            command: Vec::new(),
            plan: Plan::default(),
            plan_sha256: String::new(),
            seed: 0,
            hosts: Vec::new(),
            phases: Vec::new(),
            summary: Summary::new(),
            notes: Vec::new(),
            status: RunStatus::Running,
            problems: Vec::new(),
            proofs: Vec::new(),
            advice: None,
            files: BTreeMap::new(),
        }
    }
}
