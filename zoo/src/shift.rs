//! Runs what the command line asks for, one world after the other.

use std::path::Path;
use std::time::Instant;

use crate::case::{Case, Drawn, Pair, filled};
use crate::causes;
use crate::draw::Draw;
use crate::judge::{Judged, Truth, Verdict, judge};
use crate::options::Options;
use crate::stage::{self, Came};
use crate::world::World;

/// Healthy worlds for each world with a cause: a quarter of all runs.
const CAUSES_PER_CONTROL: usize = 3;

/// Kind of a world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// One cause.
    Cause,
    /// Two causes at once.
    Pair,
    /// Nothing is wrong.
    Healthy,
}

/// One run that is over.
pub struct Run {
    /// Kind of its world.
    pub kind: Kind,
    /// Name of its case.
    pub name: String,
    /// Name of what should be named.
    pub family: String,
    /// The program's command.
    pub load: String,
    /// Its judgement.
    pub judged: Judged,
    /// Cores that programs of others used.
    pub others: Option<f64>,
}

/// A world that is to be run.
struct Plan {
    kind: Kind,
    name: String,
    family: String,
    truth: Truth,
    drawn: Drawn,
    world: World,
}

/// Carries out all runs.
pub fn all(options: &Options) -> Vec<Run> {
    let plans = plans(options);
    let total = plans.len();
    if let Some(folder) = &options.keep {
        // Without the folder no record can be moved there.
        let _ = std::fs::create_dir_all(folder);
    }
    let begun = Instant::now();
    let mut runs = Vec::new();
    for (at, plan) in plans.into_iter().enumerate() {
        let kept = options
            .keep
            .as_ref()
            .map(|folder| folder.join(format!("{at:03}-{}", plan.name)));
        let run = carried_out(plan, options, kept.as_deref());
        let seconds = begun.elapsed().as_secs();
        eprintln!(
            "{}/{total} {seconds} s  {:?}  {}  {}  named: {}",
            at + 1,
            run.judged.verdict,
            run.name,
            run.load,
            run.judged.named,
        );
        runs.push(run);
    }
    runs
}

fn carried_out(plan: Plan, options: &Options, kept: Option<&Path>) -> Run {
    let came = stage::run(plan.world, &plan.drawn, &options.binary, kept);
    let others = match &came {
        Came::Said(_, others) => Some(*others),
        Came::Nothing(_) | Came::Skipped(_) => None,
    };
    let judged = judge(&plan.truth, &came);
    match (&came, kept) {
        (Came::Said(said, others), _) if judged.verdict != Verdict::Right => {
            eprintln!("  others {others:.2} cores: {}", said.verdict.join(" "));
        }
        (Came::Said(..), Some(kept)) => {
            // There is none where it could not be moved there.
            let _ = std::fs::remove_dir_all(kept);
        }
        (Came::Said(..) | Came::Nothing(_) | Came::Skipped(_), _) => {}
    }
    Run {
        kind: plan.kind,
        name: plan.name,
        family: plan.family,
        load: format!("{} ({:.3})", plan.drawn.load, plan.drawn.strength),
        judged,
        others,
    }
}

/// All worlds that are asked for; the healthy ones stand among the others.
fn plans(options: &Options) -> Vec<Plan> {
    let wanted = |name: &str| {
        options.cases.is_empty()
            || options
                .cases
                .iter()
                .any(|part| name.starts_with(part.as_str()))
    };
    let seeds = if options.few { 1 } else { options.seeds };
    let mut sick = Vec::new();
    for number in 0..seeds {
        let cases = causes::cases().filter(|case| wanted(case.name));
        let cases = cases.filter(|case| !options.few || causes::ROBUST.contains(&case.name));
        sick.extend(cases.map(|case| alone(case, number)));
        let pairs = causes::pairs::ALL.iter().filter(|_| !options.few);
        let named = pairs.filter(|pair| wanted(&name_of(pair)));
        sick.extend(named.filter_map(|pair| together(pair, number)));
    }
    let is_robust = |name: &str| !options.few || causes::ROBUST.contains(&name);
    let controls = causes::controls::ALL.iter();
    let controls = controls.filter(|case| wanted(case.name) && is_robust(case.name));
    let controls: Vec<&Case> = controls.collect();
    let least = match options.cases.is_empty() {
        true => sick.len().div_ceil(CAUSES_PER_CONTROL),
        false => controls.len() * seeds as usize,
    };
    let mut healthy = (0..least as u64).filter_map(|at| {
        let case = controls.get(at as usize % controls.len().max(1))?;
        Some(control(case, at / controls.len() as u64))
    });
    let mut plans = Vec::new();
    for (at, plan) in sick.into_iter().enumerate() {
        if at % CAUSES_PER_CONTROL == 0 {
            plans.extend(healthy.next());
        }
        plans.push(plan);
    }
    plans.extend(healthy);
    plans
}

fn alone(case: &Case, number: u64) -> Plan {
    let drawn = case.draw(number);
    let mut world = World::new(number);
    (case.make)(&mut world, drawn.strength);
    Plan {
        kind: Kind::Cause,
        name: case.name.into(),
        family: case.family.name.into(),
        truth: Truth::Causes(vec![case.family]),
        drawn,
        world,
    }
}

fn control(case: &Case, number: u64) -> Plan {
    let mut plan = alone(case, number);
    plan.kind = Kind::Healthy;
    plan.truth = Truth::Healthy;
    plan
}

fn name_of(pair: &Pair) -> String {
    format!("{} + {}", pair.first, pair.second)
}

/// `None` for a pair of a name that nothing has, which a test excludes.
fn together(pair: &Pair, number: u64) -> Option<Plan> {
    let (first, second) = (causes::named(pair.first)?, causes::named(pair.second)?);
    let mut world = World::new(number);
    let mut draw = Draw::new(number, &name_of(pair));
    let mut strength = |case: &Case| {
        let strength = case.strengths[draw.below(2)];
        draw.around(strength)
    };
    let (of_first, of_second) = (strength(first), strength(second));
    (first.make)(&mut world, of_first);
    (second.make)(&mut world, of_second);
    Some(Plan {
        kind: Kind::Pair,
        name: name_of(pair),
        family: format!("{}, {}", first.family.name, second.family.name),
        truth: Truth::Causes(vec![first.family, second.family]),
        drawn: Drawn {
            strength: of_first,
            load: filled(pair.load, of_first),
        },
        world,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(cases: &[&str], few: bool) -> Vec<Plan> {
        plans(&Options {
            cases: cases.iter().map(|case| (*case).to_owned()).collect(),
            seeds: 2,
            binary: "sokudo".into(),
            few,
            keep: None,
            write: false,
        })
    }

    #[test]
    fn a_quarter_of_all_runs_is_healthy() {
        for few in [false, true] {
            let all = of(&[], few);
            let healthy = all.iter().filter(|plan| plan.kind == Kind::Healthy).count();
            assert!(healthy * 4 >= all.len(), "{healthy} of {}", all.len());
        }
    }

    #[test]
    fn a_beginning_of_a_name_picks_its_cases() {
        let first = causes::cases().next().expect("a case").name;
        assert!(
            of(&[first], false)
                .iter()
                .all(|plan| plan.name.starts_with(first))
        );
        assert!(of(&["no such case"], false).is_empty());
    }

    #[test]
    fn pairs_are_made_of_cases() {
        for pair in causes::pairs::ALL {
            assert!(together(pair, 0).is_some(), "{}", name_of(pair));
        }
    }
}
