//! Judges what was said in a world whose cause is known.

use crate::family::{self, Family};
use crate::said::{Conclusion, Said};
use crate::stage::Came;

/// Cores used by programs of others from which on a machine counts as busy.
const BUSY_CORES: f64 = 0.25;

/// A verdict on a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// The cause was named; for a healthy world: nothing was blamed.
    Right,
    /// The program said that it does not know.
    Undetermined,
    /// It named no limit, and did not say so.
    Silent,
    /// It named another cause.
    Wrong,
    /// It named the other programs on this machine, and they were there.
    Disturbed,
    /// The world could not be made here.
    Skipped,
}

impl Verdict {
    /// All of them, as columns.
    pub const ALL: [Self; 6] = [
        Self::Right,
        Self::Undetermined,
        Self::Silent,
        Self::Wrong,
        Self::Disturbed,
        Self::Skipped,
    ];
}

/// Known state of the world.
pub enum Truth {
    /// Nothing was wrong.
    Healthy,
    /// Any of these causes; a pair of causes has two.
    Causes(Vec<&'static Family>),
}

/// A judged run.
pub struct Judged {
    /// The verdict.
    pub verdict: Verdict,
    /// Names that were given: rules, a phrase, a reason.
    pub named: String,
    /// Whether each of the causes was named somewhere.
    pub all_named: bool,
}

/// Judges a run.
pub fn judge(truth: &Truth, came: &Came) -> Judged {
    let (said, others) = match came {
        Came::Said(said, others) => (said, *others),
        Came::Nothing(why) => {
            let verdict = match truth {
                Truth::Causes(all) if all.iter().any(|one| one.is_refusal(why)) => Verdict::Right,
                Truth::Causes(_) | Truth::Healthy => Verdict::Silent,
            };
            return judged(verdict, format!("no result: {why}"));
        }
        Came::Skipped(why) => return judged(Verdict::Skipped, why.clone()),
    };
    let named = name(said);
    let verdict = match truth {
        Truth::Healthy => healthy(said),
        Truth::Causes(families) => caused(said, families),
    };
    let excused = is_excused(said);
    let verdict = match verdict {
        Verdict::Wrong if excused && others >= BUSY_CORES => Verdict::Disturbed,
        verdict => verdict,
    };
    Judged {
        verdict,
        named,
        all_named: match truth {
            Truth::Healthy => true,
            Truth::Causes(families) => families.iter().all(|family| is_told(said, family)),
        },
    }
}

/// True where the family stands among what a reader is told: the limit, what is beside it, and what changes
/// how the numbers are read.
fn is_told(said: &Said, family: &Family) -> bool {
    let tells = |one: &&Conclusion| {
        let is_limit = said
            .limit
            .as_ref()
            .is_some_and(|limit| limit.rule == one.rule);
        is_limit || said.beside.contains(&one.rule) || one.severity != "info"
    };
    let mut told = said.conclusions.iter().filter(tells);
    told.any(|one| holds(family, one))
}

/// True where this machine itself is named as the limit, and the run does not also say that everything
/// that was asked for arrived: then nobody limited it.
fn is_excused(said: &Said) -> bool {
    let limit = said.limit.as_ref();
    limit.is_some_and(|limit| holds(&family::THIS_MACHINE, limit))
        && !said
            .conclusions
            .iter()
            .any(|one| holds(&family::AS_ASKED, one))
}

fn judged(verdict: Verdict, named: String) -> Judged {
    Judged {
        verdict,
        named,
        all_named: false,
    }
}

fn healthy(said: &Said) -> Verdict {
    let blames = |one: &&Conclusion| one.severity == "bad";
    match &said.limit {
        Some(limit) if holds(&family::AS_ASKED, limit) => Verdict::Right,
        Some(_) => Verdict::Wrong,
        None if said.conclusions.iter().any(|one| blames(&one)) => Verdict::Wrong,
        None => Verdict::Right,
    }
}

fn caused(said: &Said, families: &[&Family]) -> Verdict {
    let fits = |one: &Conclusion| families.iter().any(|family| holds(family, one));
    let asked = said
        .limit
        .as_ref()
        .filter(|limit| holds(&family::AS_ASKED, limit));
    if asked.is_some_and(|asked| !fits(asked)) {
        // What was asked for may arrive although something is wrong: then that has to be told beside.
        let mut told = said.conclusions.iter().filter(|one| one.severity != "info");
        return if told.any(fits) {
            Verdict::Right
        } else {
            Verdict::Wrong
        };
    }
    // What makes the numbers worthless stands before the limit.
    let mut grave = said.conclusions.iter().filter(|one| one.severity == "bad");
    if said.limit.as_ref().is_some_and(fits) || grave.clone().any(fits) {
        return Verdict::Right;
    }
    if said.limit.is_some() {
        return Verdict::Wrong;
    }
    // Without a limit, the first caution is what a reader takes away.
    let mut cautions = said.conclusions.iter().filter(|one| one.severity != "info");
    match cautions.next() {
        Some(first) if fits(first) => Verdict::Right,
        _ if grave.next().is_some() => Verdict::Wrong,
        _ if said.is_undetermined() => Verdict::Undetermined,
        _ => Verdict::Silent,
    }
}

fn holds(family: &Family, one: &Conclusion) -> bool {
    family.holds(&one.rule, &one.key)
}

/// Name that a reader takes away: that of the limit, or of the gravest conclusion.
fn name(said: &Said) -> String {
    let cautions = said.conclusions.iter().find(|one| one.severity != "info");
    match (&said.limit, cautions) {
        (Some(limit), _) => of(limit),
        (None, Some(first)) => format!("({})", of(first)),
        (None, None) if said.is_undetermined() => "undetermined".into(),
        (None, None) => "nothing".into(),
    }
}

/// Name of a conclusion: the rule, with the part of its sentence's key where that tells choices apart.
fn of(one: &Conclusion) -> String {
    let parts = ["asked", "paced", "reader", "consumer", "writer"];
    let part = parts
        .iter()
        .find(|part| one.key.contains(&format!("-{part}-")));
    part.map_or(one.rule.clone(), |part| format!("{}/{part}", one.rule))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conclusion(rule: &str, severity: &str) -> Conclusion {
        Conclusion {
            rule: rule.into(),
            key: format!("rule-{rule}-says"),
            severity: severity.into(),
        }
    }

    fn said(limit: Option<&str>, others: &[(&str, &str)]) -> Said {
        let limit = limit.map(|rule| conclusion(rule, "caution"));
        let more = others
            .iter()
            .map(|(rule, severity)| conclusion(rule, severity));
        Said {
            conclusions: limit.iter().cloned().chain(more).collect(),
            limit,
            ..Said::default()
        }
    }

    fn check(truth: Truth, said: Said, others_cores: f64) -> Verdict {
        judge(&truth, &Came::Said(said, others_cores)).verdict
    }

    fn narrow() -> Truth {
        Truth::Causes(vec![&family::NARROW_PATH])
    }

    #[test]
    fn the_limit_is_what_counts() {
        assert_eq!(
            check(narrow(), said(Some("path_limited"), &[]), 0.0),
            Verdict::Right
        );
        assert_eq!(
            check(narrow(), said(Some("loss_limited"), &[]), 0.0),
            Verdict::Wrong
        );
        let beside = said(Some("loss_limited"), &[("path_limited", "caution")]);
        assert_eq!(check(narrow(), beside, 0.0), Verdict::Wrong);
        assert_eq!(check(narrow(), said(None, &[]), 0.0), Verdict::Silent);
    }

    #[test]
    fn without_a_limit_the_first_caution_counts() {
        let first = said(None, &[("low_mtu", "info"), ("path_limited", "caution")]);
        assert_eq!(check(narrow(), first, 0.0), Verdict::Right);
        let other = said(None, &[("request_failures", "bad")]);
        assert_eq!(check(narrow(), other, 0.0), Verdict::Wrong);
    }

    #[test]
    fn a_fault_that_costs_no_rate_is_told_beside_the_rate() {
        let asked = |others: &[(&str, &str)]| {
            let mut said = said(Some("application_limited"), others);
            said.limit.as_mut().expect("a limit").key = "rule-application-asked-says".into();
            said
        };
        let lossy = || Truth::Causes(vec![&family::LOSSY_PATH]);
        assert_eq!(
            check(lossy(), asked(&[("path_loss", "caution")]), 0.0),
            Verdict::Right
        );
        assert_eq!(
            check(lossy(), asked(&[("path_loss", "info")]), 0.0),
            Verdict::Wrong
        );
        let paced = Truth::Causes(vec![&family::AS_ASKED]);
        assert_eq!(check(paced, asked(&[]), 0.0), Verdict::Right);
    }

    #[test]
    fn a_program_that_refuses_to_begin_may_name_the_cause() {
        let refused = |family, why: &str| {
            judge(&Truth::Causes(vec![family]), &Came::Nothing(why.into())).verdict
        };
        let files = "this process may hold 9 open files";
        assert_eq!(refused(&family::GENERATOR, files), Verdict::Right);
        assert_eq!(refused(&family::LOSSY_PATH, files), Verdict::Silent);
        assert_eq!(refused(&family::GENERATOR, "no route"), Verdict::Silent);
    }

    #[test]
    fn neighbours_excuse_only_where_there_are_some() {
        let blamed = || said(Some("neighbour_interference"), &[]);
        assert_eq!(check(narrow(), blamed(), 0.0), Verdict::Wrong);
        assert_eq!(check(narrow(), blamed(), 1.0), Verdict::Disturbed);
        assert_eq!(check(Truth::Healthy, blamed(), 0.0), Verdict::Wrong);
        let mut carried = blamed();
        let mut asked = conclusion("application_limited", "info");
        asked.key = "rule-application-asked-says".into();
        carried.conclusions.push(asked);
        assert_eq!(check(Truth::Healthy, carried, 1.0), Verdict::Wrong);
    }

    #[test]
    fn a_healthy_world_is_blamed_for_nothing() {
        assert_eq!(
            check(Truth::Healthy, said(None, &[("low_mtu", "info")]), 0.0),
            Verdict::Right
        );
        assert_eq!(
            check(Truth::Healthy, said(Some("path_limited"), &[]), 0.0),
            Verdict::Wrong
        );
        assert_eq!(
            check(Truth::Healthy, said(None, &[("path_loss", "bad")]), 0.0),
            Verdict::Wrong
        );
    }
}
