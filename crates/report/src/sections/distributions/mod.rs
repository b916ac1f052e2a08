//! Section: the distributions of values, and how they changed over time.

use std::collections::BTreeSet;

use sokudo_model::{HistogramSummary, PhaseRecord, Text, metric};

use crate::block::{Block, Cell, Column, Phrase, Table};
use crate::heat;
use crate::names;
use crate::number::{Scale, count};
use crate::view::{self, View};

/// Distributions shown at most.
const MAX_METRICS: usize = 12;

/// Per metric: percentiles of the subject phase, in total and per flow, and a heat map over the
/// whole run. Of loads at the same moment each has a table of its own.
pub fn blocks(view: &View) -> Vec<Block> {
    let subjects = view.subjects();
    let mut metrics: BTreeSet<&str> = BTreeSet::new();
    for phase in subjects {
        metrics.extend(phase.result.histograms.keys().map(String::as_str));
        let flows = phase.result.flows.iter();
        metrics.extend(flows.flat_map(|f| f.histograms.keys().map(String::as_str)));
    }
    metrics.extend(view.record.histograms.iter().map(|h| h.key.metric.as_str()));
    let mut out = Vec::new();
    for name in metrics.into_iter().take(MAX_METRICS) {
        let tables = subjects.iter().filter_map(|phase| percentiles(phase, name));
        let tables: Vec<Table> = tables.collect();
        let map = heat::map(view.record, name);
        if tables.is_empty() && map.is_none() {
            continue;
        }
        out.extend(tables.into_iter().map(Block::Table));
        out.extend(map.map(|m| Block::Chart(Box::new(m))));
    }
    out
}

fn percentiles(phase: &PhaseRecord, name: &str) -> Option<Table> {
    let mut rows: Vec<(Phrase, &HistogramSummary)> = Vec::new();
    let total = phase.result.histograms.get(name).filter(|h| h.n > 0);
    rows.extend(total.map(|h| (Text::new("report-distributions-all").into(), h)));
    let flows = phase.result.flows.iter();
    rows.extend(flows.filter_map(|f| {
        let summary = f.histograms.get(name).filter(|h| h.n > 0)?;
        Some((view::flow_name(f).into(), summary))
    }));
    if rows.is_empty() {
        return None;
    }
    let tail = rows.iter().map(|(_, h)| h.p99.max(h.mean));
    // The largest value may be far above the rest; the column's prefix follows the p99.
    let scale = Scale::of(tail, metric::unit_of(name));
    let number = |value: f64| Cell::number(scale.show(value), value);
    let column = |title: Phrase, unit: &str, numeric| Column {
        title,
        unit: unit.into(),
        numeric,
    };
    let mut columns = vec![
        column(Text::new("report-column-flow").into(), "", false),
        column("n".into(), "", true),
    ];
    for title in ["min", "mean", "p50", "p90", "p99", "p99.9", "max"] {
        columns.push(column(title.into(), &scale.unit, true));
    }
    let rows = rows.into_iter().map(|(label, h)| {
        let mut row = vec![
            Cell::word(label),
            Cell::number(count(h.n as f64), h.n as f64),
        ];
        row.extend([h.min, h.mean, h.p50, h.p90, h.p99, h.p999, h.max].map(number));
        row
    });
    Some(Table {
        title: Text::new("report-distributions-table")
            .text("metric", names::metric_text(name))
            .word("phase", phase.name.clone())
            .into(),
        rows: rows.collect(),
        columns,
        marked: None,
        tools: true,
    })
}
