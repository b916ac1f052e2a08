//! The curve of a sweep: throughput and latency over rising load, and the knee in it.
//!
//! The steps of a sweep are phases with the labels `role` = `sweep`, `sweep` = the option that was
//! varied, and `value`. Everything here is computed from those phases alone.

use sokudo_model::metrics::sweep;
use sokudo_model::{CurveMetrics, PhaseRecord, RunStatus, Summary, kinds, units};

use crate::knee::{MIN_POINTS, Shape, knee};

/// Share of the offered load below which a step carries less than was offered.
const CARRIES: f64 = 0.97;
/// The latency has taken off when it stays this many times above what it was before; four times
/// when a single step says so.
const TAKEN_OFF: f64 = 2.0;
const TAKEN_OFF_ONCE: f64 = 4.0;

/// One point of the curve: one step of a sweep.
#[derive(Debug, Clone, PartialEq)]
pub struct CurveStep {
    /// Name of its phase.
    pub phase: String,
    /// Value of the option, as it was given.
    pub value: String,
    /// The value as a number in its base unit; `None` for words.
    pub number: Option<f64>,
    /// Load that was offered, in the unit of [`CurveMetrics::offered`]; `None` for a failed step.
    pub offered: Option<f64>,
    /// Load that was carried, in the same unit.
    pub delivered: Option<f64>,
    /// Median latency, seconds.
    pub p50_s: Option<f64>,
    /// 99th percentile of the latency, seconds.
    pub p99_s: Option<f64>,
    /// Share of lost or failed operations, 0 to 1.
    pub lost: Option<f64>,
    /// The status of the step.
    pub status: RunStatus,
}

/// The criterion that found the knee.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// Above it, not everything that was offered was carried, or more brought little more.
    Delivered,
    /// Above it, the 99th percentile of the latency left its level for good.
    Latency,
}

/// Position of the knee: the last step before the curve bends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Knee {
    /// At the step with this index.
    At(usize, Sign),
    /// The highest step was still carried: the knee lies above the range, if anywhere.
    Above,
    /// Already the lowest step was not carried: the knee lies below the range.
    Below,
    /// Too few steps with numbers to decide.
    Unknown,
}

/// Throughput and latency of every step of a sweep.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// The metrics of the swept workload that make the curve.
    pub names: &'static CurveMetrics,
    /// Option that was varied.
    pub option: String,
    /// Steps by rising load, then those whose values are words or that failed.
    pub steps: Vec<CurveStep>,
    /// Position of the knee.
    pub knee: Knee,
}

/// The curve of the sweep among the phases of a record; `None` without a sweep.
pub fn curve_of(phases: &[PhaseRecord]) -> Option<Curve> {
    let steps = || phases.iter().filter(|phase| is_step(phase));
    let first = steps().next()?;
    let names = kinds::curve_metrics(&first.workload)?;
    let option = first.labels.get("sweep")?.clone();
    let mut all: Vec<CurveStep> = steps().map(|phase| step(names, phase)).collect();
    let place = |step: &CurveStep| step.number.filter(|_| step.delivered.is_some());
    all.sort_by(|a, b| {
        let (a, b) = (place(a), place(b));
        let missing_last = a.is_none().cmp(&b.is_none());
        missing_last.then(a.unwrap_or(0.0).total_cmp(&b.unwrap_or(0.0)))
    });
    let mut curve = Curve {
        names,
        option,
        steps: all,
        knee: Knee::Unknown,
    };
    curve.knee = curve.find_knee();
    Some(curve)
}

/// True for a phase that is a step of a sweep.
pub fn is_step(phase: &PhaseRecord) -> bool {
    phase.labels.get("role").is_some_and(|role| role == "sweep")
}

fn step(names: &CurveMetrics, phase: &PhaseRecord) -> CurveStep {
    let result = &phase.result;
    let value = phase.labels.get("value").cloned().unwrap_or_default();
    let shares = names.shares.iter();
    CurveStep {
        phase: phase.name.clone(),
        number: units::amount(&value).map(|(number, _)| number),
        value,
        offered: names.offered_in(result),
        delivered: names.delivered_in(result),
        p50_s: names.latency_s(result, "p50"),
        p99_s: names.latency_s(result, "p99"),
        lost: shares
            .filter_map(|(word, _)| names.share(result, word))
            .reduce(f64::max),
        status: phase.status,
    }
}

impl Curve {
    /// True when the load itself was varied, so that offered and delivered can be compared.
    pub fn is_rate(&self) -> bool {
        self.option == "rate"
    }

    /// Steps that gave no numbers.
    pub fn failed(&self) -> impl Iterator<Item = &CurveStep> {
        self.steps.iter().filter(|step| step.delivered.is_none())
    }

    /// The step that the few numbers of the run describe: the knee, else the step that carried
    /// most.
    pub fn subject(&self) -> Option<&CurveStep> {
        match self.knee {
            Knee::At(index, _) => self.steps.get(index),
            _ => {
                let carried = self.steps.iter().filter(|step| step.delivered.is_some());
                carried.max_by(|a, b| {
                    a.delivered
                        .unwrap_or(0.0)
                        .total_cmp(&b.delivered.unwrap_or(0.0))
                })
            }
        }
    }

    /// The entries that the sweep adds to a run's summary.
    pub fn summary(&self) -> Summary {
        let mut summary = Summary::new();
        summary.insert(sweep::STEPS.into(), self.steps.len() as f64);
        summary.insert(sweep::FAILED_STEPS.into(), self.failed().count() as f64);
        if let (Knee::At(index, _), Some(step)) = (self.knee, self.subject()) {
            summary.insert(sweep::KNEE_STEP.into(), index as f64 + 1.0);
            if let Some(number) = step.number {
                summary.insert(sweep::KNEE_VALUE.into(), number);
            }
        }
        summary
    }

    /// Position of a step on the axis of the load.
    pub fn x(&self, step: &CurveStep) -> Option<f64> {
        match self.is_rate() {
            true => step.offered,
            false => step.number,
        }
    }

    fn find_knee(&self) -> Knee {
        let usable: Vec<&CurveStep> = self
            .steps
            .iter()
            .take_while(|step| self.x(step).is_some() && step.delivered.is_some())
            .collect();
        if let Some(first) = usable.first()
            && self.is_rate()
            && !carries(first)
        {
            return Knee::Below;
        }
        if usable.len() < MIN_POINTS {
            return Knee::Unknown;
        }
        let delivered = self.bend(&usable, Shape::Saturating, |step| step.delivered);
        let delivered = delivered.and_then(|at| match self.is_rate() {
            true => last_that_carries(&usable, at),
            false => Some(at),
        });
        let latency = self.bend(&usable, Shape::TakingOff, |step| step.p99_s);
        let latency = latency.filter(|at| takes_off(&usable, *at));
        match (delivered, latency) {
            (Some(delivered), Some(latency)) if latency < delivered => {
                Knee::At(latency, Sign::Latency)
            }
            (Some(delivered), _) => Knee::At(delivered, Sign::Delivered),
            (None, Some(latency)) => Knee::At(latency, Sign::Latency),
            (None, None) => Knee::Above,
        }
    }

    fn bend(
        &self,
        steps: &[&CurveStep],
        shape: Shape,
        of: fn(&CurveStep) -> Option<f64>,
    ) -> Option<usize> {
        let points = steps.iter().map(|step| Some((self.x(step)?, of(step)?)));
        let points: Option<Vec<(f64, f64)>> = points.collect();
        knee(&points?, shape)
    }
}

/// True when a step carried what was offered.
fn carries(step: &CurveStep) -> bool {
    match (step.offered, step.delivered) {
        (Some(offered), Some(delivered)) => delivered >= offered * CARRIES,
        _ => true,
    }
}

/// The last step up to the bend that carries what was offered, when none above it does.
fn last_that_carries(steps: &[&CurveStep], at: usize) -> Option<usize> {
    let above = &steps[at + 1..];
    if above.iter().any(|step| carries(step)) {
        return None;
    }
    (0..=at).rev().find(|index| carries(steps[*index]))
}

/// Whether the latency stays above what it was up to the bend.
fn takes_off(steps: &[&CurveStep], at: usize) -> bool {
    let p99 = |step: &&CurveStep| step.p99_s;
    let mut before: Vec<f64> = steps[..=at].iter().filter_map(p99).collect();
    let after: Vec<f64> = steps[at + 1..].iter().filter_map(p99).collect();
    before.sort_by(f64::total_cmp);
    let (Some(median), Some(highest)) = (before.get(before.len() / 2), before.last()) else {
        return false;
    };
    let factor = match after.len() {
        1 => TAKEN_OFF_ONCE,
        _ => TAKEN_OFF,
    };
    let lowest = after.iter().copied().fold(f64::INFINITY, f64::min);
    lowest.is_finite() && lowest >= median * factor && lowest > *highest
}

#[cfg(test)]
mod tests {
    use sokudo_model::{Labels, PhaseResult};

    use super::*;

    /// A step of `rr` at `asked` requests per second, of which `answered` were.
    fn rr(asked: f64, answered: f64, p99_s: f64) -> PhaseRecord {
        let summary = [
            ("rr.asked_per_second", asked),
            ("rr.transactions_per_second", answered),
            ("rr.latency_seconds.p99", p99_s),
        ];
        phase("rate", &format!("{asked}/s"), &summary)
    }

    fn phase(option: &str, value: &str, summary: &[(&str, f64)]) -> PhaseRecord {
        let labels = [("role", "sweep"), ("sweep", option), ("value", value)];
        let labels: Labels = labels.map(|(k, v)| (k.to_owned(), v.to_owned())).into();
        let summary = summary.iter().map(|(k, v)| ((*k).to_owned(), *v));
        let result = PhaseResult {
            summary: summary.collect(),
            ..PhaseResult::default()
        };
        PhaseRecord {
            labels,
            ..PhaseRecord::plain(&format!("sweep-{value}"), "rr", (0, 1), result)
        }
    }

    /// A server that answers 5,500 per second; p99 is 1 ms below and 1 s above.
    fn sweep(rates: &[f64]) -> Curve {
        let phases: Vec<PhaseRecord> = rates
            .iter()
            .map(|rate| {
                rr(
                    *rate,
                    rate.min(5500.0),
                    if *rate > 5500.0 { 1.0 } else { 0.001 },
                )
            })
            .collect();
        curve_of(&phases).unwrap()
    }

    #[test]
    fn the_knee_is_the_last_step_that_was_carried() {
        let rates: Vec<f64> = (1..=10).map(|k| f64::from(k) * 1000.0).collect();
        let curve = sweep(&rates);
        assert_eq!(curve.knee, Knee::At(4, Sign::Delivered));
        assert_eq!(curve.subject().unwrap().value, "5000/s");
        assert_eq!(curve.summary()["sweep.knee_value"], 5000.0);
    }

    #[test]
    fn steps_in_any_order_and_far_apart_say_the_same() {
        let curve = sweep(&[16e3, 1e3, 8e3, 2e3, 4e3, 32e3]);
        let Knee::At(at, _) = curve.knee else {
            panic!("{:?}", curve.knee);
        };
        assert_eq!(curve.steps[at].value, "4000/s");
    }

    #[test]
    fn latency_alone_tells_too() {
        let phases: Vec<PhaseRecord> = [1.0, 1.1, 0.9, 1.0, 8.0, 9.0]
            .iter()
            .zip(1..)
            .map(|(ms, k)| rr(f64::from(k) * 1e3, f64::from(k) * 1e3, ms / 1e3))
            .collect();
        let curve = curve_of(&phases).unwrap();
        assert_eq!(curve.knee, Knee::At(3, Sign::Latency));
    }

    #[test]
    fn without_a_knee_the_answer_says_on_which_side() {
        assert_eq!(sweep(&[1e3, 2e3, 3e3, 4e3, 5e3]).knee, Knee::Above);
        assert_eq!(sweep(&[6e3, 7e3, 8e3, 9e3]).knee, Knee::Below);
        assert_eq!(sweep(&[1e3, 2e3, 3e3]).knee, Knee::Unknown);
        assert!(curve_of(&[]).is_none());
    }

    #[test]
    fn a_noisy_latency_is_no_knee() {
        let phases: Vec<PhaseRecord> = [1.0, 0.6, 1.4, 0.7, 1.1, 1.5, 0.5, 1.4]
            .iter()
            .zip(1..)
            .map(|(ms, k)| rr(f64::from(k) * 1e3, f64::from(k) * 1e3, ms / 1e3))
            .collect();
        assert_eq!(curve_of(&phases).unwrap().knee, Knee::Above);
    }

    #[test]
    fn a_window_that_brings_no_more_has_a_knee() {
        let phases: Vec<PhaseRecord> =
            [(1, 1e3), (2, 2e3), (4, 4e3), (8, 5e3), (16, 5e3), (32, 5e3)]
                .map(|(window, rate)| {
                    let summary = [("rr.transactions_per_second", rate)];
                    phase("window", &window.to_string(), &summary)
                })
                .into();
        let curve = curve_of(&phases).unwrap();
        let Knee::At(at, Sign::Delivered) = curve.knee else {
            panic!("{:?}", curve.knee);
        };
        assert!((2..=3).contains(&at), "{at}");
    }

    #[test]
    fn a_failed_step_is_kept_and_the_rest_still_counts() {
        let mut phases: Vec<PhaseRecord> = (1..=10)
            .map(|k| f64::from(k) * 1e3)
            .map(|rate| rr(rate, rate.min(5500.0), 0.001))
            .collect();
        phases[2].result = PhaseResult::default();
        phases[2].status = RunStatus::Failed;
        let curve = curve_of(&phases).unwrap();
        let Knee::At(at, _) = curve.knee else {
            panic!("{:?}", curve.knee);
        };
        assert_eq!(curve.steps[at].value, "5000/s");
        let failed: Vec<&str> = curve.failed().map(|step| step.value.as_str()).collect();
        assert_eq!(failed, ["3000/s"]);
        assert_eq!(curve.summary()["sweep.failed_steps"], 1.0);
    }
}
