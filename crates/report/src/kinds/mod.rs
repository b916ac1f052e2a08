//! What does a reader want to know first about each workload?
//!
//! One file and one line of [`REGISTRY`] per workload: its few numbers, its charts, and the metric
//! that tells how busy its load generator was.

mod bus;
mod datagram;
mod exchange;
mod probe;
mod stream;

use sokudo_model::{PhaseRecord, Summary};

use crate::block::Number;
use crate::view;

/// How a workload is told about.
pub struct Kind {
    /// The workload's name.
    pub name: &'static str,
    /// Metric that tells how busy the threads were that made the load, cores.
    pub generator_cpu: &'static str,
    /// Series of the payload that arrived, bits per second.
    pub arrived: Option<&'static str>,
    /// Series of the payload that was sent, bits per second.
    pub sent: Option<&'static str>,
    /// Series of whole things done per second: answers, messages.
    pub per_second: Option<&'static str>,
    /// Series of times, seconds, each with the key of its name.
    pub latency: &'static [(&'static str, &'static str)],
    /// The few numbers that matter, the most important first, without the generator's health.
    pub numbers: fn(&Subject) -> Vec<Number>,
    /// One number for a list of phases.
    pub line: fn(&Subject) -> Option<Number>,
    /// How the load was made, where that is not what was asked for.
    pub settings: fn(&Subject) -> Vec<Number>,
}

/// Every workload that the report knows. Another one is told about as the first.
pub const REGISTRY: &[Kind] = &[
    datagram::KIND,
    bus::KIND,
    exchange::RR,
    exchange::CRR,
    exchange::HTTP,
    exchange::JMX,
    stream::KIND,
    probe::KIND,
];

/// What is told about.
pub struct Subject<'a> {
    /// The phase.
    pub phase: &'a PhaseRecord,
    /// Its numbers, with sums that only its flows knew.
    pub summary: Summary,
    /// Numbers of the whole run.
    pub totals: &'a Summary,
}

impl<'a> Subject<'a> {
    /// A phase of a run whose numbers are `totals`.
    pub fn new(phase: &'a PhaseRecord, totals: &'a Summary) -> Self {
        let summary = view::effective(phase);
        Self {
            phase,
            summary,
            totals,
        }
    }

    /// The phase's number with this name after the workload's.
    pub fn own(&self, what: &str) -> Option<f64> {
        let name = format!("{}.{what}", self.phase.workload);
        self.summary.get(&name).copied()
    }
}

/// How the workload of a phase is told about.
pub fn of(phase: &PhaseRecord) -> &'static Kind {
    let own = |kind: &&Kind| kind.name == phase.workload;
    REGISTRY.iter().find(own).unwrap_or(&REGISTRY[0])
}

/// Every series that has a place in a main chart.
pub fn charted() -> impl Iterator<Item = &'static str> {
    REGISTRY.iter().flat_map(|kind| {
        let single = [kind.arrived, kind.sent, kind.per_second];
        let latency = kind.latency.iter().map(|(metric, _)| *metric);
        single.into_iter().flatten().chain(latency)
    })
}

/// For a list of phases: the first of the numbers of the phase itself.
fn first(subject: &Subject) -> Option<Number> {
    let none = Summary::new();
    let alone = Subject::new(subject.phase, &none);
    (of(subject.phase).numbers)(&alone).into_iter().next()
}

fn no_settings(_: &Subject) -> Vec<Number> {
    Vec::new()
}
