//! The plan of a phase: its workload, its hosts and its flows.

use serde::{Deserialize, Serialize};

use crate::observe::MonitorSpec;
use crate::series::Labels;
use crate::text::Text;

/// One directed flow of load between two hosts of the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowPlan {
    /// Number of the flow inside its phase, from 0.
    pub id: u32,
    /// Index of the sending host in the run's host table.
    pub from: u32,
    /// Index of the receiving host.
    pub to: u32,
    /// Number among parallel flows between the same hosts, from 0: each stream has its own sending thread and
    /// its own sockets.
    #[serde(default)]
    pub stream: u32,
}

impl FlowPlan {
    /// True when host `index` is one of its ends.
    pub fn touches(&self, index: u32) -> bool {
        self.from == index || self.to == index
    }
}

/// A part of a run with a purpose.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PhasePlan {
    /// Name shown to people and used in labels: `p2p`, `mesh`, `confirm`.
    pub name: String,
    /// Workload's registry name.
    pub workload: String,
    /// The workload's options as JSON text; its schema is the workload's own.
    pub options: String,
    /// Flows: the sending and the receiving host of each.
    pub flows: Vec<FlowPlan>,
    /// Duration of the load, nanoseconds; 0 when bounded by a count instead.
    pub duration_ns: u64,
    /// Upper bound for the whole phase, nanoseconds: every wait inside it is shorter.
    pub bound_ns: u64,
    /// Labels that identify this phase in a sweep or search: `rate`, `trial`, …
    #[serde(default)]
    pub labels: Labels,
}

/// A scenario after resolving and validation; what is executed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Phases known before the start; a search appends the ones it decides on.
    pub phases: Vec<PhasePlan>,
    /// Monitors that were asked for, beside those that observe every host anyway.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub monitors: Vec<MonitorSpec>,
}

/// The reason why an agent did not do what it was asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Refusal {
    /// True when the operator asked for something impossible (exit code 2), false when the run
    /// failed on the way (exit code 3).
    pub operator_error: bool,
    /// The failure, and what it concerns.
    pub says: Text,
    /// Remedy for the operator.
    pub hint: Option<Text>,
}

impl Refusal {
    /// The refusal of another host, with words of at most `most` characters each.
    pub fn within(self, most: usize) -> Self {
        Self {
            says: self.says.within(most),
            hint: self.hint.map(|hint| hint.within(most)),
            ..self
        }
    }
}
