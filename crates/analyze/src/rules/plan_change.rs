//! The database carries a statement out by another plan after the load than before it.
//!
//! Plans follow from what the server believes about its tables: new statistics, an index that came or went, or other
//! settings change them. The times before and after such a change are those of two different programs.

use sokudo_model::kinds::sql;
use sokudo_model::statements::{Planned, Statements};
use sokudo_model::{Evidence, Finding, Severity, Text, Unit, cut};

use crate::rule::{Look, Purpose, Rule};
use crate::view::PhaseView;

/// Letters of a statement, and of a step of a plan, in a sentence.
const WORDS: usize = 80;
/// Stands for a step that a plan does not have.
const ENDED: &str = "–";
/// Changed statements that are named as evidence.
const NAMED_MAX: usize = 5;

/// The finding `plan_change`.
pub const RULE: Rule = Rule {
    name: "plan_change",
    purpose: Purpose::Describes,
    suspects: &[],
    bounds: &[],
    look: Look::Phase(look),
};

fn look(view: &PhaseView<'_>) -> Option<Finding> {
    let all = Statements::of(view.record, view.phase);
    let seconds = |one: &Planned| all.numbers_of(&one.statement).map_or(0.0, |it| it.seconds);
    let mut changed: Vec<&Planned> = all.changed().collect();
    changed.sort_by(|a, b| seconds(b).total_cmp(&seconds(a)));
    let first = changed.first()?;
    let (before, after) = steps(first)?;
    let says = Text::new("rule-plan-change-says")
        .number("changed", changed.len() as f64, Unit::One)
        .number("all", all.planned.len() as f64, Unit::One)
        .word("statement", cut(&first.statement, WORDS))
        .word("before", before)
        .word("after", after);
    let mut finding = view.finding(RULE.name, Severity::Caution, 0.4, says);
    let host = view.flows().first().map_or("", |flow| &flow.from);
    for one in changed.iter().take(NAMED_MAX) {
        let evidence = view.evidence(
            "evidence-plan-change",
            sql::PLAN,
            host,
            one.plans.len() as f64,
        );
        let Some((before, after)) = steps(one) else {
            continue;
        };
        finding.evidence.push(Evidence {
            says: evidence
                .says
                .word("statement", cut(&one.statement, WORDS))
                .word("before", before)
                .word("after", after),
            ..evidence
        });
    }
    let asked = all.planned.len() as f64;
    let asked = view.evidence("evidence-plans-asked", sql::PLANS_READ, host, asked);
    finding.evidence.push(asked);
    finding.next = Some(Text::new("rule-plan-change-next"));
    Some(finding)
}

/// The first step in which the first and the last plan of a statement differ; a dash where one has ended.
fn steps(one: &Planned) -> Option<(String, String)> {
    let (first, last) = (one.plans.first()?, one.plans.last()?);
    let same = first.lines().zip(last.lines());
    let same = same.take_while(|(before, after)| before == after).count();
    let step = |plan: &str| {
        let line = plan.lines().nth(same).unwrap_or(ENDED);
        cut(line.trim_start_matches([' ', '-', '>']), WORDS).into_owned()
    };
    (first != last).then(|| (step(first), step(last)))
}

#[cfg(test)]
mod tests {
    use sokudo_model::statements::tell_plan;
    use sokudo_model::{Batch, Record, SeriesKey};

    use super::*;
    use crate::tests::scene::*;
    use crate::tests::*;

    const SELECT: &str = "select abalance from tpcb_accounts where aid = $1";

    fn planned(before: &str, after: &str) -> Record {
        let mut record = Scene::of("sql").workload("tpcb").record;
        let span = (
            record.manifest.phases[0].t0_ns,
            record.manifest.phases[0].t1_ns,
        );
        let key = SeriesKey {
            host: "hosta".into(),
            source: "sql".into(),
            metric: sql::PLAN.into(),
            labels: Default::default(),
        };
        let mut batch = Batch::default();
        for (plan, t_ns) in [(before, span.0), (after, span.1 + 1)] {
            tell_plan(key.clone(), SELECT, plan, t_ns, &mut batch);
        }
        record.series.extend(batch.series);
        record
    }

    #[test]
    fn a_plan_that_changed_is_told_by_its_first_other_step() {
        let before = "Limit\n  ->  Seq Scan on tpcb_accounts\n        Filter: (aid = $1)";
        let after = "Limit\n  ->  Index Scan using tpcb_accounts_pkey on tpcb_accounts";
        let finding = one(&planned(before, after), "plan_change");
        has_metric(&finding, "sql.plan");
        let says = words(&finding.says);
        assert!(
            says.contains(&"Seq Scan on tpcb_accounts".to_owned()),
            "{says:?}"
        );
        assert!(
            says.contains(&"Index Scan using tpcb_accounts_pkey on tpcb_accounts".to_owned()),
            "{says:?}"
        );
        none(&planned(before, before), "plan_change");
    }

    #[test]
    fn a_step_that_one_plan_has_more_is_a_change() {
        let before = "ALL on tpcb_accounts";
        let after = "ALL on tpcb_accounts\n  rowid filter";
        for (before, after, step) in [(before, after, "rowid filter"), (after, before, "–")] {
            let finding = one(&planned(before, after), "plan_change");
            let says = words(&finding.says);
            assert_eq!(says.last().map(String::as_str), Some(step), "{says:?}");
        }
    }

    /// The words of a message.
    fn words(text: &Text) -> Vec<String> {
        ["statement", "before", "after"]
            .iter()
            .filter_map(|name| crate::view::word(text, name))
            .map(str::to_owned)
            .collect()
    }
}
