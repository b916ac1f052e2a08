//! `sokudo metrics`: the catalogue.

use clap::Args;
use sokudo_i18n::I18n;
use sokudo_model::document::{Document, field};
use sokudo_model::metric::catalogue;
use sokudo_model::{Metric, Text};

use super::finish::LangOption;
use super::{Exit, Failure, meaning};

/// Print every metric that a record can hold: name, unit, kind, what is counted.
#[derive(Debug, Args)]
pub struct MetricsArgs {
    /// Only metrics whose name contains this.
    filter: Option<String>,

    /// One JSON object per line.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    language: LangOption,
}

/// Each line of `sokudo metrics --json`.
#[rustfmt::skip]
pub const METRICS: Document = Document {
    name: "metrics",
    command: "sokudo metrics --json",
    fields: &[
        field("name", "string", ""),
        field("unit", "string", ""),
        field("kind", "string", ""),
        field("help", "string", ""),
    ],
};

/// Carries it out.
pub fn run(args: MetricsArgs) -> Result<Exit, Failure> {
    let wanted = |name: &str| {
        args.filter
            .as_deref()
            .is_none_or(|filter| name.contains(filter))
    };
    if let Some(filter) = args.filter.as_deref()
        && !catalogue().any(|metric| wanted(metric.name))
    {
        return Err(Failure::operator(
            Text::new("error-metric-unknown").with("filter", filter),
            Text::new("error-metric-unknown-hint"),
        ));
    }
    let said = I18n::reference(args.language.lang());
    for metric in catalogue().filter(|metric| wanted(metric.name)) {
        let kind = metric.kind.name();
        if args.json {
            println!("{}", as_json(metric));
        } else {
            println!(
                "{:<48} {:<15} {kind:<10} {}",
                metric.name,
                metric.unit.name(),
                said.message(&meaning::of_metric(metric), &[])
            );
        }
    }
    Ok(Exit::Fine)
}

fn as_json(metric: &Metric) -> serde_json::Value {
    serde_json::json!({
        "name": metric.name,
        "unit": metric.unit.name(),
        "kind": metric.kind.name(),
        "help": metric.help,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_is_as_it_is_described() {
        let lines: Vec<_> = catalogue().map(as_json).collect();
        let differences = sokudo_testkit::document::differences(&METRICS, &lines);
        assert!(differences.is_empty(), "{differences:#?}");
    }
}
