//! Transactions wait for rows that others have changed and not committed yet.
//!
//! ```text
//! holder: update row ── … ── commit        the row is free for the first one that waits
//!   first waiter: waits for the holder's transaction
//!     the others: wait for the first waiter's place, one behind the other
//! ```
//!
//! With fewer rows that all transactions change than there are clients, they go one after the other through
//! each row, whatever the hardware.

use sokudo_model::metrics::mariadb;
use sokudo_model::{Evidence, Finding, Severity, Text, Unit};

use crate::quantities::database::Database;
use crate::rule::{Look, Purpose, Rule, Standing, Suspect};
use crate::view::PhaseView;

/// Sessions that must wait on average.
const LEAST: f64 = 1.0;
/// Share of all sessions that must.
const OF_ALL: f64 = 0.3;
/// Sessions per transaction that holds rows, from which a row is a hot spot.
const PER_HOLDER: f64 = 2.0;

/// The finding `lock_chain`.
pub const RULE: Rule = Rule {
    name: "lock_chain",
    purpose: Purpose::Limit(Standing::Specific),
    // Five steps to the server instead of seven.
    suspects: &[Suspect::set("variant", "no-branch")
        .saving(40)
        .only(&["-row-"])],
    bounds: &[
        ("least", LEAST, Unit::One),
        ("all", OF_ALL, Unit::Ratio),
        ("row", PER_HOLDER, Unit::One),
    ],
    look: Look::Phase(look),
};

/// Sessions that wait for rows of a table, and the transactions that hold those, on average.
struct Queue<'a> {
    relation: &'a str,
    sessions: f64,
    holders: f64,
}

fn look(view: &PhaseView<'_>) -> Option<Finding> {
    let database = Database::of(view)?;
    let (waiting, sessions) = (database.locked(), database.sessions());
    if !(waiting >= LEAST && waiting >= sessions * OF_ALL) {
        return None;
    }
    let queue = longest_queue(view, &database);
    let is_hot = queue
        .as_ref()
        .is_some_and(|queue| queue.sessions >= queue.holders * PER_HOLDER && queue.holders > 0.0);
    let key = match is_hot {
        true => "rule-lock-chain-row-says",
        false => "rule-lock-chain-says",
    };
    let mut says = Text::new(key)
        .word("server", database.server)
        .number("waiting", waiting, Unit::One)
        .number("sessions", sessions, Unit::One);
    if let Some(queue) = queue.as_ref().filter(|_| is_hot) {
        says = says
            .word("relation", queue.relation)
            .number("queue", queue.sessions, Unit::One)
            .number("holders", queue.holders, Unit::One);
    }
    let weight = 0.5 + 0.5 * (waiting / sessions);
    let mut finding = view.finding(RULE.name, Severity::Caution, weight.min(0.95), says);
    let holder = database.most_of_others();
    finding.evidence = [
        Some(database.waiting_row("evidence-database-locked", waiting)),
        queue.map(|queue| queue_row(&database, &queue)),
        database.row(
            "evidence-database-lock-waits",
            mariadb::ROW_LOCK_WAITS_PER_SECOND,
        ),
        database.row(
            "evidence-database-lock-time",
            mariadb::ROW_LOCK_WAIT_SECONDS_MEAN,
        ),
        holder.map(|(event, sessions)| {
            let mut row = database.waiting_row("evidence-database-holder", sessions);
            row.says = row.says.word("event", event);
            row
        }),
        database.rate_row(),
    ]
    .into_iter()
    .flatten()
    .collect();
    finding.next = Some(Text::new(match is_hot {
        true => "rule-lock-chain-row-next",
        false => "rule-lock-chain-next",
    }));
    Some(finding)
}

fn longest_queue<'a>(view: &PhaseView<'a>, database: &Database<'a>) -> Option<Queue<'a>> {
    let [sessions, holders] = database.told.row_queue;
    let queues = database.series(sessions);
    let queues = queues.filter_map(|series| {
        let relation = series.key.labels.get("relation")?.as_str();
        let is_same = |other: &&sokudo_model::Series| other.key.labels == series.key.labels;
        let holders = database.series(holders).find(is_same)?;
        Some(Queue {
            relation,
            sessions: view.mean(series)?,
            holders: view.mean(holders)?,
        })
    });
    queues.max_by(|a, b| a.sessions.total_cmp(&b.sessions))
}

fn queue_row(database: &Database<'_>, queue: &Queue<'_>) -> Evidence {
    let [metric, _] = database.told.row_queue;
    let mut row = database.row_of("evidence-database-queue", metric, queue.sessions);
    row.says =
        row.says
            .word("relation", queue.relation)
            .number("holders", queue.holders, Unit::One);
    row
}

#[cfg(test)]
mod tests {
    use crate::tests::of_rule;
    use crate::tests::requests::is_quiet;
    use crate::tests::transactions::*;

    fn locked() -> Transactions {
        on_postgres(&[("Client", 0.5), ("CPU", 0.5), ("IO", 1.0), ("Lock", 6.0)])
            .event("Lock/transactionid", 1.0)
            .event("Lock/tuple", 5.0)
            .event("IO/WALSync", 1.0)
    }

    #[test]
    fn one_row_that_many_wait_for_is_named_with_its_table() {
        let record = locked().queue("tpcb_branches", 6.0, 1.0).record;
        told(&record, "lock_chain", "rule-lock-chain-row-says");
        let said = format!("{:?}", of_rule(&record, "lock_chain"));
        assert!(
            said.contains("tpcb_branches") && said.contains("IO/WALSync"),
            "{said}"
        );
    }

    #[test]
    fn mariadb_tells_the_table_of_the_row_as_well() {
        let record = on_mariadb(&[("Client", 0.5), ("CPU", 1.5), ("Lock", 6.0)])
            .event("row lock", 6.0)
            .queue("tpcb_branches", 6.0, 1.0)
            .gauge("row_lock_waits_per_second", 300.0)
            .record;
        told(&record, "lock_chain", "rule-lock-chain-row-says");
        let said = format!("{:?}", of_rule(&record, "lock_chain"));
        assert!(said.contains("mariadb.row_queue.sessions"), "{said}");
    }

    #[test]
    fn many_rows_are_no_hot_spot() {
        let record = locked().queue("stock", 2.0, 1.9).record;
        told(&record, "lock_chain", "rule-lock-chain-says");
    }

    #[test]
    fn a_lock_now_and_then_limits_nothing() {
        let record = on_postgres(&[("CPU", 6.0), ("Lock", 0.8)]).event("Lock/tuple", 0.8);
        assert!(is_quiet(&record.record, "lock_chain"));
    }
}
