//! Repeated runs of one measurement: the median of each key figure, and how sure it is.
//!
//! The runs are phases with the labels `role` = `repeat` and `repeat` = their number. Everything here
//! is computed from those phases alone. The trials of a search at its answer are repeated runs, too: the
//! phase that confirmed it, and those after it with the `role` = `again`. So are the turns of each layer of a
//! check, which have the label `turn` = their number, and the `role` = `turn` unless they are in the middle.

use sokudo_model::kinds::{Family, Kind};
use sokudo_model::metrics::repeat;
use sokudo_model::{Metric, PhaseRecord, Stat, Summary};

use crate::spread::{Spread, spread};

/// Label of the runs' numbers.
pub const LABEL: &str = "repeat";
/// Label of a layer's turns in a check; also the role of all but the one in the middle.
pub const TURN: &str = "turn";
/// Role of further trials at the answer of a search.
pub const AGAIN: &str = "again";
/// Label of a search's trials: whether they kept the bounds, `yes` or `no`.
pub const HELD: &str = "held";
/// Largest over smallest from which runs differ so much that one alone says little.
const FAR_APART: f64 = 1.5;

/// One key figure over all runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// The metric.
    pub metric: Metric,
    /// Statistic of a distribution; `None` for a metric that is a single number.
    pub stat: Option<Stat>,
    /// Values of the runs, in their order; `None` where a run has none.
    pub values: Vec<Option<f64>>,
    /// Median and spread of the values.
    pub spread: Spread,
}

/// The runs of a repeated measurement.
#[derive(Debug, Clone, PartialEq)]
pub struct Repeats {
    /// Names of the phases, in their order.
    pub phases: Vec<String>,
    /// Runs that gave no rate.
    pub failed: usize,
    /// Key figures: the rate first, then the latency, then shares that were lost or failed.
    pub figures: Vec<Figure>,
    /// Index of the run in the middle, by its rate: the one that single numbers are of.
    pub middle: usize,
}

/// True for a run of a repeated measurement.
pub fn is_repeat(phase: &PhaseRecord) -> bool {
    let role = phase.labels.get("role");
    role.is_some_and(|role| role == LABEL)
}

/// The repeated runs among the phases of a record; `None` when there are none with numbers.
pub fn repeats_of(phases: &[PhaseRecord]) -> Option<Repeats> {
    of_runs(
        &phases
            .iter()
            .filter(|phase| is_repeat(phase))
            .collect::<Vec<_>>(),
    )
}

/// True for a turn of a check's layer.
pub fn is_turn(phase: &PhaseRecord) -> bool {
    phase.labels.contains_key(TURN)
}

/// The turns of each layer among the phases of a check, in their order. A layer without numbers is left
/// out.
pub fn turns_of(phases: &[PhaseRecord]) -> Vec<(&str, Repeats)> {
    let mut layers: Vec<(&str, Vec<&PhaseRecord>)> = Vec::new();
    for phase in phases.iter().filter(|phase| is_turn(phase)) {
        match layers.iter_mut().find(|(layer, _)| *layer == phase.layer()) {
            Some((_, turns)) => turns.push(phase),
            None => layers.push((phase.layer(), vec![phase])),
        }
    }
    let layers = layers.into_iter();
    layers
        .filter_map(|(layer, turns)| Some((layer, of_runs(&turns)?)))
        .collect()
}

/// The answer of a search: trials at the rate that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The trials, that which confirmed the rate first.
    pub trials: Repeats,
    /// Trials that kept the bounds.
    pub held: usize,
    /// Lowest load above that of the trials that broke a bound, in the unit of the rate: the limit
    /// lies between the two. `None` when none above it did.
    pub above: Option<f64>,
}

/// The answer of the last search among the phases of a record; `None` without one.
pub fn answer_of(phases: &[PhaseRecord]) -> Option<Answer> {
    let is = |phase: &PhaseRecord, role: &str| phase.labels.get("role").is_some_and(|r| r == role);
    let at = phases.iter().rposition(|phase| is(phase, "confirm"))?;
    let confirmed = &phases[at];
    let again = phases[at + 1..].iter().take_while(|phase| is(phase, AGAIN));
    let runs: Vec<&PhaseRecord> = std::iter::once(confirmed).chain(again).collect();
    let trials = of_runs(&runs)?;
    let curve = confirmed.kind()?.curve.as_ref()?;
    let offered = curve.offered_in(&confirmed.result)?;
    let broken = phases.iter().filter(|phase| {
        let is_same = phase.workload == confirmed.workload;
        is_same && phase.labels.get(HELD).is_some_and(|held| held == "no")
    });
    let loads = broken.filter_map(|phase| curve.offered_in(&phase.result));
    Some(Answer {
        held: runs
            .iter()
            .filter(|run| run.labels.get(HELD).is_some_and(|held| held == "yes"))
            .count(),
        above: loads.filter(|load| *load > offered).reduce(f64::min),
        trials,
    })
}

/// The figures of these runs of one load, repeated or not; `None` when none of them gave a rate.
pub fn of_runs(runs: &[&PhaseRecord]) -> Option<Repeats> {
    let kind = runs.first()?.kind()?;
    let figures = keys(kind);
    let figures = figures.filter_map(|(metric, stat)| figure(metric, stat, runs));
    let figures: Vec<Figure> = figures.collect();
    let rate = figures.first().filter(|first| first.stat.is_none())?;
    Some(Repeats {
        phases: runs.iter().map(|run| run.name.clone()).collect(),
        failed: rate.values.iter().filter(|value| value.is_none()).count(),
        middle: rate.middle()?,
        figures,
    })
}

/// The figures that tell whether two runs of a kind are alike.
fn keys(kind: &Kind) -> impl Iterator<Item = (Metric, Option<Stat>)> {
    let (rate, latency, shares) = match (&kind.curve, kind.family) {
        (Some(curve), _) => (Some(curve.delivered), curve.latency, curve.shares),
        (None, Family::Exchange(exchange)) => {
            (Some(exchange.per_second), Some(exchange.latency), &[][..])
        }
        (None, Family::Files(copy)) => (Some(copy.rate), None, &[][..]),
        (None, _) => (None, None, &[][..]),
    };
    let stats = [Stat::P50, Stat::P99];
    let times = latency
        .into_iter()
        .flat_map(move |latency| stats.map(|stat| (latency, Some(stat))));
    // `loss` and `errors` of requests are one metric.
    let share = shares.first().map(|(_, share)| (*share, None));
    rate.map(|rate| (rate, None))
        .into_iter()
        .chain(times)
        .chain(share)
}

fn figure(metric: Metric, stat: Option<Stat>, runs: &[&PhaseRecord]) -> Option<Figure> {
    let of = |run: &&PhaseRecord| {
        let Some(stat) = stat else {
            return metric.of(&run.result.summary);
        };
        let summed = run.result.summary.get(&metric.stat(stat)).copied();
        let merged = || {
            run.result
                .histograms
                .get(metric.name)
                .map(|all| stat.of(all))
        };
        summed.or_else(merged).filter(|value| value.is_finite())
    };
    let values: Vec<Option<f64>> = runs.iter().map(of).collect();
    let known: Vec<f64> = values.iter().copied().flatten().collect();
    Some(Figure {
        metric,
        stat,
        spread: spread(&known)?,
        values,
    })
}

impl Figure {
    /// Name in a summary: `rr.latency_seconds.p50`.
    pub fn name(&self) -> String {
        match self.stat {
            Some(stat) => self.metric.stat(stat),
            None => self.metric.name.into(),
        }
    }

    /// Index of the run whose value is the median, or the next below it.
    fn middle(&self) -> Option<usize> {
        let values = self.values.iter().enumerate();
        let below = values.filter_map(|(at, value)| {
            let value = (*value)?;
            (value <= self.spread.median).then_some((at, value))
        });
        let nearest = below.max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
        nearest.map(|(at, _)| at)
    }

    /// True when single runs differ so much that one alone says little.
    pub fn is_far_apart(&self) -> bool {
        self.spread.min > 0.0 && self.spread.max >= self.spread.min * FAR_APART
    }
}

impl Repeats {
    /// Name of the phase in the middle.
    pub fn subject(&self) -> &str {
        &self.phases[self.middle]
    }

    /// The rate over all runs.
    pub fn rate(&self) -> Option<&Figure> {
        self.figures.first()
    }

    /// The entries that repetition adds to a run's summary.
    pub fn summary(&self) -> Summary {
        let counts = [
            (repeat::RUNS, self.phases.len()),
            (repeat::FAILED_RUNS, self.failed),
        ];
        let counts = counts.map(|(metric, count)| (metric.into(), count as f64));
        counts.into()
    }
}

#[cfg(test)]
mod tests {
    use sokudo_model::PhaseResult;
    use sokudo_model::kinds::{datagram, jmx, rr};

    use super::*;

    /// Runs of `rr` with these rates; 0 is one without numbers.
    fn runs(rates: &[f64]) -> Vec<PhaseRecord> {
        let phase = |(at, rate): (usize, &f64)| {
            let mut result = PhaseResult::default();
            if *rate > 0.0 {
                result.summary = [
                    (rr::TRANSACTIONS_PER_SECOND.into(), *rate),
                    (rr::LATENCY_SECONDS.stat(Stat::P50), 1.0 / rate),
                    (rr::ERROR_RATIO.into(), 0.0),
                ]
                .into();
            }
            let mut phase = PhaseRecord::plain(&format!("measure-{at}"), "rr", (0, 1), result);
            phase.labels.insert("role".into(), LABEL.into());
            phase
        };
        rates.iter().enumerate().map(phase).collect()
    }

    #[test]
    fn the_run_in_the_middle_stands_for_all() {
        let repeats = repeats_of(&runs(&[50.0, 10.0, 40.0, 0.0, 20.0, 30.0])).unwrap();
        assert_eq!((repeats.phases.len(), repeats.failed), (6, 1));
        assert_eq!(repeats.subject(), "measure-5");
        let rate = repeats.rate().unwrap();
        assert_eq!((rate.spread.n, rate.spread.median), (5, 30.0));
        assert!(rate.is_far_apart());
        let even = repeats_of(&runs(&[20.0, 10.0])).unwrap();
        assert_eq!(even.subject(), "measure-1", "the next below the median");
        assert_eq!(repeats.summary()["repeat.runs"], 6.0);
        assert_eq!(repeats.summary()["repeat.failed_runs"], 1.0);
    }

    #[test]
    fn each_layer_of_a_check_has_its_own_turns() {
        let mut phases = runs(&[30.0, 10.0, 20.0, 0.0]);
        for (phase, (layer, turn)) in
            phases
                .iter_mut()
                .zip([("rr", "1"), ("rr", "2"), ("rr", "3"), ("crr", "1")])
        {
            phase.workload = layer.into();
            phase.labels = [(TURN.into(), turn.into())].into();
        }
        let turns = turns_of(&phases);
        assert_eq!(turns.len(), 1, "the other layer gave no numbers");
        let (layer, repeats) = &turns[0];
        assert_eq!((*layer, repeats.subject()), ("rr", "measure-2"));
        assert_eq!(repeats.rate().unwrap().spread.median, 20.0);
        assert_eq!(repeats_of(&phases), None, "they are not runs of one load");
    }

    #[test]
    fn figures_that_no_run_has_are_left_out() {
        let repeats = repeats_of(&runs(&[10.0, 11.0])).unwrap();
        let names: Vec<String> = repeats.figures.iter().map(Figure::name).collect();
        let expected = [
            "rr.transactions_per_second",
            "rr.latency_seconds.p50",
            "rr.error_ratio",
        ];
        assert_eq!(names, expected);
        assert!(!repeats.figures[2].is_far_apart(), "of zeros");
    }

    #[test]
    fn without_runs_that_gave_numbers_there_are_no_repeats() {
        assert_eq!(repeats_of(&[]), None);
        assert_eq!(repeats_of(&runs(&[0.0, 0.0])), None);
        let mut plain = runs(&[10.0]);
        plain[0].labels.clear();
        assert_eq!(repeats_of(&plain), None);
    }

    #[test]
    fn an_answer_lies_between_what_held_and_what_broke() {
        let trial = |role: &str, held: &str, rate: f64| {
            let mut phase = runs(&[rate]).remove(0);
            phase.labels.insert("role".into(), role.into());
            phase.labels.insert(HELD.into(), held.into());
            phase
        };
        let phases = [
            trial("probe", "no", 80.0),
            trial("probe", "no", 50.0),
            trial("probe", "no", 30.0),
            trial("confirm", "yes", 40.0),
            trial(AGAIN, "yes", 41.0),
            trial(AGAIN, "no", 39.0),
        ];
        let answer = answer_of(&phases).unwrap();
        assert_eq!((answer.trials.phases.len(), answer.held), (3, 2));
        assert_eq!(answer.above, Some(50.0), "30 broke, but 40 held later");
        assert_eq!(answer.trials.rate().unwrap().spread.median, 40.0);
        assert_eq!(answer_of(&phases[..3]), None);
        let refuted = [trial("confirm", "yes", 40.0), trial("probe", "no", 20.0)];
        assert_eq!(answer_of(&refuted).unwrap().above, None);
    }

    #[test]
    fn every_kind_has_key_figures() {
        for kind in sokudo_model::kinds::KINDS {
            let keys: Vec<_> = keys(kind).collect();
            assert!(
                keys.first().is_some_and(|(_, stat)| stat.is_none()),
                "{}",
                kind.name
            );
        }
        let plan: Vec<_> = keys(&jmx::KIND).collect();
        assert_eq!(
            plan.len(),
            4,
            "rate, median, 99th percentile, share of errors"
        );
        let shares = keys(&datagram::KIND).filter(|(metric, _)| *metric == datagram::LOSS_RATIO);
        assert_eq!(shares.count(), 1);
    }
}
