//! The sessions of a database compute, and no CPU time is left for them.
//!
//! Two things must say so. Of a machine: the server, whose sessions are at work and wait for nothing, and the cores,
//! which are used up. Of a quota: its control group, and the rate, which falls short. A session that looks at the
//! others stands still with them, and sees them in the moments in which they run.

use sokudo_model::metrics::{postgres, process};
use sokudo_model::{Evidence, Finding, Severity, Text, Unit};

use super::server_cpu_limited::{FULL, MOST, THROTTLED, full_machine, of_server};
use crate::quantities::database::Database;
use crate::quantities::server;
use crate::rule::{Look, Purpose, Rule, Standing};
use crate::view::PhaseView;

/// Share of the sessions in the server that must be at work.
const OF_SERVER: f64 = 0.6;
/// Share of all sessions: where most wait for their client, the CPU limits nothing.
const OF_ALL: f64 = 0.3;

/// The finding `database_cpu`.
pub const RULE: Rule = Rule {
    name: "database_cpu",
    purpose: Purpose::Limit(Standing::Specific),
    suspects: &[],
    bounds: &[
        ("server", OF_SERVER, Unit::Ratio),
        ("all", OF_ALL, Unit::Ratio),
        ("full", FULL, Unit::Ratio),
        ("most", MOST, Unit::Ratio),
        ("throttled", THROTTLED, Unit::Ratio),
    ],
    look: Look::Phase(look),
};

fn look(view: &PhaseView<'_>) -> Option<Finding> {
    let database = Database::of(view)?;
    if database.exchange.keeps_its_rate() {
        return None;
    }
    by_quota(view, &database).or_else(|| by_machine(view, &database))
}

/// A quota keeps the server from running.
fn by_quota(view: &PhaseView<'_>, database: &Database<'_>) -> Option<Finding> {
    let metric = process::THROTTLED_RATIO;
    let (series, share) = of_server(view, metric, THROTTLED)?;
    let says = Text::new("rule-database-cpu-quota-says")
        .word("server", database.server)
        .number("throttled", share, Unit::Ratio);
    let weight = 0.6 + 0.35 * share.min(1.0);
    let mut finding = view.finding(RULE.name, Severity::Caution, weight, says);
    let mut row = view.evidence(
        "evidence-process-throttled",
        metric,
        &series.key.host,
        share,
    );
    row.labels = series.key.labels.clone();
    let rows = [
        Some(row),
        cores(view, database),
        database.statement_row(),
        database.rate_row(),
    ];
    finding.evidence = rows.into_iter().flatten().collect();
    finding.next = Some(Text::new("rule-database-cpu-quota-next"));
    Some(finding)
}

/// Its sessions compute, and the machine has no core left.
fn by_machine(view: &PhaseView<'_>, database: &Database<'_>) -> Option<Finding> {
    let (working, sessions) = (database.computing(), database.sessions());
    let share = working / database.in_server();
    if !(share >= OF_SERVER && working >= sessions * OF_ALL) {
        return None;
    }
    let used = cores(view, database)?;
    let full = full_machine(view, database.host, used.value?)?;
    let says = Text::new("rule-database-cpu-machine-says")
        .word("server", database.server)
        .number("working", working, Unit::One)
        .number("sessions", sessions, Unit::One);
    let weight = 0.5 + 0.45 * share.min(1.0);
    let mut finding = view.finding(RULE.name, Severity::Caution, weight, says);
    let working = database.working_row("evidence-database-working", working);
    let rows = [
        Some(working),
        Some(used),
        Some(full),
        database.statement_row(),
        database.rate_row(),
    ];
    finding.evidence = rows.into_iter().flatten().collect();
    finding.next = Some(Text::new("rule-database-cpu-machine-next"));
    Some(finding)
}

/// Cores that the server uses: those of its sessions, or of all its processes where these used more, as where
/// sessions have others work for them.
fn cores(view: &PhaseView<'_>, database: &Database<'_>) -> Option<Evidence> {
    let of_sessions = database.row("evidence-database-cores", postgres::CPU_CORES);
    let of_processes = server::cores_used(view);
    if of_sessions.as_ref().and_then(|row| row.value) >= of_processes {
        return of_sessions;
    }
    let metric = process::CPU_RATIO;
    let used = of_processes?;
    let mut row = view.evidence("evidence-server-process-cpu", metric, database.host, used);
    row.unit = Some(Unit::One);
    row.says = row.says.number("value", used, Unit::One);
    Some(row)
}

#[cfg(test)]
mod tests {
    use sokudo_model::kinds::sql;
    use sokudo_model::statements::{Counted, tell_plan};
    use sokudo_model::{Batch, Metric, SeriesKey};

    use crate::tests::requests::is_quiet;
    use crate::tests::transactions::*;
    use crate::tests::{add_series, of_rule, of_two_cores};

    /// Eight sessions of which so many compute, on two cores of which this share is idle.
    fn computing(working: f64, idle: f64) -> Transactions {
        using(working, idle, 2.0 * (1.0 - idle))
    }

    /// The same, whose own processes used so many cores.
    fn using(working: f64, idle: f64, cores: f64) -> Transactions {
        on_full_machine(on_postgres(&classes(working)), idle).gauge("cpu_cores", cores)
    }

    fn classes(working: f64) -> [(&'static str, f64); 3] {
        let others = 8.0 - working;
        [
            ("CPU", working),
            ("Client", others / 2.0),
            ("Lock", others / 2.0),
        ]
    }

    fn on_full_machine(mut made: Transactions, idle: f64) -> Transactions {
        let of_host = of_two_cores("hosta");
        made.record.environments.insert("hosta".into(), of_host);
        let labels = [("core", "all"), ("state", "idle")];
        add_series(
            &mut made.record,
            "hosta",
            "host.cpu_ratio",
            &labels,
            0.0,
            idle,
        );
        made
    }

    /// What the server says of a statement of the load, which reads a whole table.
    fn scanned(made: &mut Transactions, statement: &str, own: &str, step: &str) {
        let key = |metric: Metric| SeriesKey {
            host: "hosta".into(),
            source: "sql".into(),
            metric: metric.name.into(),
            labels: Default::default(),
        };
        let (t_ns, mut batch) = (made.record.manifest.phases[0].t1_ns, Batch::default());
        let counted = |statement: &str, seconds| Counted {
            statement: statement.into(),
            seconds,
            ..Counted::default()
        };
        counted(statement, 8.0).tell(key, t_ns, &mut batch);
        counted("commit", 1.0).tell(key, t_ns, &mut batch);
        tell_plan(key(sql::PLAN), own, step, t_ns, &mut batch);
        made.record.series.extend(batch.series);
    }

    #[test]
    fn the_statement_that_reads_a_whole_table_is_named_on_each_server() {
        let own = "select abalance from tpcb_accounts where aid = $1";
        let digest = "SELECT `abalance` FROM `tpcb_accounts` WHERE `aid` = ?";
        let mut mariadb = on_full_machine(on_mariadb(&classes(7.0)), 0.03);
        let by = [("by", "port=3306"), ("pid", "7")];
        add_series(
            &mut mariadb.record,
            "hosta",
            "process.cpu_ratio",
            &by,
            0.0,
            1.9,
        );
        for (mut made, statement, step) in [
            (computing(7.0, 0.03), own, "  ->  Seq Scan on tpcb_accounts"),
            (mariadb, digest, "ALL on tpcb_accounts"),
        ] {
            scanned(&mut made, statement, own, step);
            told(
                &made.record,
                "database_cpu",
                "rule-database-cpu-machine-says",
            );
            let said = format!("{:?}", of_rule(&made.record, "database_cpu"));
            let step = step.trim_start_matches([' ', '-', '>']);
            assert!(
                said.contains("evidence-database-scan") && said.contains(step),
                "{said}"
            );
        }
    }

    #[test]
    fn workers_of_the_sessions_count_as_the_server() {
        let scanning = |children: f64| {
            let mut made = using(7.0, 0.03, 0.4);
            for (metric, cores) in [
                ("process.cpu_ratio", 0.0),
                ("process.children_cpu_ratio", children),
            ] {
                add_series(
                    &mut made.record,
                    "hosta",
                    metric,
                    &[("by", "port=5432")],
                    0.0,
                    cores,
                );
            }
            made.record
        };
        told(
            &scanning(1.8),
            "database_cpu",
            "rule-database-cpu-machine-says",
        );
        assert!(is_quiet(&scanning(0.3), "database_cpu"));
    }

    #[test]
    fn sessions_that_compute_on_a_full_machine_are_limited_by_it() {
        let key = "rule-database-cpu-machine-says";
        told(&computing(7.0, 0.03).record, "database_cpu", key);
        assert!(is_quiet(&computing(7.0, 0.4).record, "database_cpu"));
        assert!(is_quiet(&computing(2.0, 0.03).record, "database_cpu"));
    }

    #[test]
    fn a_quota_is_told_however_idle_the_machine_is() {
        let mut made = computing(7.0, 0.8);
        let labels = [("by", "port=5432"), ("pid", "7")];
        let metric = "process.throttled_ratio";
        add_series(&mut made.record, "hosta", metric, &labels, 0.0, 0.7);
        told(&made.record, "database_cpu", "rule-database-cpu-quota-says");
    }
}
