//! A database server went away while transactions were sent to it.
//!
//! Two things must say so: the monitor of the server, which it did not answer, and the load, whose sessions broke. A
//! server that is only slow breaks no session.

use sokudo_model::kinds::sql;
use sokudo_model::metric::Metric;
use sokudo_model::metrics::{mariadb, postgres};
use sokudo_model::{Finding, Series, Severity, Text, Unit};

use crate::rule::{Look, Purpose, Rule, Standing};
use crate::view::PhaseView;

/// Sessions that must break.
const LEAST: f64 = 1.0;

/// The finding `database_lost`.
pub const RULE: Rule = Rule {
    name: "database_lost",
    purpose: Purpose::Limit(Standing::Specific),
    suspects: &[],
    bounds: &[("least", LEAST, Unit::One)],
    look: Look::Phase(look),
};

/// A time without an answer, seconds of the load; without an end where it lasted until then.
struct Away<'a> {
    series: &'a Series,
    metric: Metric,
    begin_s: f64,
    end_s: Option<f64>,
}

/// True where a database server went away.
pub fn is_one(view: &PhaseView<'_>) -> bool {
    broken(view).is_some() && away(view).is_some()
}

fn broken(view: &PhaseView<'_>) -> Option<f64> {
    view.total(sql::LOST_SESSIONS)
        .filter(|broken| *broken >= LEAST)
}

/// The first time in which the monitor of a server had no answer.
fn away<'a>(view: &PhaseView<'a>) -> Option<Away<'a>> {
    let of = |metric: Metric| {
        let mut all = view.series(None, metric, &[]);
        all.find_map(|series| {
            let since_s = |t_ns: i64| (t_ns - view.phase.t0_ns) as f64 / 1e9;
            let (t0_ns, t1_ns) = (view.phase.t0_ns, view.phase.t1_ns);
            let points = series.points.iter();
            let mut points = points.filter(|(t_ns, _)| t0_ns < *t_ns && *t_ns <= t1_ns);
            let gone = points.find(|(_, up)| *up < 1.0)?;
            let back = points.find(|(_, up)| *up >= 1.0);
            Some(Away {
                series,
                metric,
                begin_s: since_s(gone.0),
                end_s: back.map(|back| since_s(back.0)),
            })
        })
    };
    [postgres::UP, mariadb::UP].into_iter().find_map(of)
}

fn look(view: &PhaseView<'_>) -> Option<Finding> {
    let broken = broken(view)?;
    let away = away(view)?;
    let server = away.series.key.labels.get("server")?;
    let key = match away.end_s {
        Some(_) => "rule-database-lost-back-says",
        None => "rule-database-lost-says",
    };
    let mut says = Text::new(key)
        .word("server", server)
        .number("broken", broken, Unit::One)
        .number("begin", away.begin_s, Unit::Seconds);
    if let Some(end_s) = away.end_s {
        says = says.number("end", end_s, Unit::Seconds);
    }
    let mut finding = view.finding(RULE.name, Severity::Caution, 0.97, says);
    let host = view.flows().first().map_or("", |flow| &flow.from);
    let up = view.mean(away.series).unwrap_or(0.0);
    let mut row = view.evidence(
        "evidence-database-up",
        away.metric,
        &away.series.key.host,
        up,
    );
    row.says = row
        .says
        .word("server", server)
        .number("value", up, Unit::Ratio);
    row.labels = away.series.key.labels.clone();
    finding.evidence = vec![
        row,
        view.evidence("evidence-lost-sessions", sql::LOST_SESSIONS, host, broken),
    ];
    finding.next = Some(Text::new("rule-database-lost-next").word("server", server));
    Some(finding)
}

#[cfg(test)]
mod tests {
    use crate::tests::requests::is_quiet;
    use crate::tests::transactions::*;

    /// Sessions that broke, on a server that is not there from 14 s to `back` s.
    fn away(broken: f64, back: i64) -> Transactions {
        let mut made = on_postgres(&[("Client", 1.0), ("CPU", 7.0)])
            .over_time("postgres.up", move |second| {
                f64::from(u8::from(!(14..back).contains(&second)))
            });
        let summary = &mut made.record.manifest.phases[0].result.summary;
        summary.insert("sql.lost_sessions".into(), broken);
        made
    }

    #[test]
    fn a_server_that_breaks_sessions_and_does_not_answer_was_away() {
        told(
            &away(8.0, 16).record,
            "database_lost",
            "rule-database-lost-back-says",
        );
        told(
            &away(8.0, 30).record,
            "database_lost",
            "rule-database-lost-says",
        );
    }

    #[test]
    fn one_of_both_alone_is_none() {
        assert!(is_quiet(&away(0.0, 16).record, "database_lost"));
        assert!(is_quiet(&away(8.0, 14).record, "database_lost"));
    }
}
