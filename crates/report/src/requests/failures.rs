//! The failures of a test of requests, by cause and label.

use sokudo_model::{Text, Unit, units};
use sokudo_stats::requests::Requests;

use super::how;
use crate::block::{Block, Cell, Column, Table};
use crate::number::Scale;

/// Kinds of failure in the table.
const MOST_KINDS: usize = 100;
/// Labels in the table of the most common failures.
const MOST_LABELS: usize = 50;
/// Failures listed per label, at most.
const TOP: usize = 5;

/// Both tables; none without failures.
pub fn blocks(requests: &Requests) -> Vec<Block> {
    if requests.total.errors == 0 {
        return Vec::new();
    }
    vec![
        how("jtl-failures-how"),
        Block::Table(kinds(requests)),
        Block::Table(by_label(requests)),
    ]
}

fn column(key: &str, unit: &str, numeric: bool) -> Column {
    Column {
        title: Text::new(key).into(),
        unit: unit.into(),
        numeric,
    }
}

fn kinds(requests: &Requests) -> Table {
    let mut kinds: Vec<_> = requests.failures.iter().collect();
    kinds.sort_by_key(|f| std::cmp::Reverse(f.n));
    kinds.truncate(MOST_KINDS);
    let errors = requests.total.errors.max(1) as f64;
    let all = requests.total.n.max(1) as f64;
    let of_errors = Scale::of([1.0], Unit::Ratio);
    let of_all = Scale::of(kinds.iter().map(|f| f.n as f64 / all), Unit::Ratio);
    let row = |n: u64| {
        let n = n as f64;
        vec![
            Cell::number(units::grouped(n as u64), n),
            Cell::number(of_errors.show(n / errors), n / errors),
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
        rows: kinds
            .iter()
            .map(|f| {
                let mut cells = vec![Cell::word(f.says.clone())];
                cells.extend(row(f.n));
                cells
            })
            .collect(),
        marked: None,
        tools: true,
    }
}

/// The five most common failures of each label that has some.
fn by_label(requests: &Requests) -> Table {
    let mut labels: Vec<_> = requests
        .labels
        .iter()
        .filter(|l| !l.is_transaction && l.errors > 0)
        .collect();
    labels.sort_by_key(|l| std::cmp::Reverse(l.errors));
    let mut rows = Vec::new();
    for label in labels.into_iter().take(MOST_LABELS) {
        for (place, (kind, n)) in label.failures.iter().take(TOP).enumerate() {
            let says = requests
                .failures
                .get(*kind)
                .map_or("–", |f| f.says.as_str());
            // Each row repeats the label, so that it is still known after sorting.
            rows.push(vec![
                Cell::word(label.label.clone()),
                Cell::number((place + 1).to_string(), (place + 1) as f64),
                Cell::word(says),
                Cell::number(units::grouped(*n), *n as f64),
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
