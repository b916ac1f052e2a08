//! A test plan as a load of a scenario.

use std::path::PathBuf;

use clap::Parser;
use sokudo_load_http::jmx::{self, JmxOptions, Prepared, read_plan};
use sokudo_model::Text;
use sokudo_scenario::{Failed, LoadWord, OrderedLoad};
use sokudo_workload::values::Span;

use crate::typed::not_understood;

/// The word.
pub const WORD: LoadWord = LoadWord {
    name: jmx::NAME,
    takes_url: true,
};

/// Words that follow it.
#[derive(Debug, Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
struct PlanWords {
    plan: PathBuf,
    #[arg(long = "property")]
    properties: Vec<String>,
    #[arg(long)]
    users: Option<u64>,
    #[arg(long)]
    duration: Option<Span>,
}

/// Reads a plan of this host's files and what is changed of it: `PLAN --property NAME=VALUE --users N --duration TIME`.
///
/// Errors: the words cannot be understood, or the plan cannot be read or executed.
pub fn read(arguments: &[String]) -> Result<OrderedLoad, Failed> {
    let words = PlanWords::try_parse_from(arguments)
        .map_err(|error| Failed::from(not_understood(&error, jmx::NAME)))?;
    let pairs = words.properties.iter().map(|pair| {
        let pair = pair.split_once('=').filter(|(name, _)| !name.is_empty());
        pair.map(|(name, value)| (name.to_owned(), value.to_owned()))
    });
    let properties: Option<Vec<_>> = pairs.collect();
    let properties = properties.ok_or_else(|| {
        Failed::new(
            Text::new("error-scenario-property"),
            Text::new("error-scenario-property-hint"),
        )
    })?;
    let options = JmxOptions {
        plan: std::path::absolute(&words.plan).unwrap_or(words.plan),
        properties,
        users: words.users,
        duration_s: words.duration.map(|span| span.0.div_ceil(1_000_000_000)),
        ..JmxOptions::default()
    };
    // Random choices do not change how long it lasts.
    let plan = read_plan(&options, 0).and_then(|reading| Prepared::new(reading, &options, 0));
    let plan = plan.map_err(Failed::from)?.plan;
    let phase = jmx::phase_plan(&plan, &options, 1);
    Ok(OrderedLoad {
        workload: phase.workload,
        options: phase.options,
        duration_ns: phase.duration_ns,
        peers: Vec::new(),
        flows: phase
            .flows
            .iter()
            .map(|flow| (flow.from, flow.to, flow.stream))
            .collect(),
    })
}
