//! The few numbers of a phase, by family of its workload.

mod bus;
mod datagram;
mod exchange;
mod files;
mod probe;
mod stream;

use sokudo_analyze::ranges::{Range, Ranges};
use sokudo_model::kinds::{self, Family};
use sokudo_model::units::human;
use sokudo_model::{Kind, Metric, PhaseRecord, Stat, Summary, Text};

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
    /// Ranges of the phase's numbers, where they are to be told.
    pub ranges: Ranges,
}

impl<'a> Subject<'a> {
    /// A phase of a run whose numbers are `totals`.
    pub fn new(phase: &'a PhaseRecord, totals: &'a Summary) -> Self {
        Self {
            phase,
            kind: phase.kind(),
            summary: view::effective(phase),
            totals,
            ranges: Ranges::new(),
        }
    }

    /// The same, with ranges beside its numbers.
    pub fn with_ranges(self, ranges: &Ranges) -> Self {
        Self {
            ranges: ranges.clone(),
            ..self
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

    /// Adds the range of a figure, `between 1 ms and 2 ms`, where it is known.
    fn put_range(&self, number: &mut Number, metric: Metric, stat: Option<Stat>) {
        let name = stat.map_or_else(|| metric.name.to_owned(), |stat| metric.stat(stat));
        let range = self.ranges.get(&name);
        let text = range.map(|range| ends(Text::new("report-number-between"), range, metric));
        number.detail.extend(text.map(Into::into));
    }

    /// Adds one number of a distribution, with its range behind it, where they are known.
    fn put_stat(&self, number: &mut Number, key: &str, metric: Metric, stat: Stat) {
        let Some(value) = self.stat(metric, stat) else {
            return;
        };
        let figure = Text::new(key).number("value", value, metric.unit);
        let range = self.ranges.get(&metric.stat(stat));
        let says = match range {
            Some(range) => {
                let ranged = Text::new("report-number-ranged").text("figure", figure);
                ends(ranged, range, metric)
            }
            None => figure,
        };
        number.detail.push(says.into());
    }

    /// Its description.
    pub fn telling(&self) -> Telling {
        match self.kind.map(|kind| kind.family) {
            Some(Family::Exchange(_)) => exchange::TELLING,
            Some(Family::Bytes(_)) => stream::TELLING,
            Some(Family::Messages(_)) => bus::TELLING,
            Some(Family::Datagram) => datagram::TELLING,
            Some(Family::Probe) => probe::TELLING,
            Some(Family::Files(_)) => files::TELLING,
            None => UNKNOWN,
        }
    }
}

fn ends(text: Text, range: &Range, metric: Metric) -> Text {
    text.word("low", human(range.interval.low, metric.unit))
        .word("high", human(range.interval.high, metric.unit))
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
