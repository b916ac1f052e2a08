//! Transactions failed for good, most of them in one way.
//!
//! ```text
//! a constraint          the load's data and the tables do not fit, or two runs share them
//! no right              the user may not do it
//! a wrong statement     it does not fit the schema
//! cancelled             a statement timeout, or an administrator
//! without an answer     given up by this end, and the session with it
//! no room               disk, memory or sessions
//! tried in vain         others changed the same rows at each of the tries
//! ```

use sokudo_model::kinds::sql;
use sokudo_model::metric::Metric;
use sokudo_model::{Finding, Severity, Text, Unit};

use super::request_failures::first_error;
use crate::quantities::exchange::Exchange;
use crate::rule::{LIMITING, Look, Purpose, Rule, Standing};
use crate::view::PhaseView;

/// Share of the transactions from which failures are told.
const SOME: f64 = 0.001;
/// Share from which the numbers of the phase are about failures.
const GRAVE: f64 = 0.02;
/// Share of the failures from which a kind of them stands for all.
const MOST: f64 = 0.5;

/// A kind of failure: what counts it, its statement, and the next step.
type Kind = (Metric, &'static str, &'static str);

const KINDS: [Kind; 5] = [
    (
        sql::CONSTRAINT_VIOLATIONS,
        "rule-transaction-failures-constraint-says",
        "rule-transaction-failures-constraint-next",
    ),
    (
        sql::DENIED_STATEMENTS,
        "rule-transaction-failures-denied-says",
        "rule-transaction-failures-denied-next",
    ),
    (
        sql::WRONG_STATEMENTS,
        "rule-transaction-failures-wrong-says",
        "rule-transaction-failures-wrong-next",
    ),
    (
        sql::CANCELLED_STATEMENTS,
        "rule-transaction-failures-cancelled-says",
        "rule-transaction-failures-cancelled-next",
    ),
    (
        sql::RESOURCE_FAILURES,
        "rule-transaction-failures-resources-says",
        "rule-transaction-failures-resources-next",
    ),
];

/// Statements that this end gave up are counted as cancelled, too. A server that cancels one keeps the session.
const UNANSWERED: Kind = (
    sql::CANCELLED_STATEMENTS,
    "rule-transaction-failures-unanswered-says",
    "rule-transaction-failures-unanswered-next",
);

/// Tries that the server ended because of others.
const OF_OTHERS: [Metric; 3] = [
    sql::SERIALIZATION_FAILURES,
    sql::DEADLOCKS,
    sql::LOCK_TIMEOUTS,
];

/// The finding `transaction_failures`.
pub const RULE: Rule = Rule {
    name: "transaction_failures",
    purpose: Purpose::Limit(Standing::Specific),
    suspects: &[],
    bounds: &[
        ("some", SOME, Unit::Ratio),
        ("grave", GRAVE, Unit::Ratio),
        ("most", MOST, Unit::Ratio),
    ],
    look: Look::Phase(look),
};

fn look(view: &PhaseView<'_>) -> Option<Finding> {
    let (errors, done) = (view.total(sql::ERRORS)?, view.total(sql::TRANSACTIONS)?);
    let share = errors / (errors + done).max(1.0);
    if share < SOME {
        return None;
    }
    let of = |metric| view.total(metric).unwrap_or(0.0);
    let counted = KINDS.map(|kind| (kind, of(kind.0)));
    let most = counted.into_iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    // What broke with its session, or waited for the pool in vain, has rules of its own.
    let elsewhere = of(sql::LOST_SESSIONS) + of(sql::POOL_TIMEOUTS);
    let vain: f64 = OF_OTHERS.into_iter().map(of).sum();
    let ((metric, says, next), count) = match most {
        ((metric, ..), count)
            if count >= errors * MOST
                && metric == UNANSWERED.0
                && of(sql::LOST_SESSIONS) >= count * MOST =>
        {
            (UNANSWERED, count)
        }
        (kind, count) if count >= errors * MOST => (kind, count),
        _ if elsewhere < errors * MOST && vain >= errors => (
            (
                sql::ATTEMPTS,
                "rule-transaction-failures-vain-says",
                "rule-transaction-failures-vain-next",
            ),
            errors,
        ),
        _ => return None,
    };
    let (severity, weight) = match share >= GRAVE {
        true => (Severity::Bad, 0.6 + 0.35 * share),
        false => (Severity::Caution, LIMITING),
    };
    let served = Exchange::of(*view)?.rate()?;
    let says = Text::new(says)
        .number("count", count, Unit::One)
        .number("share", share, Unit::Ratio)
        .number("served", served, Unit::One);
    let mut finding = view.finding(RULE.name, severity, weight, says);
    let flow = view.flows().first();
    let host = flow.map_or("", |flow| &flow.from);
    let rows = &mut finding.evidence;
    rows.push(view.evidence("evidence-failed-transactions", sql::ERRORS, host, errors));
    match metric == sql::ATTEMPTS {
        true => rows.push(view.evidence("evidence-vain-tries", metric, host, vain)),
        false => rows.push(view.evidence("evidence-tries-of-a-kind", metric, host, count)),
    }
    rows.extend(flow.and_then(first_error));
    finding.next = Some(Text::new(next));
    Some(finding)
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::tests::scene::*;
    use crate::tests::*;

    fn failed(errors: f64, of: &[(&str, f64)]) -> Scene {
        let scene = Scene::of("sql")
            .workload("sqlmix")
            .total("transactions", 900.0)
            .total("transactions_per_second", 90.0)
            .total("attempts", 1_000.0)
            .total("errors", errors);
        of.iter()
            .fold(scene, |scene, (name, count)| scene.total(name, *count))
    }

    #[test]
    fn failures_for_good_are_told_by_their_kind() {
        for (metric, key) in [
            ("constraint_violations", "constraint"),
            ("denied_statements", "denied"),
            ("wrong_statements", "wrong"),
            ("cancelled_statements", "cancelled"),
            ("resource_failures", "resources"),
        ] {
            let finding = one(&failed(100.0, &[(metric, 95.0)]).record, RULE.name);
            assert_eq!(
                finding.says.key,
                format!("rule-transaction-failures-{key}-says")
            );
            has_metric(&finding, &format!("sql.{metric}"));
        }
        let given_up = failed(
            100.0,
            &[("cancelled_statements", 95.0), ("lost_sessions", 95.0)],
        );
        let key = one(&given_up.record, RULE.name).says.key;
        assert_eq!(key, "rule-transaction-failures-unanswered-says");
        let mut denied = failed(100.0, &[("denied_statements", 95.0)]).record;
        let says = "permission denied for table t (42501)";
        let flow = &mut denied.manifest.phases[0].result.flows[0];
        flow.labels.insert("error".into(), says.into());
        assert_eq!(limit(&denied).expect("a limit").rule, RULE.name);
        let vain = failed(10.0, &[("serialization_failures", 80.0)]);
        let key = one(&vain.record, RULE.name).says.key;
        assert_eq!(key, "rule-transaction-failures-vain-says");
    }

    #[test]
    fn what_other_rules_tell_and_a_mixture_are_left_to_them() {
        failed(100.0, &[("lost_sessions", 90.0)]).without(RULE.name);
        failed(100.0, &[("pool.timeouts", 90.0), ("deadlocks", 200.0)]).without(RULE.name);
        failed(100.0, &[("wrong_statements", 40.0)]).without(RULE.name);
        failed(0.5, &[("wrong_statements", 0.5)]).without(RULE.name);
    }
}
