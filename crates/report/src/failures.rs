//! Tables of failed requests by reason and by label, for reports of runs and of foreign rows.

use sokudo_model::{Text, Unit, units};

use crate::block::{Block, Cell, Column, Table};
use crate::number::Scale;

/// Kinds of failure in the table.
const MOST_KINDS: usize = 100;
/// Labels in the table of the most common failures.
const MOST_LABELS: usize = 50;
/// Failures listed per label, at most.
const TOP: usize = 5;

/// A reason and how many requests failed for it.
pub type FailureCount = (String, u64);

/// A label and its reasons, the most frequent first.
pub type OfLabel = (String, Vec<FailureCount>);

/// Both tables; `failed` of `all` requests failed.
pub fn blocks(
    mut kinds: Vec<FailureCount>,
    labels: Vec<OfLabel>,
    (failed, all): (u64, u64),
) -> Vec<Block> {
    kinds.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    kinds.truncate(MOST_KINDS);
    vec![
        Block::Paragraph(Text::new("jtl-failures-how").into()),
        Block::Table(by_kind(&kinds, (failed, all))),
        Block::Table(by_label(labels)),
    ]
}

fn column(key: &str, unit: &str, numeric: bool) -> Column {
    Column {
        title: Text::new(key).into(),
        unit: unit.into(),
        numeric,
    }
}

fn by_kind(kinds: &[FailureCount], (failed, all): (u64, u64)) -> Table {
    let failed = failed.max(1) as f64;
    let all = all.max(1) as f64;
    let of_errors = Scale::of([1.0], Unit::Ratio);
    let of_all = Scale::of(kinds.iter().map(|(_, n)| *n as f64 / all), Unit::Ratio);
    let row = |(says, n): &FailureCount| {
        let n = *n as f64;
        vec![
            Cell::word(Text::recorded(says)),
            Cell::number(units::grouped(n as u64), n),
            Cell::number(of_errors.show(n / failed), n / failed),
            Cell::number(of_all.show(n / all), n / all),
        ]
    };
    Table {
        title: Text::new("jtl-failures-kinds").into(),
        columns: vec![
            column("jtl-failure", "", false),
            column("jtl-failed", "", true),
            column("jtl-of-failures", "%", true),
            column("jtl-of-all", "%", true),
        ],
        rows: kinds.iter().map(row).collect(),
        marked: None,
        tools: true,
    }
}

/// The most common failures of each label that has some.
fn by_label(mut labels: Vec<OfLabel>) -> Table {
    let sum = |of: &OfLabel| of.1.iter().map(|(_, n)| n).sum::<u64>();
    labels.sort_by_key(|of| std::cmp::Reverse(sum(of)));
    let mut rows = Vec::new();
    for (label, kinds) in labels.into_iter().take(MOST_LABELS) {
        for (place, (says, n)) in kinds.into_iter().take(TOP).enumerate() {
            // Each row repeats the label, so that it is still known after sorting.
            rows.push(vec![
                Cell::word(label.clone()),
                Cell::number((place + 1).to_string(), (place + 1) as f64),
                Cell::word(Text::recorded(says)),
                Cell::number(units::grouped(n), n as f64),
            ]);
        }
    }
    Table {
        title: Text::new("jtl-failures-by-label").into(),
        columns: vec![
            column("jtl-label", "", false),
            column("jtl-rank", "", true),
            column("jtl-failure", "", false),
            column("jtl-failed", "", true),
        ],
        rows,
        marked: None,
        tools: true,
    }
}
