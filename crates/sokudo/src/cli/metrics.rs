//! `sokudo metrics`: the catalogue.

use clap::Args;
use sokudo_model::metric::{MetricKind, catalogue};

use super::{Exit, Failure};

/// Print every metric that a record can hold: name, unit, kind, what is counted.
#[derive(Debug, Args)]
pub struct MetricsArgs {
    /// Only metrics whose name contains this.
    filter: Option<String>,

    /// One JSON object per line.
    #[arg(long)]
    json: bool,
}

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
            format!("no metric has `{filter}` in its name"),
            "`sokudo metrics` prints them all",
        ));
    }
    for metric in catalogue().filter(|metric| wanted(metric.name)) {
        let kind = match metric.kind {
            MetricKind::Counter => "counter",
            MetricKind::Gauge => "gauge",
            MetricKind::Histogram => "histogram",
        };
        if args.json {
            println!(
                "{}",
                serde_json::json!({
                    "name": metric.name, "unit": metric.unit.name(), "kind": kind, "help": metric.help,
                })
            );
        } else {
            println!(
                "{:<48} {:<15} {kind:<10} {}",
                metric.name,
                metric.unit.name(),
                metric.help
            );
        }
    }
    Ok(Exit::Fine)
}
