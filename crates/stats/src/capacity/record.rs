//! The search for a knee as it stands in a record, and its answer.
//!
//! Each run is a phase with the labels `role` = `knee`, `knee` = the option that was raised, `value` =
//! the users, `pass`, `rule`, `cpu` = the share of the server's CPU, where a warm-up was left out `warm-up` = its
//! seconds and `settled` = the rate after it over the whole one, and, where bounds were asked for, `bounds` and `held`. Everything here is computed from those phases alone.

use std::str::FromStr;

use sokudo_model::metrics::{group, knee};
use sokudo_model::{PhaseRecord, Summary, Text};

use super::estimate::{Capacity, Users, capacity};
use super::search::Pass;
use super::{Level, Visit};
use crate::repeats::HELD;

/// Role of the phases, and the label that names the option.
pub const LABEL: &str = "knee";
/// Label of the share of the server's CPU time that was used.
pub const CPU: &str = "cpu";
/// Label of the time at the begin that was left out as a warm-up (MSER-5), seconds.
pub const WARM_UP: &str = "warm-up";
/// Label of the rate after it over that of the whole load.
pub const SETTLED: &str = "settled";
/// Share of the CPU that counts as full where the rule names none.
const USUAL_CPU_SHARE: f64 = 0.8;

/// The rule that gives the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Rule {
    /// Users at which the throughput without queues meets the highest that was carried.
    #[default]
    Bound,
    /// Users at which the throughput bends.
    Kneedle,
    /// Users at which the server's CPU reaches so many percent.
    Cpu(u8),
    /// The most users with which the demands are kept.
    Slo,
}

impl Rule {
    /// The word that is typed.
    pub fn word(self) -> String {
        match self {
            Self::Bound => "bound".into(),
            Self::Kneedle => "kneedle".into(),
            Self::Cpu(percent) => format!("cpu{percent}"),
            Self::Slo => "slo".into(),
        }
    }

    /// The answer among what the levels say.
    pub fn answer(self, all: &Capacity) -> Option<Users> {
        match self {
            Self::Bound => all.bounds,
            Self::Kneedle => all.kneedle,
            Self::Cpu(_) => all.cpu,
            Self::Slo => all.held,
        }
    }
}

/// A text that is not a rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a rule; write bound, kneedle, slo, or cpu80 for a share of the server's CPU")]
pub struct NoRule(String);

impl NoRule {
    /// The sentence for the operator.
    pub fn text(&self) -> Text {
        Text::new("error-value-rule").word("text", &self.0)
    }
}

impl FromStr for Rule {
    type Err = NoRule;

    fn from_str(text: &str) -> Result<Self, NoRule> {
        let cpu = || text.strip_prefix("cpu")?.parse().ok();
        match text {
            "bound" => Ok(Self::Bound),
            "kneedle" => Ok(Self::Kneedle),
            "slo" => Ok(Self::Slo),
            _ => match cpu() {
                Some(percent @ 1..=100) => Ok(Self::Cpu(percent)),
                _ => Err(NoRule(text.into())),
            },
        }
    }
}

impl Pass {
    /// The word in the record.
    pub fn word(self) -> &'static str {
        match self {
            Self::Ramp => "ramp",
            Self::Refine => "refine",
            Self::Descend => "descend",
            Self::Confirm => "confirm",
        }
    }
}

/// A search for a knee.
#[derive(Debug, Clone, PartialEq)]
pub struct KneeFound {
    /// Option whose value was raised.
    pub option: String,
    /// The rule that gives the answer.
    pub rule: Rule,
    /// The levels, by rising users.
    pub levels: Vec<Level>,
    /// Per level: name of the phase of its first run.
    pub phases: Vec<String>,
    /// Their result.
    pub all: Capacity,
    /// Runs that gave no numbers.
    pub failed: usize,
}

/// True for a run of a search for a knee.
pub fn is_run(phase: &PhaseRecord) -> bool {
    phase.labels.get("role").is_some_and(|role| role == LABEL)
}

/// Users of a run of a search for a knee.
pub fn users_of(phase: &PhaseRecord) -> Option<f64> {
    let users: f64 = phase.labels.get("value")?.parse().ok()?;
    (users.is_finite() && users >= 1.0).then_some(users)
}

/// Result of one run; `None` when it gave no numbers.
pub fn visit_of(phase: &PhaseRecord) -> Option<Visit> {
    let curve = phase.kind()?.curve.as_ref()?;
    let usable = |v: &f64| v.is_finite() && *v > 0.0;
    let label = |name: &str| phase.labels.get(name).map(String::as_str);
    let counted = curve.delivered_in(&phase.result).filter(usable)?;
    let response_s = curve.latency_s(&phase.result, "mean").filter(usable)?;
    let flows = phase.result.flows.iter();
    let load_s = flows.filter_map(|flow| group::LOAD_SECONDS.of(&flow.metrics));
    let load_s = load_s.reduce(f64::max);
    let settled = label(SETTLED).and_then(|rate| rate.parse().ok());
    let whole = within(counted, response_s, load_s.filter(usable));
    Some(Visit {
        per_second: whole * settled.filter(usable).unwrap_or(1.0),
        response_s,
        cpu_ratio: label(CPU).and_then(|cpu| cpu.parse().ok()),
        is_descending: label("pass") == Some(Pass::Descend.word()),
        held: label(HELD) != Some("no"),
    })
}

/// Throughput within the time of the load, per second.
///
/// Requests that were under way when it ended are answered and counted, too. By Little's law they
/// are throughput times response time: with many users and short runs a large share.
fn within(counted_per_second: f64, response_s: f64, load_s: Option<f64>) -> f64 {
    load_s.map_or(counted_per_second, |load_s| {
        counted_per_second / (1.0 + response_s / load_s)
    })
}

/// The search for a knee among the phases of a record; `None` without one that gave numbers.
pub fn knee_of(phases: &[PhaseRecord]) -> Option<KneeFound> {
    let runs: Vec<&PhaseRecord> = phases.iter().filter(|phase| is_run(phase)).collect();
    let first = runs.first()?;
    let label = |name: &str| first.labels.get(name);
    let mut found: Vec<(Level, String)> = Vec::new();
    let mut failed = 0;
    for run in &runs {
        let (Some(users), Some(visit)) = (users_of(run), visit_of(run)) else {
            failed += 1;
            continue;
        };
        match found.iter_mut().find(|(level, _)| level.users == users) {
            Some((level, _)) => level.visits.push(visit),
            None => {
                let visits = vec![visit];
                found.push((Level { users, visits }, run.name.clone()));
            }
        }
    }
    found.sort_by(|a, b| a.0.users.total_cmp(&b.0.users));
    let (levels, phases): (Vec<Level>, Vec<String>) = found.into_iter().unzip();
    let rule = label("rule")
        .and_then(|rule| rule.parse().ok())
        .unwrap_or_default();
    let share = match rule {
        Rule::Cpu(percent) => f64::from(percent) / 100.0,
        _ => USUAL_CPU_SHARE,
    };
    Some(KneeFound {
        option: label(LABEL)?.clone(),
        rule,
        all: capacity(&levels, share)?,
        levels,
        phases,
        failed,
    })
}

impl KneeFound {
    /// The knee by the rule that was asked for.
    pub fn answer(&self) -> Option<Users> {
        self.rule.answer(&self.all)
    }

    /// Index of the level that single numbers are of: the highest one up to the knee, else the
    /// highest of all.
    pub fn subject(&self) -> usize {
        let last = self.levels.len().saturating_sub(1);
        let Some(knee) = self.answer() else {
            return last;
        };
        let up_to = self
            .levels
            .iter()
            .rposition(|level| level.users <= knee.users);
        up_to.unwrap_or(0)
    }

    /// The first level above the knee; `None` when there is none.
    pub fn above(&self) -> Option<usize> {
        let knee = self.answer()?;
        self.levels
            .iter()
            .position(|level| level.users > knee.users)
    }

    /// Whether the option is a number of users: only they are as many as Little's law counts. Sessions of a pool are
    /// places that users wait for.
    pub fn raises_users(&self) -> bool {
        self.option != "pool"
    }

    /// The largest distance from Little's law.
    pub fn residual(&self) -> f64 {
        self.all
            .residuals
            .iter()
            .fold(0.0, |most: f64, r| match r.abs() > most.abs() {
                true => *r,
                false => most,
            })
    }

    /// The entries that the search adds to a run's summary.
    pub fn summary(&self) -> Summary {
        let mut summary: Summary = [
            (knee::MOST_PER_SECOND.into(), self.all.most_per_second),
            (knee::ALONE_SECONDS.into(), self.all.alone_s),
            (knee::THINK_SECONDS.into(), self.all.think_s),
            (knee::HYSTERESIS_RATIO.into(), self.all.hysteresis),
            (knee::LEVELS.into(), self.levels.len() as f64),
        ]
        .into();
        if self.raises_users() {
            summary.insert(knee::RESIDUAL_RATIO.into(), self.residual());
        }
        if let Some(answer) = self.answer() {
            summary.insert(knee::USERS.into(), answer.users);
            summary.insert(knee::USERS_LOW.into(), answer.low);
            summary.insert(knee::USERS_HIGH.into(), answer.high);
        }
        summary
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_under_way_at_the_end_is_no_throughput() {
        // 32 users at 50/s for 4 s: 200 within, 32 of them still under way.
        let counted = (200.0 + 32.0) / 4.0;
        let throughput = within(counted, 0.64, Some(4.0));
        assert!((throughput - 50.0).abs() < 0.5, "{throughput}");
        assert_eq!(within(counted, 0.64, None), counted);
    }

    #[test]
    fn rules_are_read_back_from_their_words() {
        for rule in [Rule::Bound, Rule::Kneedle, Rule::Cpu(80), Rule::Slo] {
            assert_eq!(rule.word().parse(), Ok(rule));
        }
        for wrong in ["", "cpu", "cpu0", "cpu101", "knee"] {
            assert!(wrong.parse::<Rule>().is_err(), "{wrong}");
        }
    }

    /// A search over so many levels of an option of a load on a database.
    fn search_over(option: &str) -> KneeFound {
        let run = |users: f64| {
            let labels = [
                ("role", LABEL.to_owned()),
                (LABEL, option.to_owned()),
                ("value", users.to_string()),
            ];
            let summary = [
                ("sql.transactions_per_second", 100.0 * users),
                ("sql.latency_seconds.mean", 0.08 / users),
            ];
            let summary = summary.map(|(name, value)| (name.to_owned(), value));
            let result = sokudo_model::PhaseResult {
                summary: summary.into(),
                ..Default::default()
            };
            let mut phase = PhaseRecord::plain("knee", "sqlmix", (0, 1), result);
            let labels = labels.map(|(name, value)| (name.to_owned(), value));
            phase.labels.extend(labels);
            phase
        };
        knee_of(&[1.0, 2.0, 4.0, 8.0].map(run)).expect("a search")
    }

    #[test]
    fn sessions_of_a_pool_are_not_the_users_that_littles_law_counts() {
        let told = |option| {
            search_over(option)
                .summary()
                .contains_key(knee::RESIDUAL_RATIO.name)
        };
        assert!(told("clients"));
        assert!(!told("pool"));
    }
}
