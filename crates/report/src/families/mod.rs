//! The few numbers of a phase, by family of its workload.

mod bus;
mod datagram;
mod exchange;
mod probe;
mod stream;

use sokudo_model::kinds::{self, Family};
use sokudo_model::{Kind, Metric, PhaseRecord, Stat, Summary};

use crate::block::Number;
use crate::view;

/// Description of the phases of a workload.
#[derive(Clone, Copy)]
pub struct Telling {
    /// The few numbers that matter, the most important first, without the generator's health.
    pub numbers: fn(&Subject) -> Vec<Number>,
    /// One number for a list of phases.
    pub line: fn(&Subject) -> Option<Number>,
    /// Settings of the load that differ from the request.
    pub settings: fn(&Subject) -> Vec<Number>,
}

/// No numbers: several workloads together, or one that this version does not know.
const UNKNOWN: Telling = Telling {
    numbers: |_| Vec::new(),
    line: |_| None,
    settings: no_settings,
};

/// The part of the record that is described.
pub struct Subject<'a> {
    /// The phase.
    pub phase: &'a PhaseRecord,
    /// The kind of its workload, where there is one.
    pub kind: Option<&'static Kind>,
    /// Its numbers, with sums that only its flows knew.
    pub summary: Summary,
    /// Numbers of the whole run.
    pub totals: &'a Summary,
}

impl<'a> Subject<'a> {
    /// A phase of a run whose numbers are `totals`.
    pub fn new(phase: &'a PhaseRecord, totals: &'a Summary) -> Self {
        Self {
            phase,
            kind: phase.kind(),
            summary: view::effective(phase),
            totals,
        }
    }

    /// The phase's number.
    pub fn own(&self, metric: Metric) -> Option<f64> {
        metric.of(&self.summary)
    }

    /// One number of a distribution of the phase.
    pub fn stat(&self, metric: Metric, stat: Stat) -> Option<f64> {
        self.summary.get(&metric.stat(stat)).copied()
    }

    /// Its description.
    pub fn telling(&self) -> Telling {
        match self.kind.map(|kind| kind.family) {
            Some(Family::Exchange(_)) => exchange::TELLING,
            Some(Family::Bytes(_)) => stream::TELLING,
            Some(Family::Messages(_)) => bus::TELLING,
            Some(Family::Datagram) => datagram::TELLING,
            Some(Family::Probe) => probe::TELLING,
            None => UNKNOWN,
        }
    }
}

/// Every metric that has a place in a main chart.
pub fn charted() -> impl Iterator<Item = Metric> {
    kinds::KINDS.iter().flat_map(|kind| kind.charts.metrics())
}

/// One role in the charts of all kinds, each metric once: kinds may share their series.
pub fn series(role: fn(&Kind) -> Option<Metric>) -> Vec<Metric> {
    let mut out: Vec<Metric> = Vec::new();
    for metric in kinds::KINDS.iter().filter_map(|kind| role(kind)) {
        if !out.contains(&metric) {
            out.push(metric);
        }
    }
    out
}

/// For a list of phases: the first of the numbers of the phase itself.
fn first(subject: &Subject) -> Option<Number> {
    let none = Summary::new();
    let alone = Subject::new(subject.phase, &none);
    (alone.telling().numbers)(&alone).into_iter().next()
}

fn no_settings(_: &Subject) -> Vec<Number> {
    Vec::new()
}
