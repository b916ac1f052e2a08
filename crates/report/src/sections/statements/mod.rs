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

fn by_time(counted: &[Counted]) -> Table {
    let all_s: f64 = counted.iter().map(|one| one.seconds).sum();
    let number = |value: f64, unit| Cell::number(human(value, unit), value);
    let counted = counted.iter().take(ROWS_MAX);
    let rows = counted.map(|one| {
        let mean_s = one.seconds / one.calls;
        vec![
            Cell::word(cut(&one.statement, STATEMENT_MAX).into_owned()),
            number(one.seconds, Unit::Seconds),
            number(one.seconds / all_s.max(f64::MIN_POSITIVE), Unit::Ratio),
            Cell::number(count(one.calls), one.calls),
            number(mean_s, Unit::Seconds),
            Cell::number(count(one.rows), one.rows),
            Cell::number(count(one.blocks_hit), one.blocks_hit),
            Cell::number(count(one.blocks_read), one.blocks_read),
        ]
    });
    let titles = [
        "report-statements-time",
        "report-statements-share",
        "report-statements-calls",
        "report-statements-mean",
        "report-statements-rows",
        "report-statements-hit",
        "report-statements-read",
    ];
    let columns = titles.iter().map(|key| column(Text::new(*key), true));
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
    let steps = shown.iter().map(|plan| plan.lines().count()).max();
    let rows = (0..steps.unwrap_or(0)).map(|at| {
        let steps = shown.iter().map(|plan| plan.lines().nth(at).unwrap_or(""));
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
