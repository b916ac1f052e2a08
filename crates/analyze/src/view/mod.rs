//! A view of one phase of a record: totals, the worst flow, what a host's series did meanwhile.
//!
//! Everything above reads a phase through it. What was not measured is `None`, never zero.

pub mod machine;
mod sources;

use std::collections::{BTreeMap, BTreeSet};

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use sokudo_model::kinds::Kind;
use sokudo_model::metric::{Fold, Metric, Stat};
use sokudo_model::{
    Arg, Bounds, Evidence, Finding, FlowResult, Labels, PhaseRecord, Record, Series, Severity,
    Text, Unit,
};
use sokudo_stats::{capacity, curve, repeats, versus};

use sources::source_of;

/// Weight of a finding about a phase that was meant to lose.
const PROBE_WEIGHT: f64 = 0.3;
/// Requests or datagrams of which a share says something: fewer are what any scheduler does now and then.
const HANDFUL: f64 = 5.0;
/// Share of the time without a CPU from which a thread counts as kept from running.
pub const KEPT_WAITING: f64 = 0.05;

/// One phase of a record.
#[derive(Debug, Clone, Copy)]
pub struct PhaseView<'a> {
    /// The whole record.
    pub record: &'a Record,
    /// The phase.
    pub phase: &'a PhaseRecord,
}

impl<'a> PhaseView<'a> {
    /// A view of `phase`, which is one of `record`'s.
    pub fn new(record: &'a Record, phase: &'a PhaseRecord) -> Self {
        Self { record, phase }
    }

    /// The flows of the phase.
    pub fn flows(&self) -> &'a [FlowResult] {
        &self.phase.result.flows
    }

    /// Meaning of the phase's numbers; `None` for a workload that is not known.
    pub fn kind(&self) -> Option<&'static Kind> {
        self.phase.kind()
    }

    /// Names of those metrics of which the record has no series.
    pub fn unobserved(&self, metrics: impl IntoIterator<Item = Metric>) -> Vec<String> {
        let absent = |metric: &Metric| self.record.series_of(*metric).next().is_none();
        let absent = metrics.into_iter().filter(absent);
        absent.map(String::from).collect()
    }

    /// True for a trial of a search that looks for the limit and is expected to lose.
    pub fn is_probe(&self) -> bool {
        self.phase.labels.get("role").is_some_and(|r| r == "probe")
    }

    /// True for a phase that is one of many and may break whatever it runs into: a trial of a
    /// search, a step of a sweep, a level of a search for the knee.
    pub fn is_trial(&self) -> bool {
        let role = self.phase.labels.get("role");
        let is_again = role.is_some_and(|role| role == repeats::AGAIN || role == repeats::TURN);
        self.is_probe()
            || is_again
            || role.is_some_and(|role| role == "advise")
            || curve::is_step(self.phase)
            || capacity::record::is_run(self.phase)
            || capacity::protect::is_run(self.phase)
            || (versus::is_run(self.phase) && self.phase.labels[versus::ARM] == versus::WITH)
    }

    /// True for the fresh run that confirms what a search found.
    pub fn is_confirm(&self) -> bool {
        let role = self.phase.labels.get("role");
        role.is_some_and(|r| r == "confirm")
    }

    /// An option of the phase's workload, as the operator gave it; `None` for one that was left out, that
    /// has another type, or when the options cannot be read.
    pub fn option<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        let options: Map<String, Value> = serde_json::from_str(&self.phase.options).ok()?;
        let value = options.get(name).filter(|value| !value.is_null())?;
        T::deserialize(value).ok()
    }

    /// Bounds that had to be kept: label `bounds`, `p99<1ms,loss<0.1%`.
    pub fn bounds(&self) -> Option<Bounds> {
        self.phase.labels.get("bounds")?.parse().ok()
    }

    /// A total as the workload joined it, else the sum over the flows where the metric is one that adds
    /// up. `None` when it was not measured.
    pub fn total(&self, metric: Metric) -> Option<f64> {
        let joined = metric.of(&self.phase.result.summary);
        joined.or_else(|| self.sum(metric))
    }

    /// One number of a distribution over the whole phase, as the workload joined it.
    pub fn stat(&self, metric: Metric, stat: Stat) -> Option<f64> {
        let joined = self.phase.result.summary.get(&metric.stat(stat)).copied();
        joined.filter(|v| v.is_finite())
    }

    /// Sum over the flows that have the metric; `None` when none has, or when adding up the metric
    /// makes no sense.
    pub(crate) fn sum(&self, metric: Metric) -> Option<f64> {
        if metric.fold != Fold::Sum {
            return None;
        }
        let mut values = self.values(metric).map(|(_, value)| value).peekable();
        values.peek()?;
        Some(values.sum())
    }

    /// The hosts at the ends of the flows, each once.
    pub fn hosts(&self) -> BTreeSet<&'a str> {
        let flows = self.flows().iter();
        flows
            .flat_map(|flow| [flow.from.as_str(), flow.to.as_str()])
            .collect()
    }

    /// Each flow that has the metric, with its value.
    pub fn values(&self, metric: Metric) -> impl Iterator<Item = (&'a FlowResult, f64)> + use<'a> {
        let flows = self.flows().iter();
        flows.filter_map(move |flow| Some((flow, metric.of(&flow.metrics)?)))
    }

    /// The flow with the largest value of a metric.
    pub fn highest(&self, metric: Metric) -> Option<(&'a FlowResult, f64)> {
        self.values(metric).max_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// True when a share of what a flow counts is less than a handful; false when the count is missing.
    pub fn are_few(&self, counted: Metric, flow: &FlowResult, share: f64) -> bool {
        let counted = counted.of(&flow.metrics);
        counted.is_some_and(|count| (count * share).round() < HANDFUL)
    }

    /// The flow with the smallest value of a metric.
    pub fn lowest(&self, metric: Metric) -> Option<(&'a FlowResult, f64)> {
        self.values(metric).min_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// The receiving host with the largest sum of a metric over its flows, and the sum.
    pub fn worst_receiver(&self, metric: Metric) -> Option<(&'a str, f64)> {
        self.worst(metric, |flow| flow.to.as_str())
    }

    /// The sending host with the largest sum of a metric over its flows, and the sum.
    pub fn worst_sender(&self, metric: Metric) -> Option<(&'a str, f64)> {
        self.worst(metric, |flow| flow.from.as_str())
    }

    fn worst(
        &self,
        metric: Metric,
        host: impl Fn(&'a FlowResult) -> &'a str,
    ) -> Option<(&'a str, f64)> {
        let mut sums: BTreeMap<&str, f64> = BTreeMap::new();
        for (flow, value) in self.values(metric) {
            *sums.entry(host(flow)).or_default() += value;
        }
        sums.into_iter().max_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// Largest value of a metric among the flows that arrive at `host`.
    pub fn highest_at_receiver(&self, host: &str, metric: Metric) -> Option<f64> {
        let there = self.values(metric).filter(|(flow, _)| flow.to == host);
        there.map(|(_, value)| value).max_by(f64::total_cmp)
    }

    /// Largest value of a metric among the flows that leave from `host`.
    pub fn highest_at_sender(&self, host: &str, metric: Metric) -> Option<f64> {
        let there = self.values(metric).filter(|(flow, _)| flow.from == host);
        there.map(|(_, value)| value).max_by(f64::total_cmp)
    }

    /// Receiving hosts at which a metric is above zero.
    pub fn receivers_with(&self, metric: Metric) -> usize {
        let hosts = self.values(metric).filter(|(_, value)| *value > 0.0);
        let hosts: BTreeSet<&str> = hosts.map(|(flow, _)| flow.to.as_str()).collect();
        hosts.len()
    }

    /// Series of a metric on one host (all hosts for `None`) that carry all of `labels`.
    pub fn series(
        &self,
        host: Option<&str>,
        metric: Metric,
        labels: &[(&str, &str)],
    ) -> impl Iterator<Item = &'a Series> + use<'a> {
        let host = host.map(str::to_string);
        let labels: Vec<(String, String)> = labels
            .iter()
            .map(|(name, value)| (name.to_string(), value.to_string()))
            .collect();
        self.record.series.iter().filter(move |series| {
            series.key.metric == metric.name
                && host.as_ref().is_none_or(|h| *h == series.key.host)
                && labels
                    .iter()
                    .all(|(name, value)| series.key.labels.get(name) == Some(value))
        })
    }

    /// Mean of a gauge over the phase, for the one of the matching series where it is highest:
    /// its host, the series, the mean.
    pub fn highest_mean(
        &self,
        host: Option<&str>,
        metric: Metric,
        labels: &[(&str, &str)],
    ) -> Option<(&'a Series, f64)> {
        self.series(host, metric, labels)
            .filter_map(|series| Some((series, self.mean(series)?)))
            .max_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// Mean of the values of a series inside the phase.
    pub fn mean(&self, series: &Series) -> Option<f64> {
        let (n, sum) = self
            .inside(series)
            .fold((0u32, 0.0), |(n, sum), value| (n + 1, sum + value));
        (n > 0).then(|| sum / f64::from(n))
    }

    /// Largest value of a gauge on one host inside the phase, all labels together.
    pub fn peak(&self, host: &str, metric: Metric) -> Option<f64> {
        let series = self.series(Some(host), metric, &[]);
        let values = series.flat_map(|series| self.inside(series));
        values.max_by(f64::total_cmp)
    }

    /// A sample stands for the interval that ends at its time, so one at `t0` is about before.
    pub(crate) fn inside<'s>(&self, series: &'s Series) -> impl Iterator<Item = f64> + use<'s> {
        let (t0, t1) = (self.phase.t0_ns, self.phase.t1_ns);
        let points = series.points.iter();
        let inside = points.filter(move |(t, value)| t0 < *t && *t <= t1 && value.is_finite());
        inside.map(|(_, value)| *value)
    }

    /// Growth of the cumulative counters of a metric on one host during the phase, all labels
    /// together. `None` when no series shows it.
    pub fn increase(&self, host: &str, metric: Metric) -> Option<f64> {
        let series = self.series(Some(host), metric, &[]);
        let grown = series.filter_map(|series| self.growth(series));
        grown.reduce(|total, grown| total + grown)
    }

    /// Growth of one cumulative counter during the phase.
    pub fn growth(&self, series: &Series) -> Option<f64> {
        let before = series.points.iter().rev().find(|p| p.0 <= self.phase.t0_ns);
        let first = before.or_else(|| series.points.first())?;
        let last = series
            .points
            .iter()
            .rev()
            .find(|p| p.0 <= self.phase.t1_ns)?;
        Some((last.1 - first.1).max(0.0))
    }

    /// Share of the samples of a gauge inside the phase that are above zero.
    pub fn share_above_zero(&self, series: &Series) -> Option<f64> {
        let (above, all) = self
            .inside(series)
            .fold((0u32, 0u32), |(above, all), value| {
                (above + u32::from(value > 0.0), all + 1)
            });
        (all > 0).then(|| f64::from(above) / f64::from(all))
    }

    /// A finding about this phase. Trials that are meant to lose never raise more than interest.
    pub fn finding(&self, rule: &str, severity: Severity, weight: f64, says: Text) -> Finding {
        let (severity, weight) = match self.is_trial() {
            true => (Severity::Info, weight * PROBE_WEIGHT),
            false => (severity, weight),
        };
        Finding {
            rule: rule.into(),
            severity,
            phase: self.phase.name.clone(),
            weight: weight.clamp(0.0, 1.0),
            says,
            evidence: Vec::new(),
            against: Vec::new(),
            next: None,
        }
    }

    /// Evidence that is one number of one host, said by the message `key` with `host` and `value`.
    pub fn evidence(&self, key: &str, metric: Metric, host: &str, value: f64) -> Evidence {
        let says = Text::new(key)
            .word("host", host)
            .number("value", value, metric.unit);
        Evidence {
            says,
            source: source_of(metric).into(),
            host: Some(host.into()),
            metric: Some(metric.name.into()),
            labels: BTreeMap::new(),
            value: Some(value),
            unit: Some(metric.unit),
        }
    }

    /// Evidence that is one number of a distribution; nothing where it was not measured.
    pub fn stat_evidence(
        &self,
        key: &str,
        metric: Metric,
        stat: Stat,
        host: &str,
    ) -> Option<Evidence> {
        let value = self.stat(metric, stat)?;
        Some(Evidence {
            metric: Some(metric.stat(stat)),
            ..self.evidence(key, metric, host, value)
        })
    }

    /// Evidence that is the growth of a host's counter during the phase; nothing when it was not
    /// observed.
    pub fn grown(&self, key: &str, metric: Metric, host: &str) -> Option<Evidence> {
        let grown = self.increase(host, metric)?;
        Some(self.evidence(key, metric, host, grown))
    }
}

/// Names what could not be looked at, when less than two observations support a conclusion.
pub fn name_what_lacks<T: ToString>(evidence: &mut Vec<Evidence>, lacking: &[T]) {
    if evidence.len() >= 2 {
        return;
    }
    let names: Vec<String> = lacking.iter().map(T::to_string).collect();
    evidence.push(Evidence {
        says: Text::new("evidence-not-available").word("names", names.join(", ")),
        source: String::new(),
        host: None,
        metric: None,
        labels: BTreeMap::new(),
        value: None,
        unit: None,
    });
}

/// Evidence that is the rate that one flow carried, by the counts of both its ends.
pub fn carries(flow: &FlowResult, bits_per_second: f64) -> Evidence {
    Evidence {
        says: Text::new("evidence-flow-carries")
            .word("from", &flow.from)
            .word("to", &flow.to)
            .number("bits", bits_per_second, Unit::BitsPerSecond),
        source: "time stamps and counts of both ends".into(),
        host: None,
        metric: None,
        labels: Labels::new(),
        value: Some(bits_per_second),
        unit: Some(Unit::BitsPerSecond),
    }
}

/// A word that a message names, its own first, then those of the messages inside it.
pub fn word<'a>(text: &'a Text, name: &str) -> Option<&'a str> {
    if let Some(Arg::Word(word)) = text.args.get(name) {
        return Some(word);
    }
    text.args.values().find_map(|arg| match arg {
        Arg::Text(inner) => word(inner, name),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use crate::PhaseView;
    use crate::tests::{empty, phase};

    #[test]
    fn options_are_read_as_the_json_that_they_are() {
        let record = empty();
        let mut one = phase("measure", Vec::new());
        one.options = r#"{
            "plan": "a \"window\":9 b",
            "together": {"window": 8, "nagle": true},
            "sizes": [1, 2],
            "rate": null,
            "window" : 16
        }"#
        .into();
        let view = PhaseView::new(&record, &one);
        assert_eq!(view.option("window"), Some(16));
        assert_eq!(view.option::<bool>("nagle"), None, "another object's");
        assert_eq!(view.option("plan"), Some(r#"a "window":9 b"#.to_owned()));
        assert_eq!(view.option("sizes"), Some(vec![1, 2]));
        assert_eq!(view.option::<f64>("rate"), None);
        assert_eq!(view.option::<u32>("plan"), None, "of another type");
        let mut broken = one.clone();
        broken.options = "{".into();
        assert_eq!(
            PhaseView::new(&record, &broken).option::<u32>("window"),
            None
        );
    }
}
