//! Metrics: named quantities with their unit, their kind, and how several of them become one.
//!
//! Each metric is a constant ([`Metric`]) in the module of its source: those of a workload in
//! [`crate::kinds`], all others in [`crate::metrics`]. Code refers to the constant; the dotted name
//! appears only in its declaration and in files.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::summary::{HistogramSummary, Summary};

/// Unit of a metric's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Plain number.
    One,
    /// 0 to 1.
    Ratio,
    /// Seconds.
    Seconds,
    /// Bytes.
    Bytes,
    /// Bytes per second.
    BytesPerSecond,
    /// Bits per second.
    BitsPerSecond,
    /// Datagrams.
    Packets,
    /// Datagrams per second.
    PacketsPerSecond,
    /// Events per second.
    PerSecond,
    /// Hertz.
    Hertz,
}

impl Unit {
    /// Symbol as printed after a number; empty for plain numbers.
    pub fn symbol(self) -> &'static str {
        match self {
            Unit::One | Unit::Ratio | Unit::Packets => "",
            Unit::Seconds => "s",
            Unit::Bytes => "B",
            Unit::BytesPerSecond => "B/s",
            Unit::BitsPerSecond => "b/s",
            Unit::PacketsPerSecond | Unit::PerSecond => "/s",
            Unit::Hertz => "Hz",
        }
    }

    /// Name used in files and in `sokudo metrics`.
    pub fn name(self) -> &'static str {
        match self {
            Unit::One => "1",
            Unit::Ratio => "ratio",
            Unit::Seconds => "seconds",
            Unit::Bytes => "bytes",
            Unit::BytesPerSecond => "bytes/second",
            Unit::BitsPerSecond => "bits/second",
            Unit::Packets => "packets",
            Unit::PacketsPerSecond => "packets/second",
            Unit::PerSecond => "1/second",
            Unit::Hertz => "hertz",
        }
    }
}

/// Behaviour of a metric's values over time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MetricKind {
    /// Only grows within a run; a series holds the cumulative value since the run's start.
    Counter,
    /// Goes up and down; a series holds the value at, or the mean over the interval ending at, `t_ns`.
    Gauge,
    /// Distribution; stored in `histograms.parquet`.
    Histogram,
}

impl MetricKind {
    /// Name used in files and in `sokudo metrics`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
        }
    }
}

/// Rule that makes the phase's total of the values of its flows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fold {
    /// The total does not follow from the flows' values: the workload computes it, or there is none.
    None,
    /// Sum.
    Sum,
    /// Largest value.
    Max,
    /// Smallest value.
    Min,
    /// Mean, weighted by another metric of the same flow.
    MeanBy(&'static Metric),
    /// The value of the only flow; several flows have no total.
    OfOne,
}

/// One number of a distribution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stat {
    /// Smallest value.
    Min,
    /// Arithmetic mean.
    Mean,
    /// Median.
    P50,
    /// 90th percentile.
    P90,
    /// 99th percentile.
    P99,
    /// 99.9th percentile.
    P999,
    /// Largest value.
    Max,
}

impl Stat {
    /// Every number, by size.
    pub const ALL: [Self; 7] = [
        Self::Min,
        Self::Mean,
        Self::P50,
        Self::P90,
        Self::P99,
        Self::P999,
        Self::Max,
    ];

    /// Last part of its name in a summary: `p99`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Min => "min",
            Self::Mean => "mean",
            Self::P50 => "p50",
            Self::P90 => "p90",
            Self::P99 => "p99",
            Self::P999 => "p999",
            Self::Max => "max",
        }
    }

    /// The number of that name; `None` for any other text.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|stat| stat.name() == name)
    }

    /// Its value in a distribution.
    pub fn of(self, all: &HistogramSummary) -> f64 {
        match self {
            Self::Min => all.min,
            Self::Mean => all.mean,
            Self::P50 => all.p50,
            Self::P90 => all.p90,
            Self::P99 => all.p99,
            Self::P999 => all.p999,
            Self::Max => all.max,
        }
    }
}

/// Handle and declaration of one metric.
#[derive(Debug, Clone, Copy)]
pub struct Metric {
    /// Dotted name; the last word carries the unit.
    pub name: &'static str,
    /// Unit of the values.
    pub unit: Unit,
    /// Behaviour of the values over time.
    pub kind: MetricKind,
    /// Exact meaning, in one line.
    pub help: &'static str,
    /// Rule that makes the phase's total of the flows' values.
    pub fold: Fold,
    /// Whether the table of flows has a column for it.
    pub is_column: bool,
    /// Whether `locales/*/report.ftl` has a short name for it, key `report-metric-<name>`.
    pub is_named: bool,
    /// Whether `locales/*/report.ftl` explains it to readers, key `report-help-<name>`.
    pub is_helped: bool,
}

/// A name stands for one metric.
impl PartialEq for Metric {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Metric {}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl AsRef<str> for Metric {
    fn as_ref(&self) -> &str {
        self.name
    }
}

impl From<Metric> for String {
    fn from(metric: Metric) -> Self {
        metric.name.to_owned()
    }
}

impl Metric {
    const fn new(name: &'static str, unit: Unit, kind: MetricKind, help: &'static str) -> Self {
        Self {
            name,
            unit,
            kind,
            help,
            fold: Fold::None,
            is_column: false,
            is_named: false,
            is_helped: false,
        }
    }

    /// The flows' values add up to the phase's total.
    pub const fn sum(mut self) -> Self {
        self.fold = Fold::Sum;
        self
    }

    /// The largest of the flows' values is the phase's total.
    pub const fn max(mut self) -> Self {
        self.fold = Fold::Max;
        self
    }

    /// The smallest of the flows' values is the phase's total.
    pub const fn min(mut self) -> Self {
        self.fold = Fold::Min;
        self
    }

    /// The mean of the flows' values, weighted by `weight`, is the phase's total.
    pub const fn mean_by(mut self, weight: &'static Self) -> Self {
        self.fold = Fold::MeanBy(weight);
        self
    }

    /// A phase of one flow has that flow's value as its total; several flows have none.
    pub const fn of_one(mut self) -> Self {
        self.fold = Fold::OfOne;
        self
    }

    /// The table of flows has a column for it.
    pub const fn column(mut self) -> Self {
        self.is_column = true;
        self
    }

    /// The report has a short name for it.
    pub const fn named(mut self) -> Self {
        self.is_named = true;
        self
    }

    /// The report explains what it holds.
    pub const fn helped(mut self) -> Self {
        self.is_helped = true;
        self
    }

    /// Name of one number of a distribution: `rr.latency_seconds.p99`.
    pub fn stat(&self, stat: Stat) -> String {
        format!("{}.{}", self.name, stat.name())
    }

    /// Its finite value among others.
    pub fn of(&self, metrics: &Summary) -> Option<f64> {
        metrics.get(self.name).copied().filter(|v| v.is_finite())
    }

    /// Its name in keys of messages: `rr-latency-seconds`.
    pub fn slug(&self) -> String {
        self.name.replace(['.', '_'], "-")
    }
}

/// A metric that only grows within a run.
pub const fn counter(name: &'static str, unit: Unit, help: &'static str) -> Metric {
    Metric::new(name, unit, MetricKind::Counter, help)
}

/// A metric that goes up and down.
pub const fn gauge(name: &'static str, unit: Unit, help: &'static str) -> Metric {
    Metric::new(name, unit, MetricKind::Gauge, help)
}

/// A distribution.
pub const fn histogram(name: &'static str, unit: Unit, help: &'static str) -> Metric {
    Metric::new(name, unit, MetricKind::Histogram, help)
}

/// Declares the metrics of one source: a constant each, and all of them as `METRICS`.
macro_rules! metrics {
    ($(
        $id:ident = $make:ident($name:expr, $unit:ident, $help:literal)
        $(.$role:ident($($argument:expr)?))*;
    )*) => {
        $(
            #[doc = $help]
            pub const $id: $crate::metric::Metric =
                $crate::metric::$make($name, $crate::metric::Unit::$unit, $help)
                    $(.$role($($argument)?))*;
        )*

        /// All of them, in the order of their declaration.
        pub const METRICS: &[$crate::metric::Metric] = &[$($id),*];
    };
}
pub(crate) use metrics;

/// Every metric that a record can hold, grouped by source.
pub fn catalogue() -> impl Iterator<Item = &'static Metric> {
    let workloads = crate::kinds::SOURCES.iter();
    crate::metrics::SOURCES
        .iter()
        .chain(workloads)
        .copied()
        .flatten()
}

/// The metric of that name.
pub fn find(name: &str) -> Option<&'static Metric> {
    catalogue().find(|metric| metric.name == name)
}

/// Prefix of the names that a scraped endpoint chose: the only metrics that are in no catalogue. Their
/// unit is what their name ends with, and no catalogue name begins with it.
pub const SCRAPED: &str = "scraped.";

/// Unit that the end of a scraped name states.
const SCRAPED_UNITS: &[(&str, Unit)] = &[
    ("_seconds_per_second", Unit::Ratio),
    ("_bytes_per_second", Unit::BytesPerSecond),
    ("_bits_per_second", Unit::BitsPerSecond),
    ("_packets_per_second", Unit::PacketsPerSecond),
    ("_per_second", Unit::PerSecond),
    ("_seconds", Unit::Seconds),
    ("_bytes", Unit::Bytes),
    ("_packets", Unit::Packets),
    ("_ratio", Unit::Ratio),
    ("_hertz", Unit::Hertz),
];

fn unit_of_scraped(name: &str) -> Unit {
    let found = SCRAPED_UNITS.iter().find(|(end, _)| name.ends_with(end));
    found.map_or(Unit::One, |(_, unit)| *unit)
}

/// Unit of a metric, or of one number of a distribution (`rr.latency_seconds.p99`); plain number for
/// a name that is not in the catalogue and does not begin with [`SCRAPED`].
pub fn unit_of(name: &str) -> Unit {
    if name.starts_with(SCRAPED) {
        return unit_of_scraped(name);
    }
    let whole = || find(name.rsplit_once('.')?.0).filter(|m| m.kind == MetricKind::Histogram);
    find(name).or_else(whole).map_or(Unit::One, |m| m.unit)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_unique_and_dotted() {
        let mut seen = BTreeSet::new();
        for metric in catalogue() {
            assert!(
                seen.insert(metric.name),
                "{} is declared twice",
                metric.name
            );
            assert!(metric.name.contains('.'), "{} has no source", metric.name);
            assert!(
                !metric.help.is_empty() && !metric.help.ends_with('.'),
                "{}",
                metric.name
            );
        }
    }

    #[test]
    fn numbers_of_a_distribution_have_its_unit() {
        assert_eq!(unit_of("rr.latency_seconds.p99"), Unit::Seconds);
        assert_eq!(unit_of("rr.errors.p99"), Unit::One);
        assert_eq!(unit_of("p99"), Unit::One);
    }

    #[test]
    fn a_scraped_name_states_its_unit_and_is_in_no_catalogue() {
        for (name, unit) in [
            ("scraped.http_requests_per_second", Unit::PerSecond),
            ("scraped.process_cpu_seconds_per_second", Unit::Ratio),
            (
                "scraped.node_network_receive_bytes_per_second",
                Unit::BytesPerSecond,
            ),
            ("scraped.heap_used_bytes", Unit::Bytes),
            ("scraped.go_goroutines", Unit::One),
        ] {
            assert_eq!(unit_of(name), unit, "{name}");
        }
        assert!(catalogue().all(|metric| !metric.name.starts_with(SCRAPED)));
    }

    #[test]
    fn names_carry_their_unit() {
        for metric in catalogue() {
            let suffix = match metric.unit {
                Unit::Seconds => "seconds",
                Unit::BytesPerSecond => "bytes_per_second",
                Unit::BitsPerSecond => "bits_per_second",
                Unit::Ratio => "_ratio",
                Unit::Hertz => "_hertz",
                Unit::PerSecond | Unit::PacketsPerSecond => "_per_second",
                Unit::Bytes => "_bytes",
                Unit::One | Unit::Packets => continue,
            };
            // The cost of a request is given per second of CPU time.
            let of_cpu = suffix == "_per_second" && metric.name.ends_with("_per_cpu_second");
            // Transactions per second have a name of their own in their field.
            let of_field = suffix == "_per_second" && metric.name.ends_with(".tps");
            assert!(
                of_cpu || of_field || metric.name.contains(suffix),
                "{} does not carry `{suffix}`",
                metric.name
            );
        }
    }
}
