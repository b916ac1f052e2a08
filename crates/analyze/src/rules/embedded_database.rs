//! The database runs inside the load, and its work is what the load's threads do.
//!
//! ```text
//! thread of the load ─► transaction ─► engine in the same thread ─► write and sync ─► next transaction
//!                                      └ computes                   └ waits
//! ```
//!
//! A thread of the load carries out one transaction after the other: nothing that is called a server could
//! carry more, and no way lies between.

use sokudo_model::kinds::sql;
use sokudo_model::metrics::host;
use sokudo_model::{Finding, Severity, Text, Unit};

use crate::quantities::exchange::Exchange;
use crate::rule::{Look, Purpose, Rule, Standing, Suspect};
use crate::view::PhaseView;

/// Share of the threads' time that transactions must take.
const BUSY: f64 = 0.8;

/// Share for which the threads must compute or wait for the disk themselves: where others keep them from the CPU,
/// that is what sets the rate.
const OWN: f64 = 0.5;

/// The finding `embedded_database`.
pub const RULE: Rule = Rule {
    name: "embedded_database",
    purpose: Purpose::Limit(Standing::Specific),
    suspects: &[
        Suspect::raise("threads"),
        Suspect::set("commit", "async").at_risk(),
    ],
    bounds: &[("busy", BUSY, Unit::Ratio), ("own", OWN, Unit::Ratio)],
    look: Look::Phase(look),
};

fn look(view: &PhaseView<'_>) -> Option<Finding> {
    let exchange = Exchange::of(*view)?;
    let busy = view.total(sql::EMBEDDED_RATIO)?;
    if busy < BUSY || exchange.keeps_its_rate() {
        return None;
    }
    let near = exchange.kind.ends.near;
    let (flow, cpu) = view.highest(near.cpu)?;
    let kept = near.wait.and_then(|metric| view.highest(metric));
    let kept = kept.map_or(0.0, |(_, share)| share);
    let waits = (busy - cpu - kept).max(0.0);
    if cpu + waits < OWN {
        return None;
    }
    let host = flow.from.as_str();
    let (says, next) = match waits > cpu {
        true => (
            "rule-embedded-database-waits-says",
            "rule-embedded-database-waits-next",
        ),
        false => (
            "rule-embedded-database-computes-says",
            "rule-embedded-database-computes-next",
        ),
    };
    let says = Text::new(says)
        .word("database", &flow.to)
        .word("host", host)
        .number("busy", busy, Unit::Ratio)
        .number("cpu", cpu, Unit::Ratio)
        .number("waits", waits, Unit::Ratio);
    let mut finding = view.finding(RULE.name, Severity::Info, 0.95 * busy.min(1.0), says);
    let threads = [
        ("evidence-embedded", Some(sql::EMBEDDED_RATIO), busy),
        ("evidence-client-cpu", Some(near.cpu), cpu),
        ("evidence-client-wait", near.wait, kept),
    ];
    let rows = threads
        .into_iter()
        .filter_map(|(key, metric, value)| Some(view.evidence(key, metric?, host, value)));
    finding.evidence = rows.collect();
    let disk = [("resource", "io"), ("kind", "some")];
    let pressed = view.highest_mean(Some(host), host::PRESSURE_RATIO, &disk);
    finding.evidence.extend(pressed.map(|(_, share)| {
        view.evidence("evidence-disk-pressure", host::PRESSURE_RATIO, host, share)
    }));
    finding.next = Some(Text::new(next));
    Some(finding)
}

#[cfg(test)]
mod tests {
    use sokudo_model::Record;
    use sokudo_model::kinds::sql;

    use crate::tests::requests::is_quiet;
    use crate::tests::transactions::*;

    fn embedded(busy: f64, cpu: f64) -> Record {
        let mut record = on_postgres(&[]).record;
        record.series.clear();
        let phase = &mut record.manifest.phases[0];
        phase.result.flows[0].to = "sqlite".into();
        let numbers = [("sql.embedded_ratio", busy), ("sql.client_cpu_ratio", cpu)];
        for (name, value) in numbers {
            let summary = &mut phase.result.summary;
            summary.insert(name.into(), value);
            phase.result.flows[0].metrics.insert(name.into(), value);
        }
        record
    }

    #[test]
    fn the_engine_computes_or_waits_in_the_threads_of_the_load() {
        let computes = embedded(0.99, 0.97);
        told(
            &computes,
            "embedded_database",
            "rule-embedded-database-computes-says",
        );
        // No event loop is short of CPU time that a server would not take, and no way is in between.
        assert!(is_quiet(&computes, "generator_limited"));
        assert!(is_quiet(&computes, "answer_wait"));
        let waits = embedded(0.98, 0.2);
        told(
            &waits,
            "embedded_database",
            "rule-embedded-database-waits-says",
        );
    }

    #[test]
    fn threads_that_rest_or_keep_a_rate_are_not_limited_by_it() {
        assert!(is_quiet(&embedded(0.3, 0.2), "embedded_database"));
        let mut crowded = embedded(0.98, 0.14);
        let metrics = &mut crowded.manifest.phases[0].result.flows[0].metrics;
        metrics.insert(sql::CLIENT_WAIT_RATIO.into(), 0.79);
        assert!(is_quiet(&crowded, "embedded_database"));
        let mut paced = embedded(0.9, 0.8);
        let summary = &mut paced.manifest.phases[0].result.summary;
        summary.insert(sql::ASKED_PER_SECOND.into(), 1_000.0);
        assert!(is_quiet(&paced, "embedded_database"));
    }
}
