//! The database waits for the program that drives it.
//!
//! Two things must say so: the server, whose sessions wait for their next statement, and the generator, whose
//! thread never rests. Idle sessions alone may as well be a long way between both.

use sokudo_model::{Finding, Severity, Text, Unit};

use crate::quantities::database::Database;
use crate::rule::{Look, Purpose, Rule, Standing, Suspect};
use crate::view::PhaseView;

/// Share of the sessions that must wait for their client.
const IDLE: f64 = 0.7;
/// Share of the time for which the generator's thread must run, or be ready to.
const BUSY: f64 = 0.9;
/// Share for which it must really run.
const RUNS: f64 = 0.5;

/// The finding `client_bound`.
pub const RULE: Rule = Rule {
    name: "client_bound",
    purpose: Purpose::Limit(Standing::Specific),
    suspects: &[Suspect::raise("threads")],
    bounds: &[("idle", IDLE, Unit::Ratio), ("busy", BUSY, Unit::Ratio)],
    look: Look::Phase(look),
};

fn look(view: &PhaseView<'_>) -> Option<Finding> {
    let database = Database::of(view)?;
    let exchange = &database.exchange;
    // Of a rate that is asked for, how late it was says more: `generator_limited`.
    if exchange.asked().is_some() {
        return None;
    }
    let idle = database.mean(database.told.client_ratio)?;
    let near = exchange.kind.ends.near;
    let (flow, cpu) = view.highest(near.cpu)?;
    let wait = near
        .wait
        .and_then(|metric| Some((metric, metric.of(&flow.metrics)?)));
    let busy = cpu + wait.map_or(0.0, |(_, wait)| wait);
    if !(idle >= IDLE && busy >= BUSY && cpu >= RUNS) {
        return None;
    }
    let host = flow.from.as_str();
    let says = Text::new("rule-client-bound-says")
        .word("server", database.server)
        .word("host", host)
        .number("idle", idle, Unit::Ratio)
        .number("busy", busy, Unit::Ratio);
    let mut finding = view.finding(RULE.name, Severity::Caution, 0.95, says);
    finding.evidence = vec![
        database.row_of("evidence-database-idle", database.told.client_ratio, idle),
        view.evidence("evidence-driver-cpu", near.cpu, host, cpu),
    ];
    let waits =
        wait.map(|(metric, wait)| view.evidence("evidence-driver-wait", metric, host, wait));
    finding.evidence.extend(waits);
    finding.next = Some(Text::new("rule-client-bound-next"));
    Some(finding)
}

#[cfg(test)]
mod tests {
    use crate::tests::requests::is_quiet;
    use crate::tests::transactions::*;

    fn idle(cpu: f64, wait: f64) -> Transactions {
        on_postgres(&[("Client", 7.0), ("CPU", 1.0)])
            .event("Client/ClientRead", 7.0)
            .gauge("client_read_ratio", 0.87)
            .generator(cpu, wait)
    }

    #[test]
    fn an_idle_server_and_a_busy_generator_are_both_needed() {
        told(
            &idle(0.97, 0.01).record,
            "client_bound",
            "rule-client-bound-says",
        );
        told(
            &idle(0.6, 0.35).record,
            "client_bound",
            "rule-client-bound-says",
        );
        assert!(
            is_quiet(&idle(0.4, 0.02).record, "client_bound"),
            "a long way"
        );
        let at_work = on_postgres(&[("Client", 1.0), ("CPU", 7.0)])
            .gauge("client_read_ratio", 0.12)
            .generator(0.97, 0.0);
        assert!(is_quiet(&at_work.record, "client_bound"));
    }
}
