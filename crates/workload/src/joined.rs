//! How are the numbers of several hosts and flows put together?

use std::collections::BTreeMap;

use sokudo_model::{FlowResult, HistogramSummary, PhaseResult, Summary};
use sokudo_stats::{Histogram, Outcome};

use crate::histogram_text::HistogramText;

/// A generator that starts less than this share of what was asked for, although nothing held it up,
/// is the limit itself.
pub const GENERATOR_KEEPS: f64 = 0.97;
/// Nanoseconds to seconds.
pub const NS: f64 = 1e-9;

/// Histograms merged over the flows of a phase.
#[derive(Default)]
pub struct Merged(BTreeMap<&'static str, (Histogram, f64)>);

impl Merged {
    /// Adds one flow's distribution and sums it up; nothing for an empty one.
    pub fn add(
        &mut self,
        name: &'static str,
        scale: f64,
        text: &HistogramText,
    ) -> Option<HistogramSummary> {
        let histogram = text.histogram();
        if histogram.is_empty() {
            return None;
        }
        self.0
            .entry(name)
            .or_insert_with(|| (Histogram::new(), scale))
            .0
            .merge(&histogram);
        Some(histogram.summary(scale))
    }

    /// The distributions over all flows in a few numbers each.
    pub fn summaries(&self) -> BTreeMap<String, HistogramSummary> {
        let each = self.0.iter();
        each.map(|(name, (histogram, scale))| ((*name).into(), histogram.summary(*scale)))
            .collect()
    }

    /// `rr.latency_seconds.p99` and its like: each distribution's few numbers under names of their
    /// own.
    pub fn put_numbers(&self, summary: &mut Summary) {
        for (name, all) in self.summaries() {
            for (which, value) in [
                ("min", all.min),
                ("mean", all.mean),
                ("p50", all.p50),
                ("p90", all.p90),
                ("p99", all.p99),
                ("p999", all.p999),
                ("max", all.max),
            ] {
                put(summary, &format!("{name}.{which}"), value);
            }
        }
    }
}

/// Puts a number under its name; what is not known is left out.
pub fn put(metrics: &mut Summary, name: &str, value: impl Into<Option<f64>>) {
    if let Some(value) = value.into().filter(|value| value.is_finite()) {
        metrics.insert(name.into(), value);
    }
}

/// Puts numbers under their names; those that are not known are left out.
pub fn put_each<const N: usize>(metrics: &mut Summary, each: [(&str, Option<f64>); N]) {
    for (name, value) in each {
        put(metrics, name, value);
    }
}

/// How much later than agreed a flow began; one that began early, by the width of a clock tick, was
/// not late.
pub fn put_start_late(metrics: &mut Summary, late_ns: Option<i64>) {
    let late_s = late_ns.map(|ns| ns.max(0) as f64 * NS);
    put(metrics, "group.start_late_seconds", late_s);
}

/// What the flows of a phase come to together. Metrics are named without their workload.
pub struct Totals<'a> {
    source: &'static str,
    flows: &'a [FlowResult],
    /// What has been put so far.
    pub summary: Summary,
}

impl<'a> Totals<'a> {
    /// Nothing yet.
    pub fn of(source: &'static str, flows: &'a [FlowResult]) -> Self {
        Self {
            source,
            flows,
            summary: Summary::new(),
        }
    }

    fn name(&self, what: &str) -> String {
        format!("{}.{what}", self.source)
    }

    /// A number of each flow that has it.
    pub fn values(&self, what: &str) -> impl Iterator<Item = f64> {
        let name = self.name(what);
        let of = move |flow: &FlowResult| flow.metrics.get(&name).copied();
        self.flows.iter().filter_map(of)
    }

    /// A total that was put before.
    pub fn get(&self, what: &str) -> Option<f64> {
        self.summary.get(&self.name(what)).copied()
    }

    /// Puts a total; what is not known is left out.
    pub fn put(&mut self, what: &str, value: impl Into<Option<f64>>) {
        let name = self.name(what);
        put(&mut self.summary, &name, value);
    }

    fn fold(&mut self, each: &[&str], fold: fn(f64, f64) -> f64) {
        for what in each {
            let value = self.values(what).reduce(fold);
            self.put(what, value);
        }
    }

    /// Puts sums over the flows.
    pub fn sum(&mut self, each: &[&str]) {
        self.fold(each, |sum, value| sum + value);
    }

    /// Puts the highest of the flows' numbers.
    pub fn highest(&mut self, each: &[&str]) {
        self.fold(each, f64::max);
    }

    /// Puts the lowest of the flows' numbers.
    pub fn lowest(&mut self, each: &[&str]) {
        self.fold(each, f64::min);
    }

    /// Puts means over the flows, weighed by another number of theirs.
    pub fn weighed(&mut self, each: &[&str], weight: &str) {
        for what in each {
            let (name, weight) = (self.name(what), self.name(weight));
            let (mut sum, mut weights) = (0.0, 0.0);
            for flow in self.flows {
                if let Some((value, weight)) =
                    flow.metrics.get(&name).zip(flow.metrics.get(&weight))
                {
                    sum += value * weight;
                    weights += weight;
                }
            }
            self.put(what, ratio(sum, weights));
        }
    }

    /// Puts the numbers of the only flow; of several, only the range would say something.
    pub fn of_one(&mut self, each: &[&str]) {
        if self.flows.len() == 1 {
            self.highest(each);
        }
    }

    /// Puts a share of two totals that were put before.
    pub fn share(&mut self, what: &str, part: &str, whole: &str) {
        let both = self.get(part).zip(self.get(whole));
        self.put(what, both.and_then(|(part, whole)| ratio(part, whole)));
    }
}

/// What a trial of a search came to, of a workload whose answers are counted by `delivered`; what
/// came to nothing is a loss.
pub fn outcome(source: &str, delivered: &str, result: &PhaseResult) -> Option<Outcome> {
    let get = |name: &str| result.summary.get(name).copied();
    let own = |what: &str| get(&format!("{source}.{what}"));
    let delivered = get(delivered)?;
    let asked = own("asked_per_second");
    let late = own("late_ratio").unwrap_or(0.0);
    Some(Outcome {
        offered: asked.unwrap_or(delivered),
        delivered,
        loss: own("error_ratio").unwrap_or(0.0),
        // Late although there was room: it was not the far end that could not do more.
        generator_limited: asked.is_some_and(|asked| delivered < asked * GENERATOR_KEEPS)
            && late > 1.0 - GENERATOR_KEEPS,
    })
}

/// A share; nothing of nothing is no number.
pub fn ratio(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}
