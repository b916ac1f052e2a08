//! The statements of a load as its database server counts and plans them, as series and back.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::harmless::CUT;
use crate::kinds::sql;
use crate::metrics::mariadb;
use crate::{Batch, Metric, PhaseRecord, Record, SeriesKey, cut};

/// Longest text of a statement, characters.
const STATEMENT_MAX: usize = 500;
/// Longest text of a plan, characters.
const PLAN_MAX: usize = 4000;
/// Characters of the line with the hash of a plan that is too long.
const HASH_LINE: usize = 17;
/// FNV-1a, 64 bits.
const HASH_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const HASH_PRIME: u64 = 0x0000_0100_0000_01b3;
/// Labels.
const STATEMENT: &str = "statement";
const PLAN: &str = "plan";
const WHY: &str = "why";

/// Executions of a statement while a load went on.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Counted {
    /// Its text.
    pub statement: String,
    /// How often it was executed; `None` where only its time was observed.
    pub calls: Option<f64>,
    /// Time that the server took for all of them.
    pub seconds: f64,
    /// Rows that they gave or changed; `None` with [`Self::calls`].
    pub rows: Option<f64>,
    /// Rows that they read in tables; `None` where the server does not count them.
    pub rows_examined: Option<f64>,
    /// Blocks that were in the server's cache; `None` where it does not count them.
    pub blocks_hit: Option<f64>,
    /// Blocks that were not.
    pub blocks_read: Option<f64>,
}

/// A number of a statement: its series, and how it is read and set.
struct Field {
    metric: Metric,
    get: fn(&Counted) -> Option<f64>,
    set: fn(&mut Counted, f64),
}

const FIELDS: [Field; 6] = [
    Field {
        metric: sql::STATEMENT_CALLS,
        get: |it| it.calls,
        set: |it, value| it.calls = Some(value),
    },
    Field {
        metric: sql::STATEMENT_SECONDS,
        get: |it| Some(it.seconds),
        set: |it, value| it.seconds = value,
    },
    Field {
        metric: sql::STATEMENT_ROWS,
        get: |it| it.rows,
        set: |it, value| it.rows = Some(value),
    },
    Field {
        metric: sql::STATEMENT_ROWS_EXAMINED,
        get: |it| it.rows_examined,
        set: |it, value| it.rows_examined = Some(value),
    },
    Field {
        metric: sql::STATEMENT_BLOCKS_HIT,
        get: |it| it.blocks_hit,
        set: |it, value| it.blocks_hit = Some(value),
    },
    Field {
        metric: sql::STATEMENT_BLOCKS_READ,
        get: |it| it.blocks_read,
        set: |it, value| it.blocks_read = Some(value),
    },
];

impl Counted {
    /// Puts its numbers into a batch, beside others of the same server: `key` names a series of it.
    pub fn tell(&self, key: impl Fn(Metric) -> SeriesKey, t_ns: i64, batch: &mut Batch) {
        for field in &FIELDS {
            if let Some(value) = (field.get)(self) {
                let key = labelled(key(field.metric), STATEMENT, &self.statement);
                batch.push(&key, t_ns, value);
            }
        }
    }

    /// Growth since an earlier reading; all of it where the counters were reset meanwhile, as they then count anew.
    pub fn since(&self, then: &Self) -> Self {
        let mut grown = self.clone();
        if self.calls >= then.calls {
            for field in &FIELDS {
                if let (Some(now), Some(then)) = ((field.get)(self), (field.get)(then)) {
                    (field.set)(&mut grown, now - then);
                }
            }
        }
        grown
    }

    /// Adds the numbers of executions of the same statement.
    pub fn add(&mut self, other: &Self) {
        for field in &FIELDS {
            if let Some(more) = (field.get)(other) {
                let so_far = (field.get)(self).unwrap_or(0.0);
                (field.set)(self, so_far + more);
            }
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
    key.labels.insert(PLAN.into(), whole(plan).into_owned());
    batch.push(&key, t_ns, 1.0);
}

/// A plan that is not too long; of a longer one the begin and a hash of the whole, which is another one when the plan
/// changed behind that.
fn whole(plan: &str) -> Cow<'_, str> {
    match cut(plan, PLAN_MAX - HASH_LINE) {
        Cow::Owned(begin) => {
            let hash = plan.bytes().fold(HASH_BASIS, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(HASH_PRIME)
            });
            format!("{begin}\n{hash:016x}").into()
        }
        borrowed @ Cow::Borrowed(_) => borrowed,
    }
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
    /// Those that were executed, the one with the most time first. Those that the server does not count have the
    /// time in which sessions were seen to execute them.
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
        for field in &FIELDS {
            for (key, _, value) in inside(field.metric) {
                let statement = text(key, STATEMENT);
                let own = counted.entry(statement.clone()).or_default();
                own.statement = statement;
                (field.set)(own, value);
            }
        }
        let mut counted: Vec<Counted> = counted.into_values().collect();
        let seen = seen_of(record, phase);
        counted.extend(
            seen.filter(|one| {
                let is_one = is_written_as(&one.statement);
                !counted.iter().any(|other| is_one(&other.statement))
            })
            .collect::<Vec<_>>(),
        );
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

    /// The numbers of a prepared statement, however the server writes it.
    pub fn numbers_of(&self, statement: &str) -> Option<&Counted> {
        let is_one = is_written_as(statement);
        self.counted.iter().find(|it| is_one(&it.statement))
    }

    /// The plans of a statement that the server has counted.
    pub fn plans_of(&self, statement: &str) -> Option<&Planned> {
        let is_one = is_written_as(statement);
        self.planned.iter().find(|it| is_one(&it.statement))
    }
}

/// Time between two points of a series of looks, where it has one point only.
const LOOKS_S: f64 = 1.0;

/// Statements that sessions were seen to execute during a phase, with the time that it took.
fn seen_of<'a>(record: &'a Record, phase: &PhaseRecord) -> impl Iterator<Item = Counted> + 'a {
    let span = phase.t0_ns..=phase.t1_ns;
    let series = record.series_of(mariadb::STATEMENT_SESSIONS);
    series.filter_map(move |series| {
        let points = series.points.iter().enumerate();
        let own = points.filter(|(_, (t_ns, _))| span.contains(t_ns));
        let seconds = own.map(|(at, (t_ns, sessions))| {
            let before = at.checked_sub(1).map(|at| series.points[at].0);
            let since_s = before.map_or(LOOKS_S, |before| (t_ns - before) as f64 / 1e9);
            sessions * since_s
        });
        let seconds: f64 = seconds.sum();
        (seconds > 0.0).then(|| Counted {
            statement: series
                .key
                .labels
                .get(STATEMENT)
                .cloned()
                .unwrap_or_default(),
            seconds,
            ..Counted::default()
        })
    })
}

/// Whether a text is that of a statement.
fn is_written_as(statement: &str) -> impl Fn(&str) -> bool {
    let form = form(statement);
    move |other| other == statement || is_same(&self::form(other), &form)
}

/// True for forms of the same statement, each of which may be cut.
fn is_same(one: &str, other: &str) -> bool {
    let begin = |form: &str| form.strip_suffix(CUT).map(|it| it.trim_end().to_owned());
    match (begin(one), begin(other)) {
        (None, None) => one == other,
        (Some(begin), None) => other.starts_with(&begin),
        (None, Some(begin)) => one.starts_with(&begin),
        (Some(one), Some(other)) => one.starts_with(&other) || other.starts_with(&one),
    }
}

/// A statement without its constants, the numbers of its parameters, and what servers write in their own way: a digest
/// of MariaDB has names in backticks, keywords in capitals, and `...` for lists of values.
pub fn form(statement: &str) -> String {
    let mut tokens: Vec<Cow<'_, str>> = Vec::new();
    let mut rest = statement;
    while let Some(first) = rest.chars().next() {
        let (token, length) = token(rest, first);
        rest = &rest[length..];
        let Some(token) = token else { continue };
        // A list of values is as good as one: `?, ?` and `(?), (?)`.
        let count = tokens.len();
        let ends_with = |tail: &[&str]| {
            let from = count.checked_sub(tail.len());
            from.is_some_and(|from| tokens[from..].iter().zip(tail).all(|(a, b)| a == b))
        };
        match &*token {
            VALUE if ends_with(&[VALUE, ","]) => drop(tokens.pop()),
            // The rest of a text with a quote in it.
            VALUE if ends_with(&[VALUE]) => {}
            ")" if ends_with(&["(", VALUE, ")", ",", "(", VALUE]) => tokens.truncate(count - 3),
            _ => tokens.push(token),
        }
    }
    tokens.join(" ")
}

/// Stands for any value.
const VALUE: &str = "?";

/// The token with which a text begins, and its length there; no token for spaces and comments.
fn token(text: &str, first: char) -> (Option<Cow<'_, str>>, usize) {
    let until = |end: &str, from: usize| {
        let found = text[from..].find(end);
        found.map_or(text.len(), |at| from + at + end.len())
    };
    let run = |is_in: fn(char) -> bool| text.find(|c| !is_in(c)).unwrap_or(text.len());
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    match first {
        c if c.is_whitespace() => (None, run(char::is_whitespace)),
        '/' if text.starts_with("/*") => (None, until("*/", 2)),
        '.' if text == "..." => (Some(CUT.to_string().into()), text.len()),
        '.' if text.starts_with("...") => (Some(VALUE.into()), 3),
        '\'' => (Some(VALUE.into()), until("'", 1)),
        '`' | '"' => {
            let length = until(&first.to_string(), 1);
            let name = text[..length].trim_matches(first).to_lowercase();
            (Some(name.into()), length)
        }
        '?' => (Some(VALUE.into()), 1),
        '$' => (
            Some(VALUE.into()),
            1 + text[1..].bytes().take_while(u8::is_ascii_digit).count(),
        ),
        '0'..='9' => (Some(VALUE.into()), run(|c| c.is_alphanumeric() || c == '.')),
        c if is_word(c) => {
            let word = &text[..run(|c| c.is_alphanumeric() || c == '_')];
            let token = match word.eq_ignore_ascii_case("null") {
                true => VALUE.into(),
                false => word.to_lowercase().into(),
            };
            (Some(token), word.len())
        }
        c => (Some(text[..c.len_utf8()].into()), c.len_utf8()),
    }
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
                calls: Some(10.0 + at as f64),
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
            (Some(10.0), Some(11.0))
        );
        assert_eq!(first.numbers_of(statement).map(|it| it.seconds), Some(0.5));
        assert_eq!(
            (first.uncounted, second.uncounted),
            (None, Some("denied".into()))
        );
    }

    #[test]
    fn however_the_server_writes_a_statement_it_is_the_same() {
        let own = "update t1 set a = a + 1, b = 'it' where id = $1";
        let other = "update t2 set a = a + 1, b = 'it' where id = $1";
        for its in [
            "update t1 set a = a + $2, b = $3 where id = $1",
            "UPDATE `t1` SET `a` = `a` + ? , `b` = ? WHERE `id` = ?",
            "UPDATE `t1` SET `a` = `a` + ? , `b` = ? WH…",
        ] {
            assert!(is_same(&form(own), &form(its)), "{its}");
            assert!(!is_same(&form(other), &form(its)), "{its}");
        }
        for (own, its) in [
            (
                "insert into t values ($1, $2, 'a')",
                "INSERT INTO `t` VALUES (...)",
            ),
            (
                "insert into t values ($1, $2), ($3, $4)",
                "INSERT INTO `t` VALUES (...) /* , ... */",
            ),
            (
                "insert into t values ($1, now())",
                "INSERT INTO `t` VALUES ( ? , NOW ( ) )",
            ),
            (
                "select a from t where b in (1, 2, 3)",
                "SELECT `a` FROM `t` WHERE `b` IN (...)",
            ),
            (
                "select t.a from t where b is not null",
                "SELECT `t` . `a` FROM `t` WHERE `b` IS NOT NULL",
            ),
        ] {
            assert_eq!(form(own), form(its));
        }
    }

    #[test]
    fn a_statement_that_is_only_seen_has_its_time() {
        let mut record = record([["Index Scan on t"; 2]; 2]);
        let phase = &mut record.manifest.phases[0];
        (phase.t0_ns, phase.t1_ns) = (1_000_000_000, 4_000_000_000);
        let mut batch = Batch::default();
        for (statement, sessions) in [("update t set a = ?", 0.5), (&*form(SELECT), 3.0)] {
            let key = labelled(key(mariadb::STATEMENT_SESSIONS), STATEMENT, statement);
            for second in 1..=6 {
                batch.push(&key, second * 1_000_000_000, sessions);
            }
        }
        record.series.retain(|it| it.key.metric == sql::PLAN.name);
        record.series.extend(batch.series);
        let told = Statements::of(&record, &record.manifest.phases[0]);
        let update = told
            .numbers_of("UPDATE `t` SET `a` = 7")
            .expect("it was seen");
        assert_eq!((update.calls, update.seconds), (None, 2.0));
        assert_eq!(told.numbers_of(SELECT).map(|it| it.seconds), Some(12.0));
        assert_eq!(told.counted[0].seconds, 12.0);
    }

    #[test]
    fn a_change_behind_the_end_of_a_long_plan_is_another_plan() {
        let long = |last: &str| format!("{}{last}", "Nested Loop\n".repeat(1000));
        let (one, other) = (long("Seq Scan on t"), long("Index Scan on t"));
        assert_ne!(whole(&one), whole(&other));
        assert_eq!(whole(&one).chars().count(), PLAN_MAX);
        assert_eq!(whole("Seq Scan on t"), "Seq Scan on t");
    }

    #[test]
    fn a_number_that_the_server_does_not_count_is_missing() {
        let counted = |calls, rows_examined| Counted {
            statement: SELECT.into(),
            calls,
            rows_examined,
            ..Counted::default()
        };
        let (then, now) = (
            counted(Some(3.0), Some(30.0)),
            counted(Some(5.0), Some(70.0)),
        );
        assert_eq!(now.since(&then), counted(Some(2.0), Some(40.0)));
        assert_eq!(then.since(&now), then, "they count anew");
        let mut batch = Batch::default();
        now.tell(key, 0, &mut batch);
        let metrics: Vec<&str> = batch.series.iter().map(|it| &*it.key.metric).collect();
        assert!(
            metrics.contains(&sql::STATEMENT_ROWS_EXAMINED.name),
            "{metrics:?}"
        );
        assert!(
            !metrics.contains(&sql::STATEMENT_BLOCKS_HIT.name),
            "{metrics:?}"
        );
    }
}
