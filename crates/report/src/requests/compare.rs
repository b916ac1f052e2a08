//! Compares a test of requests with an earlier one.

use std::collections::HashMap;

use sokudo_model::units::human;
use sokudo_model::{Text, Unit};
use sokudo_stats::requests::LabelGroup;

use super::{Dashboard, how, leading_percentile};
use crate::block::{Block, Cell, Column, Phrase, Table};

/// Labels in the table.
const MOST_ROWS: usize = 200;

/// The sentence of the first screen; `None` without an earlier test.
pub fn sentence(dashboard: &Dashboard) -> Option<Text> {
    let (name, earlier) = dashboard.earlier?;
    let (now, before) = (&dashboard.requests.total, &earlier.total);
    let percent = leading_percentile(dashboard.requests);
    let time = |g: &LabelGroup| g.percentile_ms(percent) as f64;
    Some(
        Text::new("jtl-verdict-compared")
            .word("name", name)
            .word("percent", percent.to_string())
            .word("time", change(time(now), time(before)))
            .word("rate", change(now.per_second(), before.per_second()))
            .number("errors", now.error_ratio(), Unit::Ratio)
            .number("before", before.error_ratio(), Unit::Ratio),
    )
}

/// A table with a row per label that either test has.
pub fn blocks(dashboard: &Dashboard) -> Vec<Block> {
    let Some((name, earlier)) = dashboard.earlier else {
        return Vec::new();
    };
    let percent = leading_percentile(dashboard.requests);
    let before: HashMap<&str, &LabelGroup> = earlier
        .labels
        .iter()
        .map(|g| (g.label.as_str(), g))
        .collect();
    let mut rows = vec![row(
        Text::new("jtl-total").into(),
        Some(&dashboard.requests.total),
        Some(&earlier.total),
        percent,
    )];
    for group in &dashboard.requests.labels {
        let before = before.get(group.label.as_str()).copied();
        rows.push(row(
            group.label.clone().into(),
            Some(group),
            before,
            percent,
        ));
    }
    let labels = &dashboard.requests.labels;
    let gone = earlier.labels.iter().filter(|g| {
        labels
            .binary_search_by(|now| now.label.as_str().cmp(&g.label))
            .is_err()
    });
    rows.extend(gone.map(|g| row(g.label.clone().into(), None, Some(g), percent)));
    rows.truncate(MOST_ROWS);
    let title = Text::new("jtl-comparison-title").word("name", name);
    vec![
        how("jtl-comparison-how"),
        Block::Table(Table {
            title: title.into(),
            columns: columns(percent),
            rows,
            marked: Some(0),
            tools: true,
        }),
    ]
}

fn columns(percent: f64) -> Vec<Column> {
    let column = |title: Phrase, numeric| Column {
        title,
        unit: String::new(),
        numeric,
    };
    let quantities: [Phrase; 4] = [
        Text::new("jtl-rate").into(),
        Text::new("jtl-mean").into(),
        format!("p{percent}").into(),
        Text::new("jtl-failed-share").into(),
    ];
    let mut out = vec![column(Text::new("jtl-label").into(), false)];
    for (i, quantity) in quantities.into_iter().enumerate() {
        out.push(column(Text::new("jtl-earlier").into(), true));
        out.push(column(quantity, true));
        // A change of a share in percent of itself would be misread.
        if i < 3 {
            out.push(column(Text::new("jtl-change").into(), true));
        }
    }
    out
}

fn row(
    label: Phrase,
    now: Option<&LabelGroup>,
    before: Option<&LabelGroup>,
    percent: f64,
) -> Vec<Cell> {
    let mut cells = vec![Cell::word(label)];
    let mut both = |unit, of: &dyn Fn(&LabelGroup) -> f64, with_change: bool| {
        let (now, before) = (now.map(of), before.map(of));
        for value in [before, now] {
            cells.push(match value {
                Some(value) => Cell::number(human(value, unit), value),
                None => Cell::missing(),
            });
        }
        if with_change {
            cells.push(match (now, before) {
                (Some(now), Some(before)) if before > 0.0 => {
                    Cell::number(change(now, before), now / before - 1.0)
                }
                _ => Cell::missing(),
            });
        }
    };
    both(Unit::PerSecond, &LabelGroup::per_second, true);
    both(Unit::Seconds, &|g| g.mean_ms() / 1e3, true);
    both(
        Unit::Seconds,
        &|g| g.percentile_ms(percent) as f64 / 1e3,
        true,
    );
    both(Unit::Ratio, &LabelGroup::error_ratio, false);
    cells
}

/// `+12 %`, `−3.1 %`, `±0 %`; a factor where it is a doubling or more.
fn change(now: f64, before: f64) -> String {
    if before <= 0.0 {
        return "–".into();
    }
    let ratio = now / before;
    if ratio >= 2.0 {
        return format!("×{}", sokudo_model::units::three_digits(ratio));
    }
    let percent = ((ratio - 1.0) * 1000.0).round() / 10.0;
    match percent {
        p if p > 0.0 => format!("+{p} %"),
        p if p < 0.0 => format!("−{} %", -p),
        _ => "±0 %".into(),
    }
}
