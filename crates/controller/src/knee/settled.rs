//! The rate of a run after its warm-up.

use std::collections::BTreeMap;

use sokudo_model::kinds::{self, Track};
use sokudo_model::{Batch, PhasePlan};
use sokudo_stats::warm_up::mser5;

/// Rate of the load per second, as its series came.
#[derive(Debug, Default)]
pub(crate) struct RateWatch {
    /// Metric of the rate; `None` for a load that has no such series.
    metric: Option<&'static str>,
    /// Length of the load, nanoseconds; 0 = something else ends it.
    duration_ns: u64,
    /// Of all flows together, by time.
    rates: BTreeMap<i64, f64>,
}

/// Difference of the rate up to which nothing needs to be left out.
const LITTLE: f64 = 0.01;

/// A run without its warm-up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Settled {
    /// Time at the begin that was left out, seconds.
    pub(crate) warm_up_s: f64,
    /// Mean rate after it over that of the whole load.
    pub(crate) ratio: f64,
}

impl RateWatch {
    /// Watches the rate of a phase that is about to begin.
    pub(crate) fn of(phase: &PhasePlan) -> Self {
        let tracks = kinds::find(&phase.workload).map_or(&[][..], |kind| kind.tracks);
        let mut rates = tracks.iter().filter(|track| track.track == Track::Answers);
        Self {
            metric: rates.next().map(|track| track.metric.name),
            duration_ns: phase.duration_ns,
            rates: BTreeMap::new(),
        }
    }

    /// Takes the samples of the rate.
    pub(crate) fn take(&mut self, batch: &Batch) {
        let series = batch.series.iter();
        let own = series.filter(|series| Some(series.key.metric.as_str()) == self.metric);
        for (t_ns, rate) in own.flat_map(|series| &series.points) {
            *self.rates.entry(*t_ns).or_default() += rate;
        }
    }

    /// The rate after the warm-up of a phase that began then; `None` where it had none, or it was too short to tell.
    pub(crate) fn settled(&self, t0_ns: i64) -> Option<Settled> {
        let end_ns = match self.duration_ns {
            0 => i64::MAX,
            length => t0_ns.saturating_add_unsigned(length),
        };
        // What is answered afterwards is the end of the load.
        let inside: Vec<(i64, f64)> = self
            .rates
            .range(t0_ns..=end_ns)
            .map(|(t, v)| (*t, *v))
            .collect();
        let rates: Vec<f64> = inside.iter().map(|(_, rate)| *rate).collect();
        let cut = mser5(&rates);
        let (begin_ns, _) = *inside.get(cut.checked_sub(1)?)?;
        let mean = |rates: &[f64]| rates.iter().sum::<f64>() / rates.len() as f64;
        let ratio = mean(&rates[cut..]) / mean(&rates);
        (ratio.is_finite() && (ratio - 1.0).abs() > LITTLE).then(|| Settled {
            warm_up_s: (begin_ns - t0_ns) as f64 * 1e-9,
            ratio,
        })
    }
}

#[cfg(test)]
mod tests {
    use sokudo_model::{Labels, Series, SeriesKey};

    use super::*;

    const STEP_NS: i64 = 250_000_000;

    fn watched(rate: impl Fn(i64) -> f64) -> RateWatch {
        let phase = PhasePlan {
            name: "knee-1-at-4".into(),
            workload: "http".into(),
            options: "{}".into(),
            flows: Vec::new(),
            duration_ns: 10_000_000_000,
            bound_ns: 0,
            labels: Labels::new(),
        };
        let mut watch = RateWatch::of(&phase);
        let series = |metric: &str, of: &dyn Fn(i64) -> f64| Series {
            key: SeriesKey {
                host: "hosta".into(),
                source: "http".into(),
                metric: metric.into(),
                labels: Labels::new(),
            },
            points: (1..=44).map(|at| (at * STEP_NS, of(at))).collect(),
        };
        let batch = Batch {
            series: vec![
                series("http.requests_per_second", &rate),
                series("http.active_users", &|_| 4.0),
            ],
            ..Batch::default()
        };
        watch.take(&batch);
        watch
    }

    #[test]
    fn the_warm_up_of_a_run_is_left_out_of_its_rate() {
        // Slow for 2 s; after 10 s the last answers come.
        let rate = |at: i64| match at {
            ..=8 => 20.0 * at as f64,
            9..=40 => 400.0 + (at % 3) as f64,
            _ => 30.0,
        };
        let settled = watched(rate).settled(0).expect("a warm-up");
        assert!((1.0..=3.0).contains(&settled.warm_up_s), "{settled:?}");
        assert!((1.1..1.3).contains(&settled.ratio), "{settled:?}");
    }

    #[test]
    fn a_run_that_is_steady_from_the_begin_is_taken_whole() {
        assert_eq!(watched(|at| 400.0 + (at % 3) as f64).settled(0), None);
    }
}
