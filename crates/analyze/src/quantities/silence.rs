//! Spans in which no monitor of a host took a sample.
//!
//! Monitors and the readings of connections have threads of their own, which wait for no other host.
//! When all of them pause at once, the program stood still, or its host did.

use std::collections::BTreeMap;

use sokudo_model::{Evidence, Series, Text, Unit};

use crate::view::PhaseView;

/// Samples from which a series tells at what distance they come.
const ENOUGH: usize = 8;
/// The same of a series whose longest distance but one is taken for it.
const FEW: usize = 4;

/// Longest time within the phase for which nothing that observes `host` took a sample, beyond the time
/// that usually passes between two samples, seconds.
///
/// `None` when no series shows it.
pub fn longest(view: &PhaseView<'_>, host: &str) -> Option<f64> {
    longest_within(view, host, view.phase.t0_ns, view.phase.t1_ns)
}

/// The same of a part of the phase, from and to these moments of the run.
pub fn longest_within(view: &PhaseView<'_>, host: &str, from_ns: i64, to_ns: i64) -> Option<f64> {
    Some(bounds_within(view, host, from_ns, to_ns)?.0)
}

/// Bounds of the longest time within the phase for which nothing that observes `host` ran, seconds: that
/// between two samples, without the time that usually passes there, and with it.
pub fn bounds(view: &PhaseView<'_>, host: &str) -> Option<(f64, f64)> {
    bounds_within(view, host, view.phase.t0_ns, view.phase.t1_ns)
}

fn bounds_within(view: &PhaseView<'_>, host: &str, from_ns: i64, to_ns: i64) -> Option<(f64, f64)> {
    let series = view.record.series.iter();
    let own = series.filter(|series| series.key.host == host && is_independent(view, series));
    let own: Vec<&Series> = own.collect();
    let times: Vec<Vec<i64>> = own.iter().map(|series| inside(view, series)).collect();
    // A phase of few seconds has few samples of its own: the distance is that of the whole run.
    let within = times.iter().filter_map(|times| usual(times)).min();
    let usual_ns = within.or_else(|| own.iter().filter_map(|series| usual(&all(series))).min())?;
    let mut all = times.concat();
    all.sort_unstable();
    let bounded = |pair: &[i64]| pair[1].min(to_ns) - pair[0].max(from_ns);
    let longest_ns = all.windows(2).map(bounded).max()?;
    let seconds = |ns: i64| ns.max(0) as f64 * 1e-9;
    Some((seconds(longest_ns - usual_ns), seconds(longest_ns)))
}

/// The observation that `host` was silent for so long, seconds.
pub fn evidence(host: &str, seconds: f64) -> Evidence {
    Evidence {
        says: Text::new("evidence-silent").word("host", host).number(
            "value",
            seconds,
            Unit::Seconds,
        ),
        source: "times of samples".into(),
        host: Some(host.into()),
        metric: None,
        labels: BTreeMap::new(),
        value: Some(seconds),
        unit: Some(Unit::Seconds),
    }
}

/// True for a series that goes on while the load waits for an answer.
fn is_independent(view: &PhaseView<'_>, series: &Series) -> bool {
    let kind = view.kind().into_iter();
    let mut load = kind.flat_map(|kind| kind.metrics);
    load.all(|metric| metric.name != series.key.metric)
}

fn inside(view: &PhaseView<'_>, series: &Series) -> Vec<i64> {
    let phase = view.phase.t0_ns..=view.phase.t1_ns;
    let times = all(series).into_iter();
    times.filter(|t_ns| phase.contains(t_ns)).collect()
}

fn all(series: &Series) -> Vec<i64> {
    series.points.iter().map(|(t_ns, _)| *t_ns).collect()
}

/// Usual time between two samples, nanoseconds: the median, or of few samples the longest but one, as some of them are
/// taken out of turn at the end of a load.
fn usual(times: &[i64]) -> Option<i64> {
    let mut gaps: Vec<i64> = gaps(times).collect();
    gaps.sort_unstable();
    match times.len() {
        ENOUGH.. => Some(gaps[gaps.len() / 2]),
        FEW.. => Some(gaps[gaps.len() - 2]),
        _ => None,
    }
}

fn gaps(times: &[i64]) -> impl Iterator<Item = i64> {
    times.windows(2).map(|pair| pair[1] - pair[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_samples_tell_their_distance_by_the_longest_but_one() {
        // Every second, and twice at the end: with a stop of two seconds, and without one.
        assert_eq!(usual(&[200, 1_200, 3_180, 3_200, 3_610]), Some(1_000));
        assert_eq!(usual(&[200, 1_200, 2_200, 3_200, 3_610]), Some(1_000));
        assert_eq!(usual(&[200, 1_200, 2_200]), None);
        let many: Vec<i64> = (0..9).map(|n| n * 100).collect();
        assert_eq!(usual(&many), Some(100));
    }
}
