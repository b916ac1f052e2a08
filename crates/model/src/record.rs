//! Everything that was recorded about one run, in memory.

use std::collections::BTreeMap;

use crate::environment::Environment;
use crate::finding::{Check, Finding};
use crate::manifest::Manifest;
use crate::series::{Event, HistogramInterval, Series};

/// One record, loaded. Whatever a report or a comparison shows is computed from this alone.
#[derive(Debug, Clone)]
pub struct Record {
    /// `run.json`.
    pub manifest: Manifest,
    /// Host name → facts.
    pub environments: BTreeMap<String, Environment>,
    /// All series, ordered by key.
    pub series: Vec<Series>,
    /// All interval distributions, ordered by key and time.
    pub histograms: Vec<HistogramInterval>,
    /// All events, ordered by time.
    pub events: Vec<Event>,
    /// Conclusions, strongest first.
    pub findings: Vec<Finding>,
    /// Conditions that had to hold, each with its result.
    pub checks: Vec<Check>,
}

impl Record {
    /// A record that holds its manifest alone.
    pub fn new(manifest: Manifest) -> Self {
        Self {
            manifest,
            environments: BTreeMap::new(),
            series: Vec::new(),
            histograms: Vec::new(),
            events: Vec::new(),
            findings: Vec::new(),
            checks: Vec::new(),
        }
    }

    /// The series of one metric, from all hosts.
    pub fn series_of(&self, metric: impl AsRef<str>) -> impl Iterator<Item = &Series> {
        let wanted = move |s: &&Series| s.key.metric == metric.as_ref();
        self.series.iter().filter(wanted)
    }
}
