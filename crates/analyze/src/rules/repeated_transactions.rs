//! Tries of transactions that the database ended because of others: what was asked of it and what came of it differ.
//!
//! A load that repeats them hides the failures and not their cost: each try takes locks, log and time.

use sokudo_model::kinds::sql;
use sokudo_model::{Finding, Severity, Text, Unit};

use crate::rule::{Look, Purpose, Rule};
use crate::view::PhaseView;

/// Share of the tries from which it is told.
const SOME: f64 = 0.01;
/// Share from which the database does much of its work in vain.
const MANY: f64 = 0.2;

/// The finding `repeated_transactions`.
pub const RULE: Rule = Rule {
    name: "repeated_transactions",
    purpose: Purpose::Describes,
    suspects: &[],
    bounds: &[("some", SOME, Unit::Ratio), ("many", MANY, Unit::Ratio)],
    look: Look::Phase(look),
};

fn look(view: &PhaseView<'_>) -> Option<Finding> {
    let attempts = view.total(sql::ATTEMPTS).filter(|tries| *tries > 0.0)?;
    let classes = [
        (sql::SERIALIZATION_FAILURES, "serialization"),
        (sql::DEADLOCKS, "deadlock"),
        (sql::LOCK_TIMEOUTS, "lock"),
    ]
    .map(|(metric, name)| (metric, name, view.total(metric).unwrap_or(0.0)));
    let vain: f64 = classes.iter().map(|class| class.2).sum();
    let share = vain / attempts;
    if share < SOME {
        return None;
    }
    let (_, name, _) = classes.into_iter().max_by(|a, b| a.2.total_cmp(&b.2))?;
    let [serialization, deadlocks, locks] = classes.map(|class| class.2);
    let says = Text::new("rule-repeated-transactions-says")
        .number("share", share, Unit::Ratio)
        .number("attempts", attempts, Unit::One)
        .number("transactions", view.total(sql::TRANSACTIONS)?, Unit::One)
        .number("serialization", serialization, Unit::One)
        .number("deadlocks", deadlocks, Unit::One)
        .number("locks", locks, Unit::One);
    let severity = match share >= MANY {
        true => Severity::Caution,
        false => Severity::Info,
    };
    let mut finding = view.finding(RULE.name, severity, 0.3 + 0.5 * share.min(1.0), says);
    let host = view.flows().first().map_or("", |flow| &flow.from);
    let rows = &mut finding.evidence;
    rows.push(view.evidence("evidence-tries", sql::ATTEMPTS, host, attempts));
    for (metric, _, count) in classes.iter().filter(|class| class.2 > 0.0) {
        rows.push(view.evidence("evidence-vain-tries", *metric, host, *count));
    }
    finding.next = Some(Text::new(match name {
        "serialization" => "rule-repeated-transactions-serialization-next",
        "deadlock" => "rule-repeated-transactions-deadlock-next",
        _ => "rule-repeated-transactions-lock-next",
    }));
    Some(finding)
}

#[cfg(test)]
mod tests {
    use crate::tests::scene::*;
    use crate::tests::*;

    fn tries(deadlocks: f64, serialization: f64) -> Scene {
        Scene::of("sql")
            .workload("sqlmix")
            .total("transactions", 900.0)
            .total("transactions_per_second", 90.0)
            .total("attempts", 1_000.0)
            .total("deadlocks", deadlocks)
            .total("serialization_failures", serialization)
    }

    #[test]
    fn tries_in_vain_are_told_with_their_main_class() {
        let next = |scene: &Scene| {
            let finding = one(&scene.record, "repeated_transactions");
            has_metric(&finding, "sql.attempts");
            finding.next.map(|next| next.key)
        };
        let key = |class: &str| Some(format!("rule-repeated-transactions-{class}-next"));
        assert_eq!(next(&tries(80.0, 20.0)), key("deadlock"));
        assert_eq!(next(&tries(20.0, 80.0)), key("serialization"));
        tries(4.0, 5.0).without("repeated_transactions");
    }
}
