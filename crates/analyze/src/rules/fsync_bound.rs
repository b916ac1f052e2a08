//! Commits wait until the database's log is on its disk.
//!
//! ```text
//! commit ─► log buffer ─► write ─► fsync ─► acknowledged
//!                                   └ one at a time: the others wait for their turn, and share the next one
//! ```

use sokudo_model::metrics::{mariadb, postgres};
use sokudo_model::{Finding, Severity, Text, Unit};

use crate::quantities::database::Database;
use crate::rule::{Look, Purpose, Rule, Standing, Suspect};
use crate::view::PhaseView;

/// Share of the sessions in the server that must wait for the log.
const OF_SERVER: f64 = 0.5;
/// Share of all sessions: where most wait for their client, the log limits nothing.
const OF_ALL: f64 = 0.3;

/// The finding `fsync_bound`.
pub const RULE: Rule = Rule {
    name: "fsync_bound",
    purpose: Purpose::Limit(Standing::Specific),
    // Of MariaDB's sessions none can choose for itself.
    suspects: &[
        Suspect::set("commit", "async")
            .on_server("postgres")
            .at_risk(),
        Suspect::setting("innodb_flush_log_at_trx_commit", "2")
            .on_server("mariadb")
            .at_risk(),
    ],
    bounds: &[
        ("server", OF_SERVER, Unit::Ratio),
        ("all", OF_ALL, Unit::Ratio),
    ],
    look: Look::Phase(look),
};

fn look(view: &PhaseView<'_>) -> Option<Finding> {
    let database = Database::of(view)?;
    let (waiting, sessions) = (database.on_log(), database.sessions());
    let share = waiting / database.in_server();
    if !(share >= OF_SERVER && waiting >= sessions * OF_ALL) {
        return None;
    }
    let says = Text::new("rule-fsync-bound-says")
        .word("server", database.server)
        .number("waiting", waiting, Unit::One)
        .number("sessions", sessions, Unit::One);
    let weight = 0.5 + 0.45 * share.min(1.0);
    let mut finding = view.finding(RULE.name, Severity::Caution, weight, says);
    let told = database.told;
    finding.evidence = [
        Some(database.waiting_row("evidence-database-on-log", waiting)),
        database.row("evidence-database-syncs", told.log_syncs),
        database.row(
            "evidence-database-sync-time",
            postgres::WAL_SYNC_SECONDS_MEAN,
        ),
        database.row("evidence-database-log-io", mariadb::LOG_IO_RATIO),
        database.row("evidence-database-commits", told.commits),
        database.rate_row(),
    ]
    .into_iter()
    .flatten()
    .collect();
    finding.next = Some(Text::new("rule-fsync-bound-next"));
    Some(finding)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::one;
    use crate::tests::requests::is_quiet;
    use crate::tests::transactions::*;
    use crate::verdict::Explanation;

    /// What would put the conclusion about a record to the test.
    fn suspects(made: &Transactions) -> Vec<Suspect> {
        let explained = Explanation::of(&made.record, &made.record.manifest.phases[0]);
        explained.suspects(&one(&made.record, "fsync_bound"))
    }

    #[test]
    fn each_server_is_tested_in_its_own_way() {
        let classes = [("Client", 1.0), ("CPU", 1.0)];
        let postgres = on_postgres(&classes).event("IO/WALSync", 6.0).labelled(
            "sessions",
            ("class", "IO"),
            6.0,
        );
        assert_eq!(suspects(&postgres), RULE.suspects[..1]);
        let mariadb = on_mariadb(&classes)
            .event("Commit", 6.0)
            .labelled("sessions", ("class", "Commit"), 6.0)
            .gauge("log_syncs_per_second", 180.0);
        told(&mariadb.record, "fsync_bound", "rule-fsync-bound-says");
        assert_eq!(suspects(&mariadb), RULE.suspects[1..]);
        let says = format!("{:?}", RULE.suspects[1].says());
        assert!(
            says.contains("--versus setting.innodb_flush_log_at_trx_commit=2"),
            "{says}"
        );
    }

    #[test]
    fn commits_that_wait_for_the_log_are_told_in_the_words_of_both_versions() {
        for wait in ["IO/WALSync", "IO/WalSync", "LWLock/WALWrite"] {
            let record = on_postgres(&[("Client", 1.0), ("IO", 6.0), ("CPU", 1.0)])
                .event(wait, 6.0)
                .gauge("wal_syncs_per_second", 180.0);
            told(&record.record, "fsync_bound", "rule-fsync-bound-says");
        }
        for state in ["Commit", "Updating status"] {
            let record = on_mariadb(&[("Client", 1.0), ("Commit", 6.0), ("CPU", 1.0)])
                .event(state, 6.0)
                .gauge("log_syncs_per_second", 180.0);
            told(&record.record, "fsync_bound", "rule-fsync-bound-says");
        }
    }

    #[test]
    fn a_log_that_few_wait_for_limits_nothing() {
        let mostly_client = on_postgres(&[("Client", 7.0), ("IO", 1.0)]).event("IO/WALSync", 1.0);
        assert!(is_quiet(&mostly_client.record, "fsync_bound"));
        let mostly_locks = on_postgres(&[("Lock", 7.0), ("IO", 1.0)]).event("IO/WALSync", 1.0);
        assert!(is_quiet(&mostly_locks.record, "fsync_bound"));
    }
}
