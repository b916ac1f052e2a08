//! Transactions wait for data that the database's cache does not hold.

use sokudo_model::metrics::mariadb;
use sokudo_model::{Finding, Severity, Text, Unit};

use crate::quantities::database::Database;
use crate::rule::{Look, Purpose, Rule, Standing};
use crate::view::PhaseView;

/// Share of the sessions in the server that must wait for data.
const OF_SERVER: f64 = 0.5;
/// Share of all sessions that must.
const OF_ALL: f64 = 0.3;

/// The finding `cache_miss`.
pub const RULE: Rule = Rule {
    name: "cache_miss",
    purpose: Purpose::Limit(Standing::Specific),
    suspects: &[],
    bounds: &[
        ("server", OF_SERVER, Unit::Ratio),
        ("all", OF_ALL, Unit::Ratio),
    ],
    look: Look::Phase(look),
};

fn look(view: &PhaseView<'_>) -> Option<Finding> {
    let database = Database::of(view)?;
    // MariaDB tells the time of its files, and no sessions that wait for them.
    let of_files = database.mean(mariadb::DATA_IO_RATIO);
    let (waiting, sessions) = (
        of_files.unwrap_or_else(|| database.on_reads()),
        database.sessions(),
    );
    let share = waiting / database.in_server();
    if !(share >= OF_SERVER && waiting >= sessions * OF_ALL) {
        return None;
    }
    let reads = database
        .mean(database.told.reads)
        .filter(|reads| *reads > 0.0)?;
    let says = Text::new("rule-cache-miss-says")
        .word("server", database.server)
        .number("waiting", waiting, Unit::One)
        .number("sessions", sessions, Unit::One)
        .number("reads", reads, Unit::PerSecond);
    let weight = 0.5 + 0.45 * share.min(1.0);
    let mut finding = view.finding(RULE.name, Severity::Caution, weight, says);
    let waits = match of_files {
        Some(of_files) => database.row_of(
            "evidence-database-data-io",
            mariadb::DATA_IO_RATIO,
            of_files,
        ),
        None => database.waiting_row("evidence-database-on-reads", waiting),
    };
    finding.evidence = [
        Some(waits),
        database.row("evidence-database-reads", database.told.reads),
        database.row("evidence-database-hits", database.told.hit_ratio),
        database.rate_row(),
    ]
    .into_iter()
    .flatten()
    .collect();
    finding.next = Some(Text::new("rule-cache-miss-next"));
    Some(finding)
}

#[cfg(test)]
mod tests {
    use crate::tests::requests::is_quiet;
    use crate::tests::transactions::*;

    #[test]
    fn sessions_that_wait_for_blocks_are_told() {
        let record = on_postgres(&[("Client", 1.0), ("IO", 6.0), ("CPU", 1.0)])
            .event("IO/DataFileRead", 6.0)
            .gauge("blocks_read_per_second", 4000.0)
            .gauge("hit_ratio", 0.7)
            .record;
        told(&record, "cache_miss", "rule-cache-miss-says");
        assert!(is_quiet(&record, "fsync_bound"));
    }

    #[test]
    fn misses_that_nobody_waits_for_limit_nothing() {
        let record = on_postgres(&[("Client", 4.0), ("IO", 0.2), ("CPU", 3.0)])
            .event("IO/DataFileRead", 0.2)
            .gauge("blocks_read_per_second", 4000.0)
            .gauge("hit_ratio", 0.7);
        assert!(is_quiet(&record.record, "cache_miss"));
    }
}
