//! Section: statements of a loaded database by the time that the server took for them, and their plans.

use sokudo_model::statements::{Counted, Planned, Statements};
use sokudo_model::units::human;
use sokudo_model::{Text, Unit, cut};

use crate::block::{Block, Cell, Column, Phrase, Table};
use crate::number::count;
use crate::view::View;

/// Letters of a statement in a table.
const STATEMENT_MAX: usize = 160;
/// Statements that the table has at most.
const ROWS_MAX: usize = 15;
/// Plans that are shown at most, beside those that changed.
const PLANS_MAX: usize = 10;

/// The statements of the subject phase; nothing where no server was asked for any.
pub fn blocks(view: &View) -> Vec<Block> {
    let Some(phase) = view.lone_subject() else {
        return Vec::new();
    };
    let all = Statements::of(view.record, phase);
    let mut out = Vec::new();
    let lacking = [
        ("report-statements-uncounted", &all.uncounted),
        ("report-statements-unplanned", &all.unplanned),
    ];
    for (key, why) in lacking {
        if let Some(why) = why {
            let says = Text::new(key).text("why", Text::recorded(why));
            out.push(Block::Paragraph(says.into()));
        }
    }
    if all.counted.iter().any(|one| one.calls.is_none()) {
        out.push(Block::Paragraph(Text::new("report-statements-seen").into()));
    }
    if !all.counted.is_empty() {
        out.push(Block::Table(by_time(&all.counted)));
    }
    let (changed, same): (Vec<&Planned>, Vec<&Planned>) =
        all.planned.iter().partition(|one| one.plans.len() > 1);
    let seconds = |one: &Planned| all.numbers_of(&one.statement).map_or(0.0, |it| it.seconds);
    let slowest = |mut some: Vec<&Planned>| -> Vec<Block> {
        some.sort_by(|a, b| seconds(b).total_cmp(&seconds(a)));
        some.truncate(PLANS_MAX);
        let tables = some.into_iter().map(|one| Block::Table(plans(one)));
        tables.collect()
    };
    out.extend(slowest(changed));
    if !same.is_empty() {
        out.push(Block::Details {
            title: Text::new("report-statements-plans")
                .with("n", same.len())
                .into(),
            open: false,
            blocks: slowest(same),
        });
    }
    out
}

fn column(title: impl Into<Phrase>, numeric: bool) -> Column {
    Column {
        title: title.into(),
        unit: String::new(),
        numeric,
    }
}

/// A column of the statements that the server counts: its title, the number of a statement, and its unit.
struct CountedColumn {
    title: &'static str,
    number: fn(&Counted) -> Option<f64>,
    unit: Unit,
}

const fn of(title: &'static str, unit: Unit, number: fn(&Counted) -> Option<f64>) -> CountedColumn {
    CountedColumn {
        title,
        number,
        unit,
    }
}

/// Numbers that some servers count of some statements.
const OF_SOME: [CountedColumn; 6] = [
    of("report-statements-calls", Unit::One, |it| it.calls),
    of("report-statements-mean", Unit::Seconds, |it| {
        Some(it.seconds / it.calls?)
    }),
    of("report-statements-rows", Unit::One, |it| it.rows),
    of("report-statements-examined", Unit::One, |it| {
        it.rows_examined
    }),
    of("report-statements-hit", Unit::One, |it| it.blocks_hit),
    of("report-statements-read", Unit::One, |it| it.blocks_read),
];

fn by_time(counted: &[Counted]) -> Table {
    let all_s: f64 = counted.iter().map(|one| one.seconds).sum();
    let number = |value: f64, unit| Cell::number(human(value, unit), value);
    let is_counted = |it: &&CountedColumn| counted.iter().any(|one| (it.number)(one).is_some());
    let of_some: Vec<&CountedColumn> = OF_SOME.iter().filter(is_counted).collect();
    let rows = counted.iter().take(ROWS_MAX).map(|one| {
        let mut row = vec![
            Cell::word(cut(&one.statement, STATEMENT_MAX).into_owned()),
            number(one.seconds, Unit::Seconds),
            number(one.seconds / all_s.max(f64::MIN_POSITIVE), Unit::Ratio),
        ];
        row.extend(of_some.iter().map(|it| match ((it.number)(one), it.unit) {
            (Some(value), Unit::One) => Cell::number(count(value), value),
            (Some(value), unit) => number(value, unit),
            (None, _) => Cell::missing(),
        }));
        row
    });
    let titles = ["report-statements-time", "report-statements-share"];
    let titles = titles.into_iter().chain(of_some.iter().map(|it| it.title));
    let columns = titles.map(|key| column(Text::new(key), true));
    Table {
        title: Text::new("report-statements-table").into(),
        columns: std::iter::once(column(Text::new("report-statements-statement"), false))
            .chain(columns)
            .collect(),
        rows: rows.collect(),
        marked: None,
        tools: true,
    }
}

/// The plan of a statement, a step in each row; with its last one beside it where that is another.
fn plans(one: &Planned) -> Table {
    let shown: Vec<&String> = match one.plans.as_slice() {
        [first, .., last] => vec![first, last],
        some => some.iter().collect(),
    };
    let titles = match shown.len() {
        1 => &["report-statements-plan"][..],
        _ => &["report-statements-before", "report-statements-after"],
    };
    let shown: Vec<Vec<&str>> = shown.iter().map(|plan| plan.lines().collect()).collect();
    let steps = shown.iter().map(Vec::len).max();
    let rows = (0..steps.unwrap_or(0)).map(|at| {
        let steps = shown.iter().map(|plan| plan.get(at).unwrap_or(&""));
        steps.map(|step| Cell::word(indented(step))).collect()
    });
    Table {
        title: Phrase::from(cut(&one.statement, STATEMENT_MAX).into_owned()),
        columns: titles
            .iter()
            .map(|key| column(Text::new(*key), false))
            .collect(),
        rows: rows.collect(),
        marked: None,
        tools: false,
    }
}

/// A step with spaces before it that no form of the report takes away.
fn indented(step: &str) -> String {
    let rest = step.trim_start();
    let spaces = "\u{a0}".repeat(step.len() - rest.len());
    format!("{spaces}{rest}")
}
