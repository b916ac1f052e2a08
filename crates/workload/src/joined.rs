//! Putting together the numbers of several hosts and flows.

use std::collections::BTreeMap;

use sokudo_model::metrics::group;
use sokudo_model::{
    CurveMetrics, FlowResult, Fold, HistogramSummary, Metric, PhaseResult, Stat, Summary, Unit,
};
use sokudo_stats::{Histogram, Outcome};

/// A generator that starts less than this share of what was asked for, although nothing held it up,
/// is the limit itself.
pub const GENERATOR_KEEPS: f64 = 0.97;
/// Nanoseconds to seconds.
pub const NS: f64 = 1e-9;

/// Histograms merged over the flows of a phase.
#[derive(Default)]
pub struct Merged(BTreeMap<&'static str, (Metric, Histogram)>);

impl Merged {
    /// Adds one flow's distribution and sums it up; nothing for an empty one.
    pub fn add(&mut self, metric: Metric, more: &Histogram) -> Option<HistogramSummary> {
        if more.is_empty() {
            return None;
        }
        let (_, whole) = self
            .0
            .entry(metric.name)
            .or_insert_with(|| (metric, Histogram::new()));
        whole.merge(more);
        Some(more.summary(scale_of(metric)))
    }

    /// Adds the distributions of one flow, and puts them in a few numbers each into its result.
    pub fn add_each<'a>(
        &mut self,
        flow: &mut FlowResult,
        each: impl IntoIterator<Item = (Metric, &'a Histogram)>,
    ) {
        for (metric, more) in each {
            if let Some(summary) = self.add(metric, more) {
                flow.histograms.insert(metric.into(), summary);
            }
        }
    }

    /// The distributions over all flows in a few numbers each.
    pub fn each(&self) -> impl Iterator<Item = (Metric, HistogramSummary)> {
        let each = self.0.values();
        each.map(|(metric, whole)| (*metric, whole.summary(scale_of(*metric))))
    }

    /// The same by name.
    pub fn summaries(&self) -> BTreeMap<String, HistogramSummary> {
        let each = self.each();
        each.map(|(metric, all)| (metric.into(), all)).collect()
    }

    /// Puts `rr.latency_seconds.p99` and its like: each distribution's few numbers under names of
    /// their own.
    pub fn put_numbers(&self, summary: &mut Summary) {
        for (metric, all) in self.each() {
            for stat in Stat::ALL {
                put_named(summary, metric.stat(stat), stat.of(&all));
            }
        }
    }
}

/// Factor from the values of a histogram to the metric's unit: times are kept in nanoseconds.
fn scale_of(metric: Metric) -> f64 {
    match metric.unit {
        Unit::Seconds => NS,
        _ => 1.0,
    }
}

/// Puts a number under its name; what is not known is left out.
pub fn put(metrics: &mut Summary, metric: Metric, value: impl Into<Option<f64>>) {
    put_named(metrics, metric.into(), value);
}

/// Puts one number of a distribution under its name; what is not known is left out.
pub fn put_named(metrics: &mut Summary, name: String, value: impl Into<Option<f64>>) {
    if let Some(value) = value.into().filter(|value| value.is_finite()) {
        metrics.insert(name, value);
    }
}

/// Puts numbers under their names; those that are not known are left out.
pub fn put_each<const N: usize>(metrics: &mut Summary, each: [(Metric, Option<f64>); N]) {
    for (metric, value) in each {
        put(metrics, metric, value);
    }
}

/// Puts how much later than agreed a flow began; one that began early, by the width of a clock tick,
/// was not late.
pub fn put_start_late(metrics: &mut Summary, late_ns: Option<i64>) {
    let late_s = late_ns.map(|ns| ns.max(0) as f64 * NS);
    put(metrics, group::START_LATE_SECONDS, late_s);
}

/// Totals of the flows of a phase, each metric by its own rule ([`Metric::fold`]).
pub fn totals(metrics: &[Metric], flows: &[FlowResult]) -> Summary {
    let mut summary = Summary::new();
    for metric in metrics {
        put(&mut summary, *metric, total(metric, flows));
    }
    summary
}

/// Total of the flows' values of a metric; `None` when no flow has one, or when the metric has no
/// total.
pub fn total<'a>(
    metric: &Metric,
    flows: impl IntoIterator<Item = &'a FlowResult, IntoIter: Clone>,
) -> Option<f64> {
    let flows = flows.into_iter();
    let mut values = flows.clone().filter_map(|flow| metric.of(&flow.metrics));
    match metric.fold {
        Fold::None => None,
        Fold::Sum => values.reduce(|sum, value| sum + value),
        Fold::Max => values.reduce(f64::max),
        Fold::Min => values.reduce(f64::min),
        Fold::MeanBy(weight) => mean(metric, weight, flows),
        Fold::OfOne => match flows.count() {
            1 => values.next(),
            _ => None,
        },
    }
}

fn mean<'a>(
    metric: &Metric,
    weight: &Metric,
    flows: impl Iterator<Item = &'a FlowResult>,
) -> Option<f64> {
    let pair = |flow: &FlowResult| metric.of(&flow.metrics).zip(weight.of(&flow.metrics));
    let sums = flows
        .filter_map(pair)
        .fold((0.0, 0.0), |(sum, weights), (value, weight)| {
            (sum + value * weight, weights + weight)
        });
    ratio(sums.0, sums.1)
}

/// Outcome of a trial of a search, for a workload that counts answers; requests without an answer
/// are lost.
pub fn outcome(curve: &CurveMetrics, late: Metric, result: &PhaseResult) -> Option<Outcome> {
    let summary = &result.summary;
    let delivered = curve.delivered.of(summary)?;
    let asked = curve.offered.of(summary);
    let late = late.of(summary).unwrap_or(0.0);
    Some(Outcome {
        offered: asked.unwrap_or(delivered),
        delivered,
        loss: curve.share(result, "errors").unwrap_or(0.0),
        // Late although there was room: it was not the far end that could not do more.
        generator_limited: asked.is_some_and(|asked| delivered < asked * GENERATOR_KEEPS)
            && late > 1.0 - GENERATOR_KEEPS,
    })
}

/// A share; undefined when both are 0.
pub fn ratio(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}
