//! Clients of a database wait for the sessions that they share (`--pool`), as the load itself counts.
//!
//! ```text
//! clients ─► waiting for a session ─► sessions of the pool ─► database
//! ```

use sokudo_model::kinds::sql;
use sokudo_model::metric::Stat;
use sokudo_model::{Finding, Severity, Text, Unit};

use crate::rule::{Look, Purpose, Rule, Standing, Suspect};
use crate::view::PhaseView;

/// Share of its sessions from which a pool is full.
const FULL: f64 = 0.9;
/// Clients that wait on average, from which a queue stands.
const WAITING: f64 = 1.0;

/// The finding `session_pool`.
pub const RULE: Rule = Rule {
    name: "session_pool",
    purpose: Purpose::Limit(Standing::Specific),
    suspects: &[Suspect::raise("pool")],
    bounds: &[("full", FULL, Unit::Ratio), ("waiting", WAITING, Unit::One)],
    look: Look::Phase(look),
};

/// True where clients wait for a full pool: the time of a transaction is then not the database's.
pub fn is_limit(view: &PhaseView<'_>) -> bool {
    filled(view).is_some()
}

/// Sessions in use, sessions, and clients that wait, where the pool is full.
fn filled(view: &PhaseView<'_>) -> Option<(f64, f64, f64)> {
    let [used, size, waiting] =
        [sql::POOL_USED, sql::POOL_MAX, sql::POOL_WAITING].map(|metric| view.total(metric));
    let (used, size, waiting) = (used?, size?, waiting?);
    (used >= size * FULL && waiting >= WAITING).then_some((used, size, waiting))
}

fn look(view: &PhaseView<'_>) -> Option<Finding> {
    let (used, size, waiting) = filled(view)?;
    let wait = view.stat(sql::POOL_WAIT_SECONDS, Stat::Mean)?;
    let latency = view.stat(sql::LATENCY_SECONDS, Stat::Mean)?;
    let says = Text::new("rule-session-pool-says")
        .number("used", used, Unit::One)
        .number("size", size, Unit::One)
        .number("waiting", waiting, Unit::One)
        .number("wait", wait, Unit::Seconds)
        .number("latency", latency, Unit::Seconds);
    let mut finding = view.finding(RULE.name, Severity::Caution, 0.9, says);
    let host = view.flows().first().map_or("", |flow| &flow.from);
    for (key, metric, value) in [
        ("evidence-pool-used", sql::POOL_USED, used),
        ("evidence-pool-size", sql::POOL_MAX, size),
        ("evidence-pool-waiting", sql::POOL_WAITING, waiting),
    ] {
        finding
            .evidence
            .push(view.evidence(key, metric, host, value));
    }
    let key = "evidence-pool-wait";
    let wait = view.stat_evidence(key, sql::POOL_WAIT_SECONDS, Stat::Mean, host);
    finding.evidence.extend(wait);
    let wanted = (used + waiting).ceil();
    finding.next = Some(Text::new("rule-session-pool-next").number("wanted", wanted, Unit::One));
    Some(finding)
}

#[cfg(test)]
mod tests {
    use crate::tests::scene::*;
    use crate::tests::*;

    fn pool(used: f64, waiting: f64) -> Scene {
        Scene::of("sql")
            .workload("tpcb")
            .total("transactions_per_second", 80.0)
            .total("pool.used", used)
            .total("pool.max", 4.0)
            .total("pool.waiting", waiting)
            .total("pool.wait_seconds.mean", 0.15)
            .total("latency_seconds.mean", 0.2)
    }

    #[test]
    fn clients_that_wait_for_a_full_pool_are_limited_by_it() {
        let finding = pool(3.98, 12.0).limited_by("session_pool");
        has_metric(&finding, "sql.pool.waiting");
        has_metric(&finding, "sql.pool.wait_seconds.mean");
        pool(3.98, 0.3).without("session_pool");
        pool(2.0, 5.0).without("session_pool");
        Scene::of("sql").workload("tpcb").without("session_pool");
    }
}
