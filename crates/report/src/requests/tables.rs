//! The statistics per label and per generator, and how they were made.

use sokudo_model::{Text, Unit, units};
use sokudo_stats::requests::LabelGroup;

use super::{Dashboard, how};
use crate::block::{Block, Cell, Column, Phrase, Table};
use crate::number::Scale;

/// Labels in the table; the rest is in `statistics.json`.
const MOST_ROWS: usize = 300;

/// The table of all labels with the total first.
pub fn blocks(dashboard: &Dashboard) -> Vec<Block> {
    let requests = dashboard.requests;
    if requests.is_empty() {
        return Vec::new();
    }
    let shown: Vec<&LabelGroup> = std::iter::once(&requests.total)
        .chain(requests.labels.iter().take(MOST_ROWS))
        .collect();
    let percentiles = &requests.settings.percentiles;
    let label = |group: &LabelGroup| name(group, dashboard);
    let mut out = vec![
        how("jtl-statistics-how"),
        Block::Table(Table {
            marked: Some(0),
            ..table(
                "jtl-statistics-title",
                "jtl-label",
                &shown,
                percentiles,
                label,
            )
        }),
    ];
    if !requests.hosts.is_empty() {
        let hosts: Vec<&LabelGroup> = requests.hosts.iter().collect();
        let host = |group: &LabelGroup| group.label.clone().into();
        let table = table("jtl-hosts-title", "jtl-host", &hosts, percentiles, host);
        out.push(Block::Table(table));
    }
    if requests.labels.len() > MOST_ROWS {
        let left = requests.labels.len() - MOST_ROWS;
        out.push(Block::Paragraph(
            Text::new("jtl-statistics-more")
                .word("n", left.to_string())
                .into(),
        ));
    }
    out
}

/// A row of figures per group, each called as `name` says.
fn table(
    title: &str,
    head: &str,
    shown: &[&LabelGroup],
    percentiles: &[f64],
    name: impl Fn(&LabelGroup) -> Phrase,
) -> Table {
    let columns = figures(percentiles);
    let scales: Vec<Scale> = columns
        .iter()
        .map(|c| Scale::of(shown.iter().map(|g| (c.of)(g, c.percent)), c.unit))
        .collect();
    let head = Column {
        title: Text::new(head).into(),
        unit: String::new(),
        numeric: false,
    };
    let titles = columns.iter().zip(&scales).map(|(c, scale)| Column {
        title: c.title.clone(),
        unit: scale.unit.clone(),
        numeric: true,
    });
    let row = |group: &&LabelGroup| {
        let mut cells = vec![Cell::word(name(group))];
        cells.extend(columns.iter().zip(&scales).map(|(c, scale)| {
            let value = (c.of)(group, c.percent);
            Cell::number(scale.show(value), value)
        }));
        cells
    };
    Table {
        title: Text::new(title).into(),
        columns: std::iter::once(head).chain(titles).collect(),
        rows: shown.iter().map(row).collect(),
        marked: None,
        tools: true,
    }
}

fn name(group: &LabelGroup, dashboard: &Dashboard) -> Phrase {
    if std::ptr::eq(group, &dashboard.requests.total) {
        return Text::new("jtl-total").into();
    }
    match group.is_transaction {
        true => Text::new("jtl-transaction")
            .word("label", group.label.clone())
            .into(),
        false => group.label.clone().into(),
    }
}

/// One column of figures.
struct Figure {
    title: Phrase,
    unit: Unit,
    percent: f64,
    of: fn(&LabelGroup, f64) -> f64,
}

fn figures(percentiles: &[f64]) -> Vec<Figure> {
    let figure = |key: &str, unit, of| Figure {
        title: Text::new(key).into(),
        unit,
        percent: 0.0,
        of,
    };
    let at = |percent: f64| Figure {
        title: format!("p{percent}").into(),
        unit: Unit::Seconds,
        percent,
        of: |g, percent| g.percentile_ms(percent) as f64 / 1e3,
    };
    let mut out = vec![
        figure("jtl-requests", Unit::One, |g, _| g.n as f64),
        figure("jtl-failed", Unit::One, |g, _| g.errors as f64),
        figure("jtl-failed-share", Unit::Ratio, |g, _| g.error_ratio()),
        figure("jtl-mean", Unit::Seconds, |g, _| g.mean_ms() / 1e3),
        figure("jtl-min", Unit::Seconds, |g, _| g.min_ms() as f64 / 1e3),
        at(50.0),
    ];
    out.extend(percentiles.iter().map(|p| at(*p)));
    out.extend([
        figure("jtl-max", Unit::Seconds, |g, _| g.max_ms() as f64 / 1e3),
        figure("jtl-rate", Unit::PerSecond, |g, _| g.per_second()),
        figure("jtl-received", Unit::BytesPerSecond, |g, _| {
            g.bytes_per_second()
        }),
        figure("jtl-sent", Unit::BytesPerSecond, |g, _| {
            g.sent_bytes_per_second()
        }),
        figure("jtl-apdex", Unit::One, |g, _| g.apdex()),
    ]);
    out
}

/// Settings with which the figures were made.
pub fn conditions(dashboard: &Dashboard) -> Vec<Block> {
    let requests = dashboard.requests;
    let width = requests.timeline.width_ms() as f64 / 1e3;
    let mut out = vec![Block::Paragraph(
        Text::new("jtl-conditions")
            .word("name", dashboard.name)
            .word("started", dashboard.started)
            .number("width", width, Unit::Seconds)
            .into(),
    )];
    if requests.empty_transactions > 0 {
        let n = units::grouped(requests.empty_transactions);
        out.push(Block::Paragraph(
            Text::new("jtl-empty-transactions").word("n", n).into(),
        ));
    }
    out
}
