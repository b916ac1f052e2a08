//! Options that replace a plan's load model: rate, schedule, users, duration.

use sokudo_i18n::TextError;
use sokudo_jmeter::plan::schedule;
use sokudo_model::Text;

/// Model of arrivals.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Model {
    Closed,
    Open {
        per_s: f64,
        poisson: bool,
    },
    /// See [`schedule`].
    Schedule(String),
}

/// Reads `--model`.
pub(super) fn model(text: &str) -> Result<Model, TextError> {
    let (poisson, rate) = match text.split_once(':') {
        None if text == "closed" => return Ok(Model::Closed),
        Some(("open", rate)) => (false, rate),
        Some(("poisson", rate)) => (true, rate),
        Some(("schedule", steps)) => {
            let refused =
                |why: String| TextError(Text::new("error-value-schedule").word("why", why));
            return match schedule::parse(steps).map_err(refused)?.is_empty() {
                true => Err(TextError(Text::new("error-value-schedule-empty"))),
                false => Ok(Model::Schedule(steps.to_owned())),
            };
        }
        _ => return Err(TextError(Text::new("error-value-model"))),
    };
    let (number, unit) = rate.split_once('/').unwrap_or((rate, "s"));
    let (number, factor) = match number.strip_suffix('k') {
        Some(number) => (number, 1e3),
        None => (number, 1.0),
    };
    let per_s = schedule::rate(&format!("{number}/{unit}")).map(|per_s| per_s * factor);
    match per_s.ok().filter(|per_s| *per_s > 0.0) {
        Some(per_s) => Ok(Model::Open { per_s, poisson }),
        None => Err(TextError::value("error-value-model-rate", rate)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_read() {
        assert_eq!(model("closed"), Ok(Model::Closed));
        assert_eq!(
            model("open:500/s"),
            Ok(Model::Open {
                per_s: 500.0,
                poisson: false
            })
        );
        assert_eq!(
            model("poisson:1.5k/s"),
            Ok(Model::Open {
                per_s: 1500.0,
                poisson: true
            })
        );
        assert_eq!(
            model("open:600/min"),
            Ok(Model::Open {
                per_s: 10.0,
                poisson: false
            })
        );
        let steps = "rate(0/s) even_arrivals(30 s) rate(500/s) pause(1 min)";
        assert_eq!(
            model(&format!("schedule:{steps}")),
            Ok(Model::Schedule(steps.into()))
        );
        let wrong_schedules = ["schedule:", "schedule:rate(1/s", "schedule:ramp(1/s)"];
        for wrong in ["open", "open:x", "open:0/s", "open:1/week", "shape:1", ""]
            .into_iter()
            .chain(wrong_schedules)
        {
            assert!(model(wrong).is_err(), "{wrong}");
        }
    }
}
