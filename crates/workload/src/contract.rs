//! The contract between a load and its caller.
//!
//! ```text
//! prepare ──► offer ──► arm(offers) ──► start(T) ──► Emitted::Sent ──► drain(sent) ──► result
//!   bind                  connect        load                            stragglers
//! ```
//!
//! Offers, counts and results are the workload's own JSON text: only its two ends read them.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sokudo_model::{
    Batch, Change, FlowPlan, HostClock, PhaseResult, PhaseSpec, Refusal, Rows, Summary, Text,
};
use sokudo_stats::{Best, First, Outcome};

use crate::demand::Demand;
use crate::limit::Limit;

/// Description of a workload, for help pages, the console and the capability list.
#[derive(Debug, Clone, Copy)]
pub struct Descriptor {
    /// Subcommand, console word, and source of its series.
    pub name: &'static str,
    /// The question that it answers, one line.
    pub question: &'static str,
}

/// Output of a workload while it runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Emitted {
    /// Samples, distributions, events.
    Batch(Batch),
    /// Rows about single requests, for the file that the controller keeps.
    Rows(Rows),
    /// All senders of this host have finished; JSON that the other hosts' `drain` reads.
    Sent(String),
    /// Something went wrong; the phase goes on as far as it can.
    Problem {
        /// The problem.
        says: Text,
        /// Part of the result that is missing because of it.
        missing: Option<Text>,
    },
}

/// Receiver of a workload's output. Must not block: it is called from a reporting thread, never
/// from the measured path.
pub type Emit = Arc<dyn Fn(Emitted) + Send + Sync>;

/// Result of one host, or the reason why there is none.
pub type HostResult = Result<String, String>;

/// A file or directory of a host that a load uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathUse {
    /// Its path.
    pub path: PathBuf,
    /// True when something in it may be changed; false when it is only read.
    pub writes: bool,
}

/// A monitor that asks a loaded server about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerMonitor {
    /// Its name in the registry of monitors.
    pub monitor: &'static str,
    /// Its options, by key.
    pub options: Vec<(&'static str, String)>,
}

/// Options of a workload: one type, which is its command line, its word in a scenario, and the text
/// that travels in a plan. The docs of its fields are the manual.
pub trait Options: Args + Clone + Default + Serialize + DeserializeOwned {
    /// Name of the workload.
    const NAME: &'static str;

    /// Checks what the types cannot: how the options fit together.
    fn validate(&self) -> Result<(), Refusal>;

    /// Flows among so many hosts, of which number 0 is this one.
    fn flows(&self, hosts: u32) -> Vec<FlowPlan>;

    /// Duration of the load, the warm-up included, nanoseconds; 0 when only an amount bounds it.
    fn duration_ns(&self) -> u64;

    /// Time between two samples of each series, nanoseconds.
    fn interval_ns(&self) -> u64;

    /// The option that already says how much load there is, without hyphens.
    fn fixed(&self) -> Option<&'static str>;

    /// Name or address of the server outside the run that is loaded; `None` for loads between hosts.
    fn server(&self) -> Option<&str> {
        None
    }

    /// Port of that server.
    fn server_port(&self) -> Option<u16> {
        None
    }

    /// The monitor that asks this server about itself, where there is one: a run begins it by itself.
    fn server_monitor(&self) -> Option<ServerMonitor> {
        None
    }

    /// The database that is loaded, by its data source name with its secrets.
    fn database(&self) -> Option<&str> {
        None
    }

    /// The option that leaves latencies out, without hyphens; for workloads that have one.
    fn untimed(&self) -> Option<&'static str> {
        None
    }

    /// Options of so many hosts together when each of them has these; for a load that a phase
    /// divides among its hosts.
    fn of_hosts(&self, _hosts: u32) -> Self {
        self.clone()
    }

    /// The option, without hyphens, that names a file of this host which was not read yet.
    fn names_file(&self) -> Option<&'static str> {
        None
    }

    /// Replaces the names of files by what they hold, so that other hosts need not have them.
    ///
    /// Errors: a file cannot be read, is too long, or does not hold what it must.
    fn read_files(&mut self) -> Result<(), Refusal> {
        Ok(())
    }

    /// As they travel in a plan.
    fn to_json(&self) -> String {
        // Every field writes itself as text or number: there is nothing that JSON cannot hold.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// A kind of load, as those see it who run it. Loads implement [`Load`](crate::load::Load), from which
/// this follows.
pub trait Workload: Sync {
    /// Its description.
    fn descriptor(&self) -> Descriptor;

    /// Binds this host's part of a phase. No traffic yet.
    fn prepare(&self, spec: PhaseSpec, emit: Emit) -> Result<Box<dyn Phase>, Refusal>;

    /// The same options with another load for so long. For searches and sweeps.
    ///
    /// `rate_per_s` events per second; `None` = as fast as possible.
    fn trial(
        &self,
        options: &str,
        rate_per_s: Option<f64>,
        duration_ns: u64,
    ) -> Result<String, Refusal>;

    /// Demand of the phase on this host, as its owner's policy bounds it.
    ///
    /// Errors: options that cannot be read.
    fn demand(&self, spec: &PhaseSpec) -> Result<Demand, Refusal>;

    /// Files and directories of this host that the phase reads or writes.
    ///
    /// Errors: options that cannot be read.
    fn paths(&self, spec: &PhaseSpec) -> Result<Vec<PathUse>, Refusal>;

    /// Outcome of a trial of a search; `None` when the result does not hold it.
    fn outcome(&self, result: &PhaseResult) -> Option<Outcome>;

    /// First trial of a search for the highest rate.
    fn first(&self) -> First;

    /// The answer of a search as it stands in the run's summary, beside the numbers of the phase
    /// that confirmed it.
    fn best(&self, best: &Best, confirmed: &PhaseResult) -> Summary;

    /// True when it compares times of two hosts: then the clocks are measured right before and after
    /// the load, and told to each [`Phase`] before it is drained.
    fn compares_clocks(&self) -> bool;

    /// Joins what the hosts measured, by host index, into one result.
    ///
    /// A host that died has an `Err` or is missing; its flows are incomplete, and say why.
    ///
    /// Errors: options that cannot be read.
    fn join(&self, spec: &PhaseSpec, results: &[HostResult]) -> Result<PhaseResult, Refusal>;
}

/// One host's part of a phase, from bind to result `N`. Dropping it stops its load and waits for its
/// threads.
pub trait Phase<N = String>: Send {
    /// Offer to the other hosts: how they reach this one.
    fn offer(&self) -> String;

    /// Holds the ends that answer to what was granted, from now on; called at most once, before
    /// [`Phase::arm`]. A load whose far ends cannot make this host do anything but what its own options say
    /// has nothing to hold.
    fn hold_to(&mut self, limit: &Arc<Limit>);

    /// Connects to the other hosts. `offers` by host index.
    fn arm(&mut self, offers: &[Option<String>]) -> Result<(), Refusal>;

    /// Starts load at `at_ns`; `t0_ns` is zero of all time stamps. Both on this host's monotonic
    /// clock.
    fn start(&mut self, at_ns: i64, t0_ns: i64) -> Result<(), Refusal>;

    /// Stops sending; receiving goes on. [`Emitted::Sent`] follows as usual.
    fn halt(&mut self);

    /// Offers other load from now on.
    ///
    /// Errors: this load cannot be changed while it runs, or not in this way.
    fn steer(&mut self, _change: &Change) -> Result<(), Refusal> {
        Err(Refusal {
            operator_error: true,
            says: Text::new("error-load-fixed"),
            hint: Some(Text::new("error-load-fixed-hint")),
        })
    }

    /// Takes the offsets of the hosts' clocks around the load, by host index; `None` for a host that takes
    /// no part. Called before [`Phase::drain`] when the workload
    /// [compares clocks](Workload::compares_clocks).
    fn clocks(&mut self, _clocks: &[Option<HostClock>]) {}

    /// Waits for stragglers, a bounded time, then says what was measured. `sent` is what the
    /// senders of each host said, by host index.
    fn drain(&mut self, sent: &[Option<String>]) -> Result<N, Refusal>;
}
