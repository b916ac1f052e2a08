//! Matrices of one number for each pair of hosts.

use sokudo_model::{Text, Unit};

use crate::block::{Cell, Column, Phrase, Table};
use crate::number::Scale;

/// A table with a row per sending host and a column per receiving one, each cell coloured by its
/// share of the largest; empty where `between` knows nothing.
pub fn matrix(
    title: impl Into<Phrase>,
    hosts: &[&str],
    unit: Unit,
    between: impl Fn(&str, &str) -> Option<f64>,
) -> Table {
    let each = || {
        hosts
            .iter()
            .flat_map(|from| hosts.iter().map(move |to| (from, to)))
    };
    let values: Vec<f64> = each().filter_map(|(from, to)| between(from, to)).collect();
    let scale = Scale::of(values.iter().copied(), unit);
    let largest = values.into_iter().fold(0.0, f64::max);
    let mut columns = vec![Column {
        title: Text::new("report-flows-from-to").into(),
        unit: scale.unit.clone(),
        numeric: false,
    }];
    columns.extend(hosts.iter().map(|host| Column {
        title: (*host).into(),
        unit: String::new(),
        numeric: true,
    }));
    let cell = |from: &str, to: &str| match between(from, to) {
        Some(value) => Cell {
            heat: Some(if largest > 0.0 { value / largest } else { 0.0 }),
            ..Cell::number(scale.show(value), value)
        },
        None => Cell::word(""),
    };
    let rows = hosts.iter().map(|from| {
        let cells = hosts.iter().map(|to| cell(from, to));
        std::iter::once(Cell::word(*from)).chain(cells).collect()
    });
    Table {
        title: title.into(),
        rows: rows.collect(),
        columns,
        marked: None,
        tools: false,
    }
}
