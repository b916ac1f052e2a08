//! How are the rows of a test told on a terminal, and to a program?

use std::path::Path;

use serde_json::{Value, json};
use sokudo_i18n::{I18n, Lang};
use sokudo_model::document::{Document, field};
use sokudo_model::kinds::http;
use sokudo_model::units::{self, human};
use sokudo_model::{Stat, Text, Unit, harmless::steers};
use sokudo_report::requests::Dashboard;
use sokudo_report::text_columns;
use sokudo_stats::requests::LabelGroup;

use crate::cli::failure::colored;

/// Labels told on a terminal: those with the most requests.
const MOST_LABELS: usize = 20;
/// Columns that a label may take.
const LABEL_COLUMNS: usize = 28;

/// Prints the verdict and the statistics.
pub fn show(dashboard: &Dashboard, page: Option<&Path>, lang: Lang) {
    let (bright, dim, plain) = match colored(&std::io::stdout()) {
        true => ("\x1b[1m", "\x1b[2m", "\x1b[0m"),
        false => ("", "", ""),
    };
    println!();
    for (i, sentence) in dashboard.says(lang).iter().enumerate() {
        let bright = if i == 0 { bright } else { "" };
        println!("  {bright}{sentence}{plain}");
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
        println!("\n  {dim}report{plain}  {}", page.display());
    }
}

/// The object that [`summary`] makes.
#[rustfmt::skip]
pub const ROWS: Document = Document {
    name: "jtl",
    command: "sokudo jtl report FILE --json",
    fields: &[
        field("schema", "string", ""),
        field("run", "string", ""),
        field("status", "string", ""),
        field("workload", "string", ""),
        field("summary", "map of number", ""),
        field("checks", "array of object", ""),
        field("checks[].name", "string", ""),
        field("checks[].passed", "boolean", ""),
        field("checks[].value", "number", ""),
        field("remarks", "array of string", ""),
        field("verdict", "array of string", ""),
        field("report", "string or null", ""),
    ],
};

/// Verdict's numbers under names that any program of the project reads.
pub fn summary(dashboard: &Dashboard, page: Option<&Path>) -> Value {
    let total = &dashboard.requests.total;
    let at = |percent: f64| total.percentile_ms(percent) as f64 / 1e3;
    let goals = dashboard.goals.into_iter().flat_map(|goals| goals.iter());
    let checks: Vec<Value> = goals
        .map(|goal| {
            json!({ "name": goal.typed, "passed": goal.is_kept(total), "value": goal.reached(total) })
        })
        .collect();
    let broken = dashboard.remarks.iter().map(|remark| remark.key.as_str());
    json!({
        "schema": "sokudo.summary/1",
        "run": dashboard.name,
        "status": "ok",
        "workload": http::KIND.name,
        "summary": {
            http::REQUESTS.name: total.n,
            http::REQUESTS_PER_SECOND.name: total.per_second(),
            http::ERROR_RATIO.name: total.error_ratio(),
            (http::SERVICE_SECONDS.stat(Stat::Mean)): total.mean_ms() / 1e3,
            (http::SERVICE_SECONDS.stat(Stat::P50)): at(50.0),
            (format!("{}.p95", http::SERVICE_SECONDS)): at(95.0),
            (http::SERVICE_SECONDS.stat(Stat::P99)): at(99.0),
            (http::SERVICE_SECONDS.stat(Stat::Max)): total.max_ms() as f64 / 1e3,
            "http.received_bytes_per_second": total.bytes_per_second(),
            "http.sent_bytes_per_second": total.sent_bytes_per_second(),
        },
        "checks": checks,
        "remarks": broken.collect::<Vec<_>>(),
        "verdict": dashboard.says(Lang::En),
        "report": page.map(|page| page.display().to_string()),
    })
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

#[cfg(test)]
mod tests {
    use sokudo_stats::requests::goals::Goals;
    use sokudo_stats::requests::{Request, Settings, Tally};

    use super::*;

    #[test]
    fn the_object_is_as_it_is_described() {
        let mut tally = Tally::new(Settings::default());
        tally.add(&Request {
            success: true,
            ..Request::default()
        });
        let requests = tally.finish();
        let goals: Goals = "p95<2s".parse().expect("goals");
        let dashboard = Dashboard {
            name: "rows.jtl",
            requests: &requests,
            started: "",
            earlier: None,
            goals: Some(&goals),
            record: None,
            remarks: &[Text::new("jtl-remark-cut")],
        };
        let shown = [None, Some(Path::new("index.html"))].map(|page| summary(&dashboard, page));
        let differences = sokudo_testkit::document::differences(&ROWS, &shown);
        assert!(differences.is_empty(), "{differences:#?}");
    }
}
