//! Output of a test's rows: text for a terminal, JSON for a program.

use std::path::Path;

use sokudo_i18n::{I18n, Lang};
use sokudo_model::units::{self, human};
use sokudo_model::{Text, Unit, harmless::steers};
use sokudo_report::requests::Dashboard;
use sokudo_report::text_columns;
use sokudo_stats::requests::LabelGroup;

use crate::cli::screen::{escapes, shown_path};

/// Labels told on a terminal: those with the most requests.
const MOST_LABELS: usize = 20;
/// Columns that a label may take.
const LABEL_COLUMNS: usize = 28;

/// Prints the verdict and the statistics.
pub fn show(dashboard: &Dashboard, page: Option<&Path>, lang: Lang) {
    let (bright, dim, plain) = match escapes(&std::io::stdout()) {
        true => ("\x1b[1m", "\x1b[2m", "\x1b[0m"),
        false => ("", "", ""),
    };
    println!();
    for (i, sentence) in dashboard.says(lang).iter().enumerate() {
        let bright = if i == 0 { bright } else { "" };
        println!("  {bright}{sentence}{plain}");
    }
    // The demands of a run have been told with the run.
    if dashboard.record.is_none() {
        for (_, line) in sokudo_report::demands::plain(dashboard.demands, lang) {
            println!("  {line}");
        }
    }
    let i18n = I18n::new(lang);
    for remark in dashboard.remarks {
        println!("  ! {}", i18n.text(remark));
    }
    if dashboard.requests.total.n > 0 {
        println!();
        table(dashboard, lang);
    }
    if let Some(page) = page {
        println!("\n  {dim}report{plain}  {}", shown_path(page));
    }
}

fn table(dashboard: &Dashboard, lang: Lang) {
    let requests = dashboard.requests;
    let i18n = I18n::new(lang);
    let word = |key: &str| i18n.text(&Text::new(key));
    let percentiles: Vec<f64> = requests
        .settings
        .percentiles
        .iter()
        .copied()
        .take(3)
        .collect();
    let mut head = vec![
        word("jtl-label"),
        word("jtl-requests"),
        word("jtl-failed-share"),
        word("jtl-mean"),
    ];
    head.extend(percentiles.iter().map(|p| format!("p{p}")));
    head.extend([word("jtl-max"), word("jtl-rate")]);
    let row = |name: String, group: &LabelGroup| {
        let seconds = |ms: f64| human(ms / 1e3, Unit::Seconds);
        let mut cells = vec![
            shortened(&name),
            units::grouped(group.n),
            units::percent(group.error_ratio()),
            seconds(group.mean_ms()),
        ];
        cells.extend(
            percentiles
                .iter()
                .map(|p| seconds(group.percentile_ms(*p) as f64)),
        );
        cells.extend([
            seconds(group.max_ms() as f64),
            human(group.per_second(), Unit::PerSecond),
        ]);
        cells
    };
    let mut labels: Vec<&LabelGroup> = requests.labels.iter().collect();
    labels.sort_by_key(|l| std::cmp::Reverse(l.n));
    let mut rows = vec![head, row(word("jtl-total"), &requests.total)];
    rows.extend(
        labels
            .iter()
            .take(MOST_LABELS)
            .map(|l| row(l.label.clone(), l)),
    );
    print_aligned(&rows);
    if labels.len() > MOST_LABELS {
        println!("  … {}", labels.len() - MOST_LABELS);
    }
}

/// A label without control characters, cut where it would push everything else away.
fn shortened(label: &str) -> String {
    let mut out = String::new();
    for c in label.chars() {
        if text_columns(&out) >= LABEL_COLUMNS - 1 {
            out.push('…');
            break;
        }
        out.push(if steers(c) { ' ' } else { c });
    }
    out
}

/// The first column to the left, all others to the right.
fn print_aligned(rows: &[Vec<String>]) {
    let n = rows.first().map_or(0, Vec::len);
    let width = |i: usize| {
        rows.iter()
            .map(|row| text_columns(&row[i]))
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..n).map(width).collect();
    for row in rows {
        let mut line = String::from("  ");
        for (i, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let pad = " ".repeat(width - text_columns(cell));
            match i {
                0 => line.push_str(&format!("{cell}{pad}")),
                _ => line.push_str(&format!("  {pad}{cell}")),
            }
        }
        println!("{line}");
    }
}
