//! The point of an experiment with the highest throughput.
//!
//! A scenario repeats a phase with other settings and labels each: so many pairs, one way or both. A reader
//! wants to hear of the best of them first, not of the last.

use sokudo_model::manifest::TOGETHER;
use sokudo_model::{PhaseRecord, Record, Text, Unit, kinds};

/// The labelled phases of a run, looked at together.
#[derive(Debug, Clone, Copy)]
pub struct Experiment<'a> {
    /// Its points.
    pub phases: usize,
    /// The one that carried most.
    pub most: &'a PhaseRecord,
    /// The throughput, bits per second.
    pub bits_per_second: f64,
}

/// The experiment that a run of many hosts is; `None` for fewer than two labelled phases that carried
/// something, and when they carry different kinds of load, which do not compare.
pub fn of(record: &Record) -> Option<Experiment<'_>> {
    let manifest = &record.manifest;
    if !manifest.is_of_many_hosts() {
        return None;
    }
    // Loads that ran beside others are not points of one line.
    let alone = |p: &&PhaseRecord| !p.labels.contains_key(TOGETHER);
    let labelled = manifest.phases.iter().filter(|p| !p.labels.is_empty());
    let labelled = labelled.filter(alone);
    let carried = |phase| Some((phase, speed(phase)?));
    let points: Vec<(&PhaseRecord, f64)> = labelled.filter_map(carried).collect();
    let (first, _) = points.first()?;
    let is_one_kind = points.iter().all(|(p, _)| p.workload == first.workload);
    let (most, bits_per_second) = *points.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    (points.len() > 1 && is_one_kind).then_some(Experiment {
        phases: points.len(),
        most,
        bits_per_second,
    })
}

fn speed(phase: &PhaseRecord) -> Option<f64> {
    let speed = kinds::totals(&phase.result.flows)?.bits_per_second();
    speed.is_finite().then_some(speed)
}

impl Experiment<'_> {
    /// Sentence about the point that carried most.
    pub(crate) fn sentence(&self) -> Text {
        Text::new("verdict-most-carried")
            .number("phases", self.phases as f64, Unit::One)
            .word("phase", &self.most.name)
            .number("bits", self.bits_per_second, Unit::BitsPerSecond)
    }
}
