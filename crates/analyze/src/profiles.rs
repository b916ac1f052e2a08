//! Settings of a server that were measured in turns: what the first ones differ from themselves, and what the others
//! differ from them beyond that.

use std::collections::BTreeMap;

use sokudo_model::manifest::profile;
use sokudo_model::{PhaseRecord, Record};
use sokudo_stats::compare::{Difference, least_beside};

use crate::compare::{Comparison, Key, Loads, Order, beside};

/// The first side beside each of the others, each with the least difference that counts: the next side is the first
/// one, measured again, and no difference as small as theirs counts for the others. `compared` compares the first
/// side with that of an index, from 0, with the least difference given.
pub fn in_turns<E>(
    others: usize,
    min_effect: f64,
    mut compared: impl FnMut(usize, f64) -> Result<Comparison, E>,
) -> Result<Vec<(Comparison, f64)>, E> {
    let mut out: Vec<(Comparison, f64)> = Vec::new();
    for other in 0..others {
        let least = out.first().map_or(min_effect, |(same, _)| {
            least_beside(rate(same).as_ref(), min_effect)
        });
        out.push((compared(other, least)?, least));
    }
    Ok(out)
}

/// Difference of the rate, which is the first figure of a load.
fn rate(all: &Comparison) -> Option<Difference> {
    all.loads.first()?.figures.first()?.difference
}

/// The settings that a scenario measured in turns.
#[derive(Debug, Clone, PartialEq)]
pub struct Profiles<'a> {
    /// Names of the sides; the second one is the first again.
    pub names: Vec<&'a str>,
    /// The first side beside each of the others, with the least difference that counts.
    pub comparisons: Vec<(Comparison, f64)>,
}

impl<'a> Profiles<'a> {
    /// The profiles of a record; `None` where none were measured, or not each of them.
    pub fn of(record: &'a Record) -> Option<Self> {
        let sides = sides(&record.manifest.phases);
        let (names, loads): (Vec<&str>, Vec<Loads<'_>>) = sides.into_values().unzip();
        let [before, others @ ..] = loads.as_slice() else {
            return None;
        };
        let mut asked = record.manifest.phases.iter();
        let asked = asked.find_map(|phase| phase.labels.get(profile::LEAST)?.parse().ok());
        let comparisons = in_turns(others.len(), asked.unwrap_or(0.0), |other, least| {
            beside(before, &others[other], Order::InTurns, least).ok_or(())
        });
        Some(Self {
            names,
            comparisons: comparisons.ok().filter(|all| all.len() > 1)?,
        })
    }

    /// What the first settings differ from themselves, by the rate; `None` without an interval for it.
    pub fn same(&self) -> Option<Difference> {
        self.comparisons.first().and_then(|(same, _)| rate(same))
    }
}

/// The loads of each side, by its place, with its name.
fn sides(phases: &[PhaseRecord]) -> BTreeMap<usize, (&str, Loads<'_>)> {
    let mut out: BTreeMap<usize, (&str, Loads<'_>)> = BTreeMap::new();
    for phase in phases {
        let labels = &phase.labels;
        let side = labels.get(profile::SIDE).and_then(|side| side.parse().ok());
        let (Some(side), Some(name)) = (side, labels.get(profile::NAME)) else {
            continue;
        };
        let suffix = profile::suffix(labels);
        let load = phase.name.strip_suffix(&suffix).unwrap_or(&phase.name);
        let key: Key = (load.to_owned(), phase.workload.clone());
        let (_, loads) = out.entry(side).or_insert((name.as_str(), Loads::new()));
        match loads.iter_mut().find(|(known, _)| *known == key) {
            Some((_, runs)) => runs.push(phase),
            None => loads.push((key, vec![phase])),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use sokudo_model::PhaseResult;
    use sokudo_model::kinds::rr;
    use sokudo_stats::compare::Verdict;

    use super::*;
    use crate::tests::empty;

    /// A record whose sides had these rates in the rounds.
    fn record(sides: &[(&str, [f64; 6])]) -> Record {
        let mut record = empty();
        for round in 0..6 {
            for (side, (name, rates)) in sides.iter().enumerate() {
                let result = PhaseResult {
                    summary: [(rr::TRANSACTIONS_PER_SECOND.into(), rates[round])].into(),
                    ..PhaseResult::default()
                };
                let mut phase = PhaseRecord::plain("load", "rr", (0, 1), result);
                for (label, value) in [
                    (profile::NAME, (*name).to_owned()),
                    (profile::SIDE, side.to_string()),
                    (profile::ROUND, (round + 1).to_string()),
                    (profile::LEAST, "0.05".into()),
                ] {
                    phase.labels.insert(label.into(), value);
                }
                phase.name.push_str(&profile::suffix(&phase.labels));
                record.manifest.phases.push(phase);
            }
        }
        record
    }

    const DEFAULT: (&str, [f64; 6]) = ("default", [100.0, 98.0, 97.0, 80.0, 70.0, 60.0]);
    const AGAIN: (&str, [f64; 6]) = ("default", [90.0, 107.0, 90.0, 86.0, 66.0, 63.0]);

    #[test]
    fn a_difference_as_small_as_that_of_the_same_settings_is_none() {
        // The machine becomes slower from round to round, for every side alike.
        let tuned = ("tuned", [106.0, 104.0, 103.0, 84.0, 74.0, 64.0]);
        let lazy = ("lazy", [200.0, 190.0, 192.0, 161.0, 143.0, 119.0]);
        let record = record(&[DEFAULT, AGAIN, tuned, lazy]);
        let found = Profiles::of(&record).expect("profiles");
        assert_eq!(found.names, ["default", "default", "tuned", "lazy"]);
        let verdicts: Vec<Verdict> = found
            .comparisons
            .iter()
            .map(|(all, _)| all.loads[0].figures[0].verdict)
            .collect();
        let expected = [Verdict::NotShown, Verdict::NotShown, Verdict::Better];
        assert_eq!(verdicts, expected);
        assert!(found.same().is_some_and(|same| same.interval.is_some()));
        let least: Vec<f64> = found.comparisons.iter().map(|(_, least)| *least).collect();
        assert_eq!(least[0], 0.05);
        assert!(least[1] > 0.08 && least[1] == least[2], "{least:?}");
    }

    #[test]
    fn a_record_without_profiles_has_none() {
        assert_eq!(Profiles::of(&empty()), None);
        assert_eq!(Profiles::of(&record(&[DEFAULT, AGAIN])), None);
    }
}
