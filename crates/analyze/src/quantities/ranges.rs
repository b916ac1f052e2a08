//! Ranges of a phase's main figures: where the true value lies under the conditions of this run.
//!
//! Rates from the means of the intervals that the series hold, percentiles from the ranks of the
//! merged distribution. Neither says what another run would give: that needs repeated runs.

use std::collections::BTreeMap;

use sokudo_model::kinds::{Family, Kind};
use sokudo_model::metric::{Metric, Stat};
use sokudo_model::units::Nanos;
use sokudo_model::{HistogramInterval, PhaseRecord, Record, Series};
use sokudo_stats::Histogram;
use sokudo_stats::interval::{self, Interval, MIN_RATE_BATCHES};

use crate::view::PhaseView;

/// Batches of a rate at most.
const MAX_BATCHES: usize = 200;
/// Largest share by which the figures of a summary and of its samples may differ and still be of
/// the same events.
const SAME: f64 = 0.01;
/// Percentiles that have a range.
const PERCENTILES: [(Stat, f64); 4] = [
    (Stat::P50, 0.5),
    (Stat::P90, 0.9),
    (Stat::P99, 0.99),
    (Stat::P999, 0.999),
];

/// The range of one figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    /// The interval, in the unit of the figure.
    pub interval: Interval,
    /// Its assumption.
    pub basis: Basis,
}

/// Assumption behind a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// Correlation of neighbouring samples, estimated from batches.
    Batches,
    /// The samples were taken as independent: there were too few batches to tell. The true range
    /// may be wider.
    Independent,
}

impl Basis {
    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Batches => "batches",
            Self::Independent => "independent",
        }
    }
}

/// Ranges by the name that the figure has in a summary: `rr.latency_seconds.p99`.
pub type Ranges = BTreeMap<String, Range>;

/// The ranges of the rate and of the latency's percentiles of a phase. What cannot be told is left
/// out: too few intervals or samples, or series that do not hold the same events as the summary.
pub fn of(record: &Record, phase: &PhaseRecord) -> Ranges {
    let Some(kind) = phase.kind() else {
        return Ranges::new();
    };
    let view = PhaseView::new(record, phase);
    let mut out = Ranges::new();
    if let Some((metric, range)) = rate(&view, kind) {
        out.insert(metric.into(), range);
    }
    if let Some(metric) = latency(kind) {
        percentiles(&view, metric, &mut out);
    }
    out
}

/// The latency whose percentiles are told.
fn latency(kind: &Kind) -> Option<Metric> {
    match kind.family {
        Family::Exchange(exchange) => Some(exchange.latency),
        _ => kind.curve.as_ref()?.latency,
    }
}

fn rate(view: &PhaseView<'_>, kind: &Kind) -> Option<(Metric, Range)> {
    let metric = kind.charts.per_second.or(kind.charts.arrived)?;
    let told = view.total(metric).filter(|told| *told > 0.0)?;
    let batches = batches(view, metric)?;
    let seen = batches.iter().sum::<f64>() / batches.len() as f64;
    let interval = interval::of_mean(&batches)?;
    let half = (interval.high - interval.low) / 2.0;
    // A rate over another time than that of the series, such as one that begins later.
    let moved = (seen - told).abs();
    let same = moved <= SAME * told || moved <= half;
    let interval = Interval {
        low: (told - half).max(0.0),
        high: told + half,
        ..interval
    };
    let basis = Basis::Batches;
    same.then_some((metric, Range { interval, basis }))
}

/// Means of a rate, all series together, over equal parts of the time that they cover.
fn batches(view: &PhaseView<'_>, metric: Metric) -> Option<Vec<f64>> {
    let start_ns = view.phase.t0_ns + warmup_ns(view);
    let inside = |t_ns: i64| start_ns < t_ns && t_ns <= view.phase.t1_ns;
    let series: Vec<&Series> = view.series(None, metric, &[]).collect();
    let points = series.iter().map(|one| {
        let inside = one.points.iter().filter(|(t_ns, _)| inside(*t_ns));
        (inside.clone().count(), inside.map(|(t_ns, _)| *t_ns).max())
    });
    let (most, end_ns) = points.fold((0, None), |(most, end), (n, last)| {
        (most.max(n), end.max(last))
    });
    let parts = most.min(MAX_BATCHES);
    let length_ns = (end_ns? - start_ns) as f64 / parts as f64;
    if parts < MIN_RATE_BATCHES {
        return None;
    }
    let mut out = vec![0.0; parts];
    for one in series {
        spread(one, (start_ns, length_ns), &mut out);
    }
    Some(out)
}

/// Adds the means of a series over the parts of a time: each value holds since the one before.
fn spread(series: &Series, (start_ns, length_ns): (i64, f64), out: &mut [f64]) {
    let mut since = 0.0f64;
    for (t_ns, value) in &series.points {
        let until = ((t_ns - start_ns) as f64 / length_ns).min(out.len() as f64);
        let mut at = since;
        while at < until && value.is_finite() {
            let part = at as usize;
            let next = until.min((part + 1) as f64);
            out[part] += value * (next - at);
            at = next;
        }
        since = since.max(until);
    }
}

/// Time at the begin of the phase that its figures leave out.
fn warmup_ns(view: &PhaseView<'_>) -> i64 {
    let typed = view.option::<String>("warmup");
    let time = typed.and_then(|typed| typed.parse::<Nanos>().ok());
    time.map_or(0, |time| i64::try_from(time.0).unwrap_or(i64::MAX / 2))
}

fn percentiles(view: &PhaseView<'_>, metric: Metric, out: &mut Ranges) {
    let batches = distributions(view, metric);
    let mut all = Histogram::new();
    batches.iter().for_each(|batch| all.merge(batch));
    // Plans have rows that stand for others; their distributions hold more than the total does.
    let told = samples(view.phase, metric).unwrap_or(0) as f64;
    if all.is_empty() || (all.len() as f64 - told).abs() > SAME * told {
        return;
    }
    for (stat, q) in PERCENTILES {
        let inflation = interval::inflation(&batches, all.quantile(q));
        let basis = match inflation {
            Some(_) => Basis::Batches,
            None => Basis::Independent,
        };
        let Some(interval) = interval::of_quantile(&all, q, inflation.unwrap_or(1.0)) else {
            continue;
        };
        let interval = Interval {
            low: interval.low / 1e9,
            high: interval.high / 1e9,
            ..interval
        };
        out.insert(metric.stat(stat), Range { interval, basis });
    }
}

/// Samples of a distribution that the phase's own numbers are of.
fn samples(phase: &PhaseRecord, metric: Metric) -> Option<u64> {
    let merged = phase.result.histograms.get(metric.name).map(|all| all.n);
    let flows = phase.result.flows.iter();
    let each = flows.filter_map(|flow| Some(flow.histograms.get(metric.name)?.n));
    merged.or_else(|| each.reduce(|a, b| a + b))
}

/// The distributions of a phase, those that ended at about the same time together, in their order.
fn distributions(view: &PhaseView<'_>, metric: Metric) -> Vec<Histogram> {
    let phase = view.phase;
    let of_phase = |one: &&HistogramInterval| {
        one.key.metric == metric.name && phase.t0_ns < one.t1_ns && one.t0_ns < phase.t1_ns
    };
    let mut parts: Vec<&HistogramInterval> =
        view.record.histograms.iter().filter(of_phase).collect();
    parts.sort_by_key(|one| one.t1_ns);
    let lengths = parts.iter().map(|one| one.t1_ns - one.t0_ns);
    let half_ns = lengths.max().unwrap_or(0) / 2;
    let mut out: Vec<(i64, Histogram)> = Vec::new();
    for one in parts {
        let Ok(more) = Histogram::from_v2(&one.hdr_v2) else {
            continue;
        };
        match out.last_mut() {
            Some((end_ns, batch)) if one.t1_ns - *end_ns < half_ns => batch.merge(&more),
            _ => out.push((one.t1_ns, more)),
        }
    }
    out.into_iter().map(|(_, batch)| batch).collect()
}

#[cfg(test)]
mod tests {
    use sokudo_model::kinds::rr;
    use sokudo_model::{HistogramSummary, Labels, PhaseResult, SeriesKey};

    use super::*;
    use crate::tests::empty;

    const S: i64 = 1_000_000_000;

    fn key(metric: Metric, host: &str) -> SeriesKey {
        SeriesKey {
            host: host.into(),
            source: "rr".into(),
            metric: metric.into(),
            labels: Labels::new(),
        }
    }

    /// Two hosts that ask, `seconds` long, each second 1,000 requests of 1 to 1,000 µs per host.
    fn record(seconds: i64) -> (Record, PhaseRecord) {
        let mut record = empty();
        for host in ["hosta", "hostb"] {
            let points = (1..=4 * seconds).map(|n| (n * S / 4 + S, 1_000.0));
            record.series.push(Series {
                key: key(rr::TRANSACTIONS_PER_SECOND, host),
                points: points.collect(),
            });
            for second in 1..=seconds {
                let mut all = Histogram::new();
                (1..=1_000).for_each(|us| all.record(us * 1_000));
                record.histograms.push(HistogramInterval {
                    key: key(rr::LATENCY_SECONDS, host),
                    t0_ns: second * S,
                    t1_ns: (second + 1) * S,
                    hdr_v2: all.to_v2(),
                });
            }
        }
        let n = 2_000 * seconds as u64;
        let all = HistogramSummary {
            n,
            ..HistogramSummary::default()
        };
        let result = PhaseResult {
            summary: [(rr::TRANSACTIONS_PER_SECOND.into(), 2_000.0)].into(),
            histograms: [(rr::LATENCY_SECONDS.into(), all)].into(),
            ..PhaseResult::default()
        };
        let span = (S, (seconds + 1) * S);
        (record, PhaseRecord::plain("measure", "rr", span, result))
    }

    #[test]
    fn the_rate_and_the_percentiles_lie_within_their_ranges() {
        let (record, phase) = record(10);
        let ranges = of(&record, &phase);
        let rate = ranges[rr::TRANSACTIONS_PER_SECOND.name];
        let steady = rate.interval.high - rate.interval.low;
        assert!((rate.interval.low - 2_000.0).abs() < 1.0 && steady < 1.0);
        for (stat, q) in PERCENTILES {
            let range = ranges[&rr::LATENCY_SECONDS.stat(stat)];
            let truth = q * 1e-3;
            // The distribution has steps of 1 µs.
            assert!((range.interval.low - 2e-6..range.interval.high + 2e-6).contains(&truth));
            assert!(range.interval.high - range.interval.low < 5e-5, "{range:?}");
            assert_eq!(range.basis, Basis::Batches);
        }
    }

    #[test]
    fn few_intervals_give_no_rate_and_name_what_percentiles_assume() {
        let (record, phase) = record(1);
        let ranges = of(&record, &phase);
        assert!(!ranges.contains_key(rr::TRANSACTIONS_PER_SECOND.name));
        let median = ranges[&rr::LATENCY_SECONDS.stat(Stat::P50)];
        assert_eq!(median.basis, Basis::Independent);
        assert!(
            !ranges.contains_key(&rr::LATENCY_SECONDS.stat(Stat::P999)),
            "of 2,000"
        );
    }

    #[test]
    fn samples_of_other_events_give_no_range() {
        let (record, mut phase) = record(10);
        let summary = &mut phase.result.summary;
        summary.insert(rr::TRANSACTIONS_PER_SECOND.into(), 1_000.0);
        let all = phase.result.histograms.values_mut();
        all.for_each(|all| all.n /= 2);
        assert_eq!(of(&record, &phase), Ranges::new());
    }

    #[test]
    fn what_stops_half_way_counts_as_nothing_from_then_on() {
        let (mut record, mut phase) = record(10);
        record.series[1].points.truncate(20);
        let summary = &mut phase.result.summary;
        summary.insert(rr::TRANSACTIONS_PER_SECOND.into(), 1_500.0);
        let range = of(&record, &phase)[rr::TRANSACTIONS_PER_SECOND.name];
        assert!(
            range.interval.low < 1_400.0 && range.interval.high > 1_600.0,
            "{range:?}"
        );
    }

    #[test]
    fn the_warm_up_is_left_out() {
        let (mut record, mut phase) = record(10);
        for series in &mut record.series {
            series.points[..4]
                .iter_mut()
                .for_each(|point| point.1 = 0.0);
        }
        phase.options = r#"{"warmup":"1000000000ns"}"#.into();
        let range = of(&record, &phase)[rr::TRANSACTIONS_PER_SECOND.name];
        assert!(range.interval.low > 1_999.0, "{range:?}");
    }
}
