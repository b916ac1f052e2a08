//! Runs a sweep: one phase per value of an option, such as `rate=1k/s..10k/s:10`.
//!
//! [`sokudo_stats::curve`] computes the curve and its knee from the recorded phases.

use std::str::FromStr;

use sokudo_i18n::TextError;
use sokudo_model::{PhasePlan, Text, units};
use sokudo_stats::{Curve, curve_of};

use crate::error::ControlError;
use crate::run::Run;

/// Steps of a sweep at most.
pub const MAX_STEPS: usize = 64;
/// Steps of a range that does not say how many.
const USUAL_STEPS: usize = 8;

/// An option and the values that it takes one after the other.
///
/// `NAME=A,B,C` lists them, `NAME=FROM..TO` takes eight equal steps, `NAME=FROM..TO:5` five, and
/// `NAME=FROM..TO:x2` doubles. In a list or range the last unit holds for bare numbers before it:
/// `rate=1k,2k,5k/s`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sweep {
    /// Name of the option, without hyphens in front.
    pub option: String,
    /// Values as they would be typed; at least two, all different.
    pub values: Vec<String>,
}

impl FromStr for Sweep {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        let refuse = |why: Text| {
            TextError(
                Text::new("error-value-sweep")
                    .word("text", text)
                    .text("why", why),
            )
        };
        let (option, values) = text
            .split_once('=')
            .ok_or_else(|| refuse(Text::new("error-value-sweep-form")))?;
        let option = option.trim().trim_start_matches("--");
        let named = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if option.is_empty() || !option.chars().all(named) {
            return Err(refuse(why("option", option)));
        }
        let values = match values.split_once("..") {
            Some((from, rest)) => range(from.trim(), rest.trim()).map_err(refuse)?,
            None => list(values),
        };
        if values.len() < 2 {
            return Err(refuse(Text::new("error-value-sweep-few")));
        }
        if values.len() > MAX_STEPS {
            return Err(refuse(too_many()));
        }
        let twice = (1..values.len()).find(|at| values[..*at].contains(&values[*at]));
        match twice {
            Some(at) => Err(refuse(why("twice", &values[at]))),
            None if values.iter().any(String::is_empty) => {
                Err(refuse(Text::new("error-value-sweep-empty")))
            }
            None => Ok(Self {
                option: option.into(),
                values,
            }),
        }
    }
}

/// Values between commas; bare numbers take the unit of the last one.
fn list(text: &str) -> Vec<String> {
    let values: Vec<&str> = text.split(',').map(str::trim).collect();
    let unit = values.last().and_then(|last| units::amount(last));
    let unit = unit.map_or("", |(_, unit)| unit);
    let with_unit = |value: &&str| match units::amount(value) {
        Some((_, "")) if unit != "ns" => format!("{value}{unit}"),
        _ => (*value).to_owned(),
    };
    values.iter().map(with_unit).collect()
}

/// Mistake in a part of a sweep.
fn why(what: &str, text: &str) -> Text {
    Text::new(format!("error-value-sweep-{what}")).word("text", text)
}

fn too_many() -> Text {
    Text::new("error-value-sweep-many").with("most", MAX_STEPS)
}

fn amount(text: &str) -> Result<(f64, &str), Text> {
    units::amount(text).ok_or_else(|| why("amount", text))
}

/// Values of `FROM..TO`, `FROM..TO:N` or `FROM..TO:xF`, both ends included.
fn range(from: &str, rest: &str) -> Result<Vec<String>, Text> {
    let (to, how) = match rest.rsplit_once(':') {
        Some((to, how)) => (to.trim(), how.trim()),
        None => (rest, ""),
    };
    let ((low, low_unit), (high, unit)) = (amount(from)?, amount(to)?);
    if !low_unit.is_empty() && low_unit != unit {
        return Err(why("units", from).word("to", to));
    }
    if low_unit.is_empty() && unit == "ns" {
        return Err(why("unit", from));
    }
    if low >= high {
        return Err(why("order", from).word("to", to));
    }
    let values = match how.strip_prefix('x') {
        Some(factor) => by_factor(low, high, factor)?,
        None => in_steps(low, high, how)?,
    };
    let whole = low.fract() == 0.0 && high.fract() == 0.0;
    let mut texts: Vec<String> = values
        .into_iter()
        .map(|value| if whole { value.round() } else { value })
        .map(|value| format!("{value}{unit}"))
        .collect();
    // Close values may round to the same whole number.
    texts.dedup();
    Ok(texts)
}

fn in_steps(low: f64, high: f64, how: &str) -> Result<Vec<f64>, Text> {
    let steps = match how {
        "" => USUAL_STEPS,
        how => how
            .parse()
            .ok()
            .filter(|steps| (2..=MAX_STEPS).contains(steps))
            .ok_or_else(|| why("steps", how).with("most", MAX_STEPS))?,
    };
    let last = (steps - 1) as f64;
    let value = |step: usize| match step + 1 == steps {
        true => high,
        false => low + (high - low) * step as f64 / last,
    };
    Ok((0..steps).map(value).collect())
}

fn by_factor(low: f64, high: f64, factor: &str) -> Result<Vec<f64>, Text> {
    let parsed = factor.parse::<f64>().ok();
    let factor = parsed
        .filter(|factor| factor.is_finite() && *factor > 1.0)
        .ok_or_else(|| why("factor", factor))?;
    if low <= 0.0 {
        return Err(Text::new("error-value-sweep-zero"));
    }
    // A last step that would be next to the end becomes the end.
    const NEXT_TO: f64 = 1.0001;
    let mut values = vec![low];
    let mut value = low * factor;
    while value * NEXT_TO < high {
        if values.len() > MAX_STEPS {
            return Err(too_many());
        }
        values.push(value);
        value *= factor;
    }
    values.push(high);
    Ok(values)
}

/// One step: the value, and the phase with it.
#[derive(Debug, Clone)]
pub struct SweepStep {
    /// Value of the option.
    pub value: String,
    /// Phase to run; its labels are filled in here.
    pub phase: PhasePlan,
}

impl Run {
    /// Runs one phase per step, with the labels `role` = `sweep`, `sweep` = the option's name and
    /// `value`; the knee goes into the run's summary. `None` when no step gave numbers.
    ///
    /// A step that fails is kept as a failed phase and named among the problems; the others still
    /// run. An interruption, or a host that is lost, ends the sweep. Errors: the first step was
    /// refused, so nothing was measured; or the record cannot be written.
    pub fn sweep(
        &mut self,
        option: &str,
        steps: Vec<SweepStep>,
    ) -> Result<Option<Curve>, ControlError> {
        let labelled = steps.into_iter().map(|SweepStep { value, mut phase }| {
            let labels = [("role", "sweep"), ("sweep", option), ("value", &value)];
            let labels = labels.map(|(label, value)| (label.to_owned(), value.to_owned()));
            phase.labels.extend(labels);
            phase
        });
        self.run_each(labelled.collect(), |phase| {
            Text::new("engine-sweep-step-failed").word("value", &phase.labels["value"])
        })?;
        let Some(curve) = curve_of(&self.manifest.phases) else {
            return Ok(None);
        };
        let Some(subject) = curve.subject() else {
            return Ok(None);
        };
        self.describe(&subject.phase);
        self.manifest.summary.extend(curve.summary());
        Ok(Some(curve))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, option: &str, values: &[&str]) {
        let sweep: Sweep = text.parse().unwrap();
        assert_eq!(
            (sweep.option.as_str(), sweep.values),
            (option, values.iter().map(|v| (*v).to_owned()).collect())
        );
    }

    #[test]
    fn lists_and_ranges_are_read() {
        check("rate=1k,2k,5k/s", "rate", &["1k/s", "2k/s", "5k/s"]);
        check("window=1, 2,4 ,8", "window", &["1", "2", "4", "8"]);
        check("--transport=tcp,tls", "transport", &["tcp", "tls"]);
        check(
            "rate=1k..10k/s:4",
            "rate",
            &["1000/s", "4000/s", "7000/s", "10000/s"],
        );
        check("size=64..1KiB:x4", "size", &["64B", "256B", "1024B"]);
        check(
            "rate=1Gb/s..5Gb/s:x2",
            "rate",
            &[
                "1000000000b/s",
                "2000000000b/s",
                "4000000000b/s",
                "5000000000b/s",
            ],
        );
        check(
            "timeout=10ms..1s:x10",
            "timeout",
            &["10000000ns", "100000000ns", "1000000000ns"],
        );
        check("connections=1..3:9", "connections", &["1", "2", "3"]);
        assert_eq!("rate=1..8/s".parse::<Sweep>().unwrap().values.len(), 8);
    }

    #[test]
    fn what_is_no_sweep_is_refused_with_a_reason() {
        for (wrong, why) in [
            ("rate", "`=`"),
            ("=1,2", "valid option name"),
            ("rate=", "less than two"),
            ("rate=1k/s", "less than two"),
            ("rate=1,,2", "empty"),
            ("rate=1,1", "twice"),
            ("rate=5..5:3", "below"),
            ("rate=9..5", "below"),
            ("rate=a..b", "valid amount"),
            ("rate=1b/s..5B/s", "different units"),
            ("rate=1..5:1", "number of steps"),
            ("rate=1..5:65", "number of steps"),
            ("rate=1..5:x1", "factor"),
            ("rate=1..5:xinf", "factor"),
            ("rate=0..5:x2", "begin at 0"),
            ("rate=1..1e9:x1.00001", "more than 64"),
            ("timeout=1..5s", "no unit"),
        ] {
            let error = wrong.parse::<Sweep>().unwrap_err().to_string();
            assert!(error.contains(why), "{wrong}: {error}");
        }
    }
}
