//! The page of metrics: the catalogue by source.

use std::fmt::Write as _;

use sokudo_i18n::I18n;
use sokudo_model::metric::catalogue;
use sokudo_model::{Fold, Metric, Stat};

use super::{head, markdown, meaning, row, say, table};

const COLUMNS: &[&str] = &[
    "reference-metric",
    "reference-unit",
    "reference-kind",
    "reference-total",
    "reference-meaning",
];

/// The page in the language of `said`.
pub fn page(said: &I18n) -> String {
    let mut out = head(said, "metrics");
    let stats = Stat::ALL
        .map(|stat| format!("`.{}`", stat.name()))
        .join(", ");
    let kinds = said.message("reference-metrics-kinds", &[("stats", &stats)]);
    let _ = write!(
        out,
        "\n{kinds}\n\n{}\n",
        say(said, "reference-metrics-totals")
    );
    let mut sources: Vec<&str> = catalogue().map(source).collect();
    sources.dedup();
    for name in sources {
        let _ = write!(out, "\n## {name}\n");
        let about = format!("reference-source-{name}");
        if said.has(&about) {
            let _ = write!(out, "\n{}\n", say(said, &about));
        }
        out.push_str(&table(said, COLUMNS));
        for metric in catalogue().filter(|metric| source(metric) == name) {
            out.push_str(&row(&[
                &format!("`{metric}`"),
                metric.unit.name(),
                metric.kind.name(),
                &total(said, metric.fold),
                &markdown(&say(said, &meaning::of_metric(metric))),
            ]));
        }
    }
    out
}

/// First part of a metric's name.
fn source(metric: &Metric) -> &'static str {
    let name = metric.name;
    name.split_once('.').map_or(name, |(source, _)| source)
}

fn total(said: &I18n, fold: Fold) -> String {
    match fold {
        Fold::None => String::new(),
        Fold::Sum => say(said, "reference-fold-sum"),
        Fold::Max => say(said, "reference-fold-max"),
        Fold::Min => say(said, "reference-fold-min"),
        Fold::MeanBy(weight) => {
            let weight = format!("`{weight}`");
            said.message("reference-fold-mean", &[("weight", &weight)])
        }
        Fold::OfOne => say(said, "reference-fold-one"),
    }
}
