//! Goals that the requests of a test must meet for it to pass.
//!
//! `p95<2s,err<0.1%,rps>100`: bounds on percentiles, the mean or the maximum of the response time,
//! on the share of failed requests, and on requests per second.

use std::fmt;
use std::str::FromStr;

use sokudo_model::Text;
use sokudo_model::units::Nanos;

use super::LabelGroup;

/// Goals in one list at most.
const MOST_GOALS: usize = 32;

/// The quantity that a goal bounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Quantity {
    /// A percentile of the response time, 0 to 100.
    Percentile(f64),
    /// The mean response time.
    Mean,
    /// The longest response time.
    Max,
    /// Failed over all.
    Errors,
    /// Requests per second.
    Rate,
}

/// One goal: a quantity and the value it must stay below, or above.
#[derive(Debug, Clone, PartialEq)]
pub struct Goal {
    /// The quantity.
    pub quantity: Quantity,
    /// The bound: seconds, a share from 0 to 1, or requests per second.
    pub bound: f64,
    /// True when the value must stay above the bound.
    pub above: bool,
    /// True when the value may also equal the bound.
    pub inclusive: bool,
    /// As it was typed.
    pub typed: String,
}

/// A list of goals, never empty.
#[derive(Debug, Clone, PartialEq)]
pub struct Goals(Vec<Goal>);

/// The text is not a valid list of goals.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a valid goal: write for example `p95<2s`, `mean<300ms`, `max<10s`, `err<0.1%` or `rps>100`, several with commas between"
)]
pub struct NoGoal(String);

impl NoGoal {
    /// The sentence for the operator.
    pub fn text(&self) -> Text {
        Text::new("error-value-goal").word("text", &self.0)
    }
}

impl Goal {
    /// The value reached: seconds, a share, or requests per second.
    pub fn reached(&self, group: &LabelGroup) -> f64 {
        match self.quantity {
            Quantity::Percentile(percent) => group.percentile_ms(percent) as f64 / 1e3,
            Quantity::Mean => group.mean_ms() / 1e3,
            Quantity::Max => group.max_ms() as f64 / 1e3,
            Quantity::Errors => group.error_ratio(),
            Quantity::Rate => group.per_second(),
        }
    }

    /// True when it is kept. Nothing measured keeps nothing.
    pub fn is_kept(&self, group: &LabelGroup) -> bool {
        let reached = self.reached(group);
        group.n > 0
            && match (self.above, self.inclusive) {
                (false, false) => reached < self.bound,
                (false, true) => reached <= self.bound,
                (true, false) => reached > self.bound,
                (true, true) => reached >= self.bound,
            }
    }
}

impl Goals {
    /// Each goal, in the order in which they were typed.
    pub fn iter(&self) -> impl Iterator<Item = &Goal> {
        self.0.iter()
    }
}

impl FromStr for Goals {
    type Err = NoGoal;

    fn from_str(text: &str) -> Result<Self, NoGoal> {
        let compact: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        let goals: Option<Vec<Goal>> = compact.split(',').map(goal).collect();
        let sound = goals.filter(|goals| goals.len() <= MOST_GOALS);
        sound.map(Goals).ok_or_else(|| NoGoal(text.into()))
    }
}

impl fmt::Display for Goals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, goal) in self.0.iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            write!(f, "{comma}{}", goal.typed)?;
        }
        Ok(())
    }
}

fn goal(text: &str) -> Option<Goal> {
    let at = text.find(['<', '>'])?;
    let (name, rest) = text.split_at(at);
    let above = rest.starts_with('>');
    let (bound, inclusive) = match rest[1..].strip_prefix('=') {
        Some(bound) => (bound, true),
        None => (&rest[1..], false),
    };
    let quantity = quantity(name)?;
    // A floor makes sense for what is better the more there is of it, a ceiling for the rest.
    if above != (quantity == Quantity::Rate) {
        return None;
    }
    let bound = match quantity {
        Quantity::Errors => share(bound)?,
        Quantity::Rate => number(bound.strip_suffix("/s").unwrap_or(bound))?,
        _ => time(bound)?,
    };
    Some(Goal {
        quantity,
        bound,
        above,
        inclusive,
        typed: text.into(),
    })
}

fn quantity(name: &str) -> Option<Quantity> {
    match name {
        "mean" | "avg" => Some(Quantity::Mean),
        "median" => Some(Quantity::Percentile(50.0)),
        "max" => Some(Quantity::Max),
        "err" | "errors" => Some(Quantity::Errors),
        "rps" | "rate" => Some(Quantity::Rate),
        _ => {
            let digits = name.strip_prefix('p')?;
            let percent = match digits {
                // As other tools write them: p999 is 99.9 %.
                "999" => 99.9,
                "9999" => 99.99,
                _ => number(digits)?,
            };
            (percent > 0.0 && percent <= 100.0).then_some(Quantity::Percentile(percent))
        }
    }
}

fn number(text: &str) -> Option<f64> {
    let plain = text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    plain.then(|| text.parse().ok()).flatten()
}

/// `0.1%` or `0.001`; at most everything.
fn share(text: &str) -> Option<f64> {
    let (digits, scale) = match text.strip_suffix('%') {
        Some(percent) => (percent, 100.0),
        None => (text, 1.0),
    };
    let ratio = number(digits)? / scale;
    (0.0..=1.0).contains(&ratio).then_some(ratio)
}

/// A duration with its unit: a bare number could mean seconds or milliseconds.
fn time(text: &str) -> Option<f64> {
    if text.ends_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let seconds = text.parse::<Nanos>().ok()?.seconds();
    (seconds > 0.0).then_some(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::requests::{Request, Settings, Tally};

    #[test]
    fn goals_are_read_and_compared() {
        let goals: Goals = "p95 < 2s, err<=10%, rps>1, p99.9<3s".parse().unwrap();
        let mut tally = Tally::new(Settings::default());
        for i in 0..100u64 {
            tally.add(&Request {
                start_ms: i as i64 * 100,
                elapsed_ms: i * 25,
                label: b"a",
                success: i >= 10,
                ..Request::default()
            });
        }
        let total = tally.finish().total;
        let kept: Vec<bool> = goals.iter().map(|goal| goal.is_kept(&total)).collect();
        assert_eq!(kept, [false, true, true, true]);
        assert_eq!(goals.to_string(), "p95<2s,err<=10%,rps>1,p99.9<3s");
    }

    #[test]
    fn nothing_keeps_no_goal() {
        let goals: Goals = "p95<2s".parse().unwrap();
        let total = Tally::new(Settings::default()).finish().total;
        assert!(!goals.iter().all(|goal| goal.is_kept(&total)));
    }

    #[test]
    fn what_is_no_goal_is_refused() {
        for wrong in [
            "", "p95", "p95<2", "p95>2s", "rps<100", "err<200%", "p101<1s", "p0<1s", "x<1s",
            "p95<2s,", "rps>inf", "err<nan", "p95<-1s",
        ] {
            assert!(wrong.parse::<Goals>().is_err(), "{wrong}");
        }
    }
}
