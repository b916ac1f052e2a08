//! Table: limits in front of the knee, without and with them.

use sokudo_analyze::protect::{Checked, Places, of};
use sokudo_model::units::{human, percent};
use sokudo_model::{Record, Text, Unit};
use sokudo_stats::capacity::protect::Arm;

use super::column;
use crate::block::{Cell, Table};

/// One row without the limits and one with them; `None` without a check. Also the terminal's.
pub fn table(record: &Record) -> Option<Table> {
    let checked = of(record)?;
    let Checked {
        protected,
        before,
        after,
    } = &checked;
    let limits = protected.limits;
    let with = Text::new("report-protect-with")
        .word("workers", limits.workers.to_string())
        .word("open", limits.open.to_string());
    let without = protected.before.as_ref();
    let rows = [
        without.map(|arm| row(Text::new("report-protect-without"), arm, before)),
        Some(row(with, &protected.after, after)),
    ];
    let rows: Vec<_> = rows.into_iter().flatten().collect();
    Some(Table {
        title: Text::new("report-protect-title")
            .number("users", protected.users, Unit::One)
            .into(),
        columns: vec![
            column("report-protect-limits", "", false),
            column("report-capacity-throughput", "", true),
            column("report-capacity-response", "", true),
            column("report-protect-errors", "", true),
            column("report-protect-accept", "", true),
            column("report-protect-queued", "", true),
            column("report-protect-service", "", true),
            column("report-protect-pool", "", true),
        ],
        marked: Some(rows.len() - 1),
        rows,
        tools: false,
    })
}

fn row(name: Text, arm: &Arm, places: &Places) -> Vec<Cell> {
    let number = |value: Option<f64>, unit| match value {
        Some(value) => Cell::number(human(value, unit), value),
        None => Cell::missing(),
    };
    let tenths = |value: Option<f64>| number(value.map(|n| (n * 10.0).round() / 10.0), Unit::One);
    let level = &arm.level;
    vec![
        Cell::word(name),
        number(Some(level.per_second()), Unit::PerSecond),
        number(Some(level.response_s()), Unit::Seconds),
        Cell::number(percent(arm.errors), arm.errors),
        tenths(places.accept_queue),
        tenths(places.workers_queued),
        number(places.service_s, Unit::Seconds),
        tenths(places.pool_waiting),
    ]
}
