//! The message types.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use sokudo_model::spec::by_host;
use sokudo_model::{Batch, Change, Environment, HostClock, MonitorSpec, Rows, RunId, Text};

pub use sokudo_model::{HostSpec, PhaseSpec, Refusal};

/// An ask of the controller to one agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Ask {
    /// Asks the agent to describe itself. Answered by [`Reply::Description`].
    Describe,
    /// Asks for the agent's monotonic clock. Answered by [`Reply::Clock`].
    Clock,
    /// Under which conditions do you run? Answered by [`Reply::Environment`].
    Environment,
    /// Begin to observe the host; batches follow as notes until `Unwatch`.
    Watch {
        /// Name of the host in the run: series carry it.
        host: String,
        /// The run's start on the agent's monotonic clock, nanoseconds: zero of all time stamps.
        t0_ns: i64,
        /// Time between two samples, nanoseconds.
        interval_ns: u64,
        /// The scope of the monitors.
        scope: WatchScope,
        /// Monitors beside the standing ones; [`MonitorSpec::within_bounds`] of the agent judges them.
        /// Asked again with the same name, start, interval and scope, those that go on are not begun
        /// anew.
        monitors: Vec<MonitorSpec>,
    },
    /// Stop observing; the last batch is sent before the answer.
    Unwatch,
    /// Get ready for a phase: bind sockets, allocate. Answered by [`Reply::Offer`].
    Prepare(Box<PhaseSpec>),
    /// Connect to the others; no load yet.
    Arm {
        /// Offer of each host that the agent has a flow with, by host index; `None` for others.
        #[serde(with = "by_host")]
        offers: Vec<Option<String>>,
    },
    /// Offer load from this moment on.
    Start {
        /// Start of load on the agent's monotonic clock, nanoseconds.
        at_ns: i64,
        /// The run's start on the same clock: zero of all time stamps.
        t0_ns: i64,
    },
    /// Stop sending now, keep receiving; [`Note::Sent`] follows as usual.
    Halt,
    /// Offer other load from now on. [`Reply::Refused`] where the workload cannot change.
    Steer {
        /// The change.
        change: Change,
    },
    /// Only for workloads that compare times of two hosts, before `Drain`: the clocks around the load.
    Clocks {
        /// Clock of each host that the agent has a flow with, by host index; `None` for others.
        #[serde(with = "by_host")]
        clocks: Vec<Option<HostClock>>,
    },
    /// All senders have finished: wait for what is still under way, then answer with
    /// [`Reply::Result`].
    Drain {
        /// Text of [`Note::Sent`] of each host that the agent has a flow with, by host index.
        #[serde(with = "by_host")]
        sent: Vec<Option<String>>,
    },
    /// Stop all load at once and forget the phase.
    Stop,
    /// Keep going: the controller is alive. Load stops when none arrives for two leases.
    Lease {
        /// Length of a lease, nanoseconds.
        lease_ns: u64,
    },
    /// Begins a quiet phase: for this time the controller sends nothing of its own, and the agent sends
    /// only what cannot wait. Series and rows are held back until the controller asks again or the time
    /// is over.
    Hush {
        /// Duration, nanoseconds.
        for_ns: u64,
    },
    /// The controller is leaving.
    Bye,
    /// Asks for what was kept of a run whose controller died. Answered by [`Reply::Kept`], page by
    /// page.
    Kept {
        /// The run.
        run: RunId,
        /// Position of the page: 0, then the one that the page before it returned.
        from: u64,
    },
    /// The answer to [`Ask::Kept`] was received completely: delete the kept run.
    Discard {
        /// The run.
        run: RunId,
    },
}

/// The scope that the monitors of one agent observe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum WatchScope {
    /// The whole host.
    Host,
    /// The agent's own process and network namespace; another agent of the run observes the
    /// machine they share.
    Process,
    /// Only the agent's own network namespace: its process too is observed by another agent.
    Namespace,
}

/// An agent's answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Reply {
    /// Done.
    Done,
    /// To [`Ask::Describe`].
    Description(Description),
    /// To [`Ask::Clock`]: the monotonic clock, nanoseconds.
    Clock(i64),
    /// To [`Ask::Environment`].
    Environment(Environment),
    /// To [`Ask::Prepare`]: how the others reach this host, as the workload's JSON.
    Offer(String),
    /// To [`Ask::Drain`]: what this host measured, as the workload's JSON.
    Result(String),
    /// Not done.
    Refused(Refusal),
    /// To [`Ask::Kept`].
    Kept {
        /// The batches of the agent, in order.
        batches: Vec<Batch>,
        /// Position of the next page; `None` after the last one.
        next: Option<u64>,
    },
}

/// Description of an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Description {
    /// Host name.
    pub name: String,
    /// Operating system: `linux`, `macos`, `windows`.
    pub os: String,
    /// sokudo's version.
    pub version: String,
    /// Logical processors.
    pub cores: u32,
    /// Workloads that it supports.
    pub workloads: Vec<String>,
    /// Identity of its monotonic clock, as the crate `net` reports it; `None` where the system does not
    /// report one.
    pub clock: Option<String>,
}

/// A message that an agent sends without being asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Note {
    /// New samples, distributions and events.
    Batch(Batch),
    /// All senders of this host have finished; the workload's JSON holds the sent counts.
    Sent(String),
    /// Rows about single requests, for the file that the controller keeps.
    Rows(Rows),
    /// A part of the phase failed; the rest continues.
    Problem {
        /// The cause.
        says: Text,
        /// The data that is missing because of it.
        missing: Option<Text>,
    },
    /// The connection to the agent was lost. Made by the bus, never sent over it.
    Lost {
        /// The last error of the connection.
        why: Text,
    },
    /// The health of the agent has changed. Made by the bus, never sent over it.
    Health(Health),
}

/// Reliability of an agent's answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Health {
    /// It answers.
    Ready,
    /// It has sent nothing for a lease.
    Suspect,
    /// It has sent nothing for two leases, and is given up.
    Lost,
}

impl Health {
    /// Of one that has been silent for so long.
    pub fn after(silent: Duration, lease: Duration) -> Self {
        if silent >= 2 * lease {
            Health::Lost
        } else if silent >= lease {
            Health::Suspect
        } else {
            Health::Ready
        }
    }

    /// In the words of people: `ready`, `suspect`, `lost`.
    pub fn word(self) -> &'static str {
        match self {
            Health::Ready => "ready",
            Health::Suspect => "suspect",
            Health::Lost => "lost",
        }
    }
}
