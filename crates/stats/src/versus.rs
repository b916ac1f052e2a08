//! A measurement with and without one change, in turns: what the change does to what is carried.
//!
//! The runs are phases with the labels `role` = `versus`, `versus` = the option that was changed, `value`
//! and `arm` = `with` or `without`. Everything here is computed from those phases alone.

use sokudo_model::metrics::versus;
use sokudo_model::{Metric, PhaseRecord, Summary};

/// Role of the runs, and the label that names the option.
pub const LABEL: &str = "versus";
/// Label that says whether a run has the change.
pub const ARM: &str = "arm";
/// Values of that label.
pub const WITH: &str = "with";
/// Values of that label.
pub const WITHOUT: &str = "without";

/// Effect of a change.
#[derive(Debug, Clone, PartialEq)]
pub struct Versus {
    /// Option that was changed.
    pub option: String,
    /// Its changed value; empty: it was left out.
    pub value: String,
    /// Carried volume, as a metric.
    pub metric: Metric,
    /// Volume carried with the change, per run.
    pub with: Vec<f64>,
    /// The same without it.
    pub without: Vec<f64>,
}

/// A ratio of what is carried with the change over what is carried without it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effect {
    /// Of the medians.
    pub ratio: f64,
    /// The lowest with over the highest without.
    pub low: f64,
    /// The highest with over the lowest without.
    pub high: f64,
}

/// True for a run of such a measurement.
pub fn is_run(phase: &PhaseRecord) -> bool {
    phase.labels.get("role").is_some_and(|role| role == LABEL)
}

/// The measurement among the phases of a record; `None` without runs of both kinds that gave numbers.
pub fn versus_of(phases: &[PhaseRecord]) -> Option<Versus> {
    let runs = || phases.iter().filter(|phase| is_run(phase));
    let first = runs().next()?;
    let metric = first.kind()?.curve.as_ref()?.delivered;
    let of = |arm: &str| -> Vec<f64> {
        let runs = runs().filter(|run| run.labels.get(ARM).is_some_and(|is| is == arm));
        let carried = runs.filter_map(|run| metric.of(&run.result.summary));
        carried.filter(|value| *value > 0.0).collect()
    };
    let (with, without) = (of(WITH), of(WITHOUT));
    (!with.is_empty() && !without.is_empty()).then(|| Versus {
        option: first.labels.get(LABEL).cloned().unwrap_or_default(),
        value: first.labels.get("value").cloned().unwrap_or_default(),
        metric,
        with,
        without,
    })
}

impl Versus {
    /// The effect. Its ends are those of the runs: of four runs each, all of one kind lie above all
    /// of the other by chance in 3 of 100 measurements in which the change does nothing.
    pub fn effect(&self) -> Effect {
        let ends = |values: &[f64]| {
            let low = values.iter().copied().fold(f64::INFINITY, f64::min);
            (low, values.iter().copied().fold(0.0, f64::max))
        };
        let (with, without) = (ends(&self.with), ends(&self.without));
        Effect {
            ratio: median(&self.with) / median(&self.without),
            low: with.0 / without.1,
            high: with.1 / without.0,
        }
    }

    /// The entries that the measurement adds to a run's summary.
    pub fn summary(&self) -> Summary {
        let effect = self.effect();
        [
            (versus::EFFECT.into(), effect.ratio),
            (versus::EFFECT_LOW.into(), effect.low),
            (versus::EFFECT_HIGH.into(), effect.high),
        ]
        .into()
    }
}

/// Median of at least one value.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = sorted.len() / 2;
    match sorted.len() % 2 {
        0 => f64::midpoint(sorted[at - 1], sorted[at]),
        _ => sorted[at],
    }
}

#[cfg(test)]
mod tests {
    use sokudo_model::PhaseResult;
    use sokudo_model::kinds::rr;

    use super::*;

    fn run(arm: &str, per_second: f64) -> PhaseRecord {
        let summary = [(
            rr::KIND.curve.expect("a curve").delivered.into(),
            per_second,
        )]
        .into();
        let result = PhaseResult {
            summary,
            ..PhaseResult::default()
        };
        let labels = [
            ("role", LABEL),
            (LABEL, "window"),
            ("value", "4"),
            (ARM, arm),
        ];
        PhaseRecord {
            labels: labels.map(|(k, v)| (k.to_owned(), v.to_owned())).into(),
            ..PhaseRecord::plain("versus-1", rr::KIND.name, (0, 1), result)
        }
    }

    #[test]
    fn the_effect_has_the_runs_for_its_ends() {
        let runs = [
            run(WITHOUT, 100.0),
            run(WITH, 220.0),
            run(WITH, 200.0),
            run(WITHOUT, 110.0),
        ];
        let found = versus_of(&runs).expect("both kinds");
        assert_eq!(
            (found.option.as_str(), found.value.as_str()),
            ("window", "4")
        );
        let effect = found.effect();
        assert_eq!(
            (effect.ratio, effect.low, effect.high),
            (2.0, 200.0 / 110.0, 2.2)
        );
        assert_eq!(versus_of(&runs[1..3]), None);
        assert_eq!(versus_of(&[]), None);
    }
}
