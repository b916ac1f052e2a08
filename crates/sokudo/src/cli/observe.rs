//! Monitors that are asked for on the command line, and `sokudo monitors`.

use std::net::SocketAddr;

use clap::Args;
use serde_json::{Value, json};
use sokudo_i18n::I18n;
use sokudo_model::document::{Document, field};
use sokudo_model::{MonitorSpec, Text, metric};
use sokudo_monitors::{BadOption, COMMON_OPTIONS, Files, REGISTRY, Registered, find, parse};

use super::finish::LangOption;
use super::{Exit, Failure, meaning};

/// Which monitors observe a run beside those that every run has.
#[derive(Debug, Clone, Default, Args)]
pub struct ObserveArgs {
    /// Observe with this monitor, too: `process:port=8080`, `openmetrics:url=http://hosta:9100/metrics`.
    /// May be given several times; `sokudo monitors` lists them.
    #[arg(long = "monitor", value_name = "NAME[:KEY=VALUE,…]")]
    monitors: Vec<String>,
}

impl ObserveArgs {
    /// Monitors that were asked for. Errors: no such monitor, or an option that cannot be used.
    pub fn specs(&self) -> Result<Vec<MonitorSpec>, Failure> {
        let specs = read(&self.monitors, Files::Readable)?;
        let bounds = MonitorSpec::within_bounds(&specs);
        bounds.map_err(|says| Failure::operator(says, Text::new("error-monitors-fewer-hint")))?;
        Ok(specs)
    }

    /// Admin port of the sokudo target that is observed; `None` without one. Errors: the queues of another
    /// server are, whose knobs are not ours.
    pub fn target_admin(&self) -> Result<Option<SocketAddr>, Failure> {
        let specs = self.specs()?;
        let Some(spec) = specs.iter().find(|spec| spec.name == "target") else {
            return Ok(None);
        };
        let options: Value = serde_json::from_str(&spec.options).map_err(|error| {
            let says = Text::new("error-monitor-json").word("error", error.to_string());
            Failure::operator(says, Text::new("error-no-knobs-hint"))
        })?;
        let is_foreign = ["url", "mapping"]
            .iter()
            .any(|key| !options[*key].is_null());
        let at = options["at"].as_str().and_then(|at| at.parse().ok());
        match (at, is_foreign) {
            (Some(at), false) => Ok(Some(at)),
            _ => Err(Failure::operator(
                Text::new("error-no-knobs"),
                Text::new("error-no-knobs-hint"),
            )),
        }
    }

    /// The same and one more.
    pub fn and(&self, monitor: String) -> Self {
        let mut all = self.clone();
        all.monitors.push(monitor);
        all
    }
}

/// Reads monitors as they are typed.
pub fn read(texts: &[String], files: Files) -> Result<Vec<MonitorSpec>, BadOption> {
    texts.iter().map(|text| parse(text, files)).collect()
}

impl From<BadOption> for Failure {
    fn from(bad: BadOption) -> Self {
        Failure::operator(bad.text(), bad.hint())
    }
}

const EXAMPLES: &str = "\
Examples:
  sokudo monitors                          all of them
  sokudo monitors openmetrics              one, with its options and metrics
  sokudo http http://hosta/ --monitor process:name=nginx,on=hosta
  sokudo rr hostb --monitor 'process:port=7400,on=*' --monitor cpu:interval=1s";

/// Print every monitor: what it observes, its options, the metrics that it records.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct MonitorsArgs {
    /// One monitor instead of all.
    name: Option<String>,

    /// One JSON object per line, with the JSON schema of the options.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    language: LangOption,
}

/// Carries it out.
pub fn run(args: MonitorsArgs) -> Result<Exit, Failure> {
    let monitors = match &args.name {
        Some(name) => vec![find(name)?],
        None => REGISTRY.to_vec(),
    };
    if args.json {
        for monitor in &monitors {
            println!("{}", as_json(*monitor));
        }
        return Ok(Exit::Fine);
    }
    let said = I18n::reference(args.language.lang());
    for monitor in &monitors {
        print(&said, *monitor, args.name.is_some());
    }
    println!("\n{}:", said.message("reference-monitors-all", &[]));
    for (key, _) in COMMON_OPTIONS {
        let key_of_text = meaning::of_option(meaning::ANY, key);
        line(key, &said.message(&key_of_text, &[]));
    }
    Ok(Exit::Fine)
}

/// Each line of `sokudo monitors --json`.
#[rustfmt::skip]
pub const MONITORS: Document = Document {
    name: "monitors",
    command: "sokudo monitors --json",
    fields: &[
        field("name", "string", ""),
        field("help", "string", ""),
        field("standing", "boolean", ""),
        field("may_block", "boolean", ""),
        field("metrics", "array of string", ""),
        field("options", "any", ""),
    ],
};

fn as_json(monitor: &dyn Registered) -> Value {
    let info = monitor.info();
    json!({
        "name": info.name,
        "help": info.help,
        "standing": info.is_standing,
        "may_block": info.may_block,
        "metrics": info.metrics,
        "options": monitor.schema(),
    })
}

fn print(said: &I18n, monitor: &dyn Registered, with_metrics: bool) {
    let info = monitor.info();
    let when = match info.is_standing {
        true => "reference-monitors-standing",
        false => "reference-monitors-asked",
    };
    let about = said.message(&meaning::of_monitor(info.name), &[]);
    println!("{:<14} {about} — {}", info.name, said.message(when, &[]));
    for option in options(monitor) {
        let mut help = said.message(&meaning::of_option(info.name, &option.key), &[]);
        if let Some(default) = &option.default {
            help = format!(
                "{help} ({}: {default})",
                said.message("reference-default", &[])
            );
        }
        line(&option.key, &help);
    }
    if with_metrics {
        println!("\n{}:", said.message("reference-metrics", &[]));
        for metric in info.metrics.iter().filter_map(|name| metric::find(name)) {
            line(metric.name, &said.message(&meaning::of_metric(metric), &[]));
        }
    }
}

fn line(name: &str, help: &str) {
    println!("  {name:<38} {help}");
}

/// An option of a monitor.
pub struct MonitorOption {
    /// Its key, as typed.
    pub key: String,
    /// Its default, where it has one.
    pub default: Option<String>,
}

/// The options of a monitor, from its schema.
pub fn options(monitor: &dyn Registered) -> Vec<MonitorOption> {
    let schema = monitor.schema();
    let properties = schema["properties"]
        .as_object()
        .cloned()
        .unwrap_or_default();
    let one = |(key, property): (String, Value)| MonitorOption {
        key,
        default: match &property["default"] {
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            value => Some(value.to_string()),
        },
    };
    properties.into_iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_is_as_it_is_described() {
        let lines: Vec<_> = REGISTRY.iter().map(|monitor| as_json(*monitor)).collect();
        let differences = sokudo_testkit::document::differences(&MONITORS, &lines);
        assert!(differences.is_empty(), "{differences:#?}");
    }
}
