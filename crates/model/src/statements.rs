//! The statements of a load as its database server counts and plans them, as series and back.

use std::collections::BTreeMap;

use crate::kinds::sql;
use crate::{Batch, Metric, PhaseRecord, Record, SeriesKey, cut};

/// Longest text of a statement, characters.
const STATEMENT_MAX: usize = 500;
/// Longest text of a plan, characters.
const PLAN_MAX: usize = 4000;
/// Labels.
const STATEMENT: &str = "statement";
const PLAN: &str = "plan";
const WHY: &str = "why";

/// Executions of a statement while a load went on.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Counted {
    /// Its text.
    pub statement: String,
    /// How often it was executed.
    pub calls: f64,
    /// Time that the server took for all of them.
    pub seconds: f64,
    /// Rows that they gave or changed.
    pub rows: f64,
    /// Blocks that were in the server's cache.
    pub blocks_hit: f64,
    /// Blocks that were not.
    pub blocks_read: f64,
}

/// Each number of a statement with its series.
type Field = (Metric, fn(&mut Counted) -> &mut f64);
const FIELDS: [Field; 5] = [
    (sql::STATEMENT_CALLS, |it| &mut it.calls),
    (sql::STATEMENT_SECONDS, |it| &mut it.seconds),
    (sql::STATEMENT_ROWS, |it| &mut it.rows),
    (sql::STATEMENT_BLOCKS_HIT, |it| &mut it.blocks_hit),
    (sql::STATEMENT_BLOCKS_READ, |it| &mut it.blocks_read),
];

impl Counted {
    /// Puts its numbers into a batch, beside others of the same server: `key` names a series of it.
    pub fn tell(mut self, key: impl Fn(Metric) -> SeriesKey, t_ns: i64, batch: &mut Batch) {
        for (metric, field) in FIELDS {
            let value = *field(&mut self);
            batch.push(
                &labelled(key(metric), STATEMENT, &self.statement),
                t_ns,
                value,
            );
        }
    }
}

/// A prepared statement of a load with its plans.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Planned {
    /// Its text.
    pub statement: String,
    /// The plans in the order in which they were seen: one that did not change stands once.
    pub plans: Vec<String>,
}

/// Puts the plan that a statement has at this moment into a batch.
pub fn tell_plan(key: SeriesKey, statement: &str, plan: &str, t_ns: i64, batch: &mut Batch) {
    let mut key = labelled(key, STATEMENT, statement);
    key.labels
        .insert(PLAN.into(), cut(plan, PLAN_MAX).into_owned());
    batch.push(&key, t_ns, 1.0);
}

/// Puts into a batch whether something could be read, and why not.
pub fn tell_read(mut key: SeriesKey, lacking: Option<&str>, t_ns: i64, batch: &mut Batch) {
    if let Some(why) = lacking {
        key.labels.insert(WHY.into(), why.into());
    }
    batch.push(&key, t_ns, f64::from(lacking.is_none()));
}

fn labelled(mut key: SeriesKey, label: &str, text: &str) -> SeriesKey {
    key.labels.insert(label.into(), one_line(text));
    key
}

/// A statement as one line, cut where it is long.
pub fn one_line(statement: &str) -> String {
    let words: Vec<&str> = statement.split_whitespace().collect();
    cut(&words.join(" "), STATEMENT_MAX).into_owned()
}

/// What a database server said of the statements of one phase.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Statements {
    /// Those that were executed, the one with the most time first.
    pub counted: Vec<Counted>,
    /// Why they could not be counted; `None` where they were, or were not asked for.
    pub uncounted: Option<String>,
    /// The load's prepared statements with their plans.
    pub planned: Vec<Planned>,
    /// Why there are no plans.
    pub unplanned: Option<String>,
}

impl Statements {
    /// Those of a phase.
    pub fn of(record: &Record, phase: &PhaseRecord) -> Self {
        // What was read after the load belongs to it until the next phase begins.
        let later = record.manifest.phases.iter().map(|other| other.t0_ns);
        let end = later.filter(|t0_ns| *t0_ns > phase.t0_ns).min();
        let span = phase.t0_ns..end.unwrap_or(i64::MAX);
        let inside = |metric: Metric| {
            record.series_of(metric).filter_map(|series| {
                let points = series.points.iter();
                let own = points.filter(|(t_ns, _)| span.contains(t_ns));
                let last = own.clone().next_back()?.1;
                Some((&series.key, own.map(|(t_ns, _)| *t_ns).min()?, last))
            })
        };
        let text = |key: &SeriesKey, name: &str| key.labels.get(name).cloned().unwrap_or_default();
        let mut counted: BTreeMap<String, Counted> = BTreeMap::new();
        for (metric, field) in FIELDS {
            for (key, _, value) in inside(metric) {
                let statement = text(key, STATEMENT);
                let own = counted.entry(statement.clone()).or_default();
                own.statement = statement;
                *field(own) = value;
            }
        }
        let mut counted: Vec<Counted> = counted.into_values().collect();
        counted.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
        let mut plans: BTreeMap<String, Vec<(i64, String)>> = BTreeMap::new();
        for (key, t_ns, _) in inside(sql::PLAN) {
            let own = plans.entry(text(key, STATEMENT)).or_default();
            own.push((t_ns, text(key, PLAN)));
        }
        let planned = plans.into_iter().map(|(statement, mut plans)| {
            plans.sort();
            Planned {
                statement,
                plans: plans.into_iter().map(|(_, plan)| plan).collect(),
            }
        });
        let why = |metric| {
            let lacking = inside(metric).find(|(_, _, value)| *value == 0.0);
            lacking.map(|(key, ..)| text(key, WHY))
        };
        Self {
            counted,
            uncounted: why(sql::STATEMENTS_READ),
            planned: planned.collect(),
            unplanned: why(sql::PLANS_READ),
        }
    }

    /// Statements whose plan is another one than it was.
    pub fn changed(&self) -> impl Iterator<Item = &Planned> {
        self.planned.iter().filter(|it| it.plans.len() > 1)
    }

    /// The numbers of a prepared statement; the server may write its constants as parameters.
    pub fn numbers_of(&self, statement: &str) -> Option<&Counted> {
        let form = form(statement);
        let mut counted = self.counted.iter();
        counted.find(|it| it.statement == statement || self::form(&it.statement) == form)
    }
}

/// A statement without its constants and the numbers of its parameters.
fn form(statement: &str) -> String {
    let mut out = String::new();
    let mut rest = statement.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '$' | '0'..='9' if !out.ends_with(|c: char| c.is_alphanumeric() || c == '_') => {
                while rest.next_if(|c| c.is_ascii_digit() || *c == '.').is_some() {}
                out.push('?');
            }
            '\'' => {
                while rest.next_if(|c| *c != '\'').is_some() {}
                rest.next();
                out.push('?');
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Manifest, PhaseResult, RunId};

    const SELECT: &str = "select  a\nfrom t where id = $1";

    fn key(metric: Metric) -> SeriesKey {
        SeriesKey {
            host: "hosta".into(),
            source: "sql".into(),
            metric: metric.into(),
            labels: [("flow".to_owned(), "postgres://h/db".to_owned())].into(),
        }
    }

    /// A record of two phases, in each of which these plans were seen before and after the load.
    fn record(plans: [[&str; 2]; 2]) -> Record {
        let mut batch = Batch::default();
        let mut record = Record::new(Manifest::new(RunId("test".into()), "tpcb"));
        for (at, plans) in plans.iter().enumerate() {
            let t0_ns = 100 * at as i64;
            let phase = PhaseRecord::plain(
                &at.to_string(),
                "tpcb",
                (t0_ns, t0_ns + 50),
                PhaseResult::default(),
            );
            record.manifest.phases.push(phase);
            for (plan, t_ns) in plans.iter().zip([t0_ns, t0_ns + 60]) {
                tell_plan(key(sql::PLAN), SELECT, plan, t_ns, &mut batch);
            }
            let counted = Counted {
                statement: SELECT.into(),
                calls: 10.0 + at as f64,
                seconds: 0.5,
                ..Counted::default()
            };
            counted.tell(key, t0_ns + 60, &mut batch);
            tell_read(
                key(sql::STATEMENTS_READ),
                (at == 1).then_some("denied"),
                t0_ns + 60,
                &mut batch,
            );
        }
        record.series = batch.series;
        record
    }

    #[test]
    fn each_phase_has_its_own_numbers_and_plans() {
        let record = record([["Seq Scan on t", "Index Scan on t"], ["Index Scan on t"; 2]]);
        let [first, second] = [0, 1].map(|at| Statements::of(&record, &record.manifest.phases[at]));
        let statement = "select a from t where id = $1";
        let changed: Vec<&Planned> = first.changed().collect();
        assert_eq!(changed[0].plans, ["Seq Scan on t", "Index Scan on t"]);
        assert_eq!(changed[0].statement, statement);
        assert_eq!(second.changed().count(), 0);
        assert_eq!(second.planned[0].plans, ["Index Scan on t"]);
        assert_eq!(
            (first.counted[0].calls, second.counted[0].calls),
            (10.0, 11.0)
        );
        assert_eq!(first.numbers_of(statement).map(|it| it.seconds), Some(0.5));
        assert_eq!(
            (first.uncounted, second.uncounted),
            (None, Some("denied".into()))
        );
    }

    #[test]
    fn constants_that_the_server_writes_as_parameters_are_the_same_statement() {
        let own = "update t1 set a = a + 1, b = 'it' where id = $1";
        let its = "update t1 set a = a + $2, b = $3 where id = $1";
        assert_eq!(form(own), form(its));
        assert_ne!(
            form(own),
            form("update t2 set a = a + 1, b = 'it' where id = $1")
        );
    }
}
