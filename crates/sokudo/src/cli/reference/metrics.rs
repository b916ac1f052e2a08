//! The page of metrics: the catalogue by source.

use std::fmt::Write as _;

use sokudo_i18n::{I18n, Lang};
use sokudo_model::metric::catalogue;
use sokudo_model::{Fold, Metric, Stat};

use super::{head, markdown, row, say, table};

const COLUMNS: &[&str] = &[
    "reference-metric",
    "reference-unit",
    "reference-kind",
    "reference-total",
    "reference-meaning",
];

/// The page in the language of `said`.
pub fn page(said: &I18n) -> String {
    let meanings = Meanings {
        lang: said.lang(),
        report: I18n::new(said.lang()),
    };
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
    if said.lang() != Lang::En {
        let all = catalogue().count().to_string();
        let english = catalogue().filter(|metric| meanings.own(metric).is_none());
        let english = english.count().to_string();
        let values = [("all", all.as_str()), ("english", english.as_str())];
        let _ = write!(
            out,
            "\n{}\n",
            said.message("reference-metrics-english", &values)
        );
    }
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
                &meanings.of(metric),
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

/// What metrics mean, in the reader's language as far as the report has words for it.
struct Meanings {
    lang: Lang,
    report: I18n,
}

impl Meanings {
    fn of(&self, metric: &Metric) -> String {
        self.own(metric).unwrap_or_else(|| markdown(metric.help))
    }

    /// What it means in the reader's own language; `None` where only the catalogue says it.
    fn own(&self, metric: &Metric) -> Option<String> {
        if self.lang == Lang::En {
            return None;
        }
        let part = |is_there: bool, key: &str| {
            let key = format!("report-{key}-{}", metric.slug());
            is_there.then(|| markdown(&self.report.message(&key, &[])))
        };
        let (name, help) = (
            part(metric.is_named, "metric"),
            part(metric.is_helped, "help"),
        );
        match (name, help) {
            (Some(name), Some(help)) => Some(format!("{name}: {help}")),
            (name, help) => name.or(help),
        }
    }
}
