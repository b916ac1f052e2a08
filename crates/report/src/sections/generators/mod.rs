//! Section: the numbers of each load generator, which show whether one of them held the others back.
//!
//! Counts and shares are added up from the flows of a host. Percentiles cannot be: those of all
//! generators together come from their merged histograms, and stand above.

use std::collections::HashMap;

use sokudo_model::kinds::{Exchange, Family};
use sokudo_model::metrics::group;
use sokudo_model::{FlowResult, Fold, Kind, Metric, PhaseRecord, Text};

use crate::block::{Block, Cell, Column, Table};
use crate::number::Scale;
use crate::view::{View, hosts_that_ask};

/// A column, with the end of its title's key.
type Heading = (Metric, &'static str);

/// Columns of a kind of load, where any generator has the number.
fn headings(kind: &Kind, exchange: &Exchange) -> Vec<Heading> {
    let late = exchange.late_starts.map(|metric| (metric, "late"));
    let head = [
        (exchange.answered, "answers"),
        (exchange.per_second, "rate"),
        (exchange.error_ratio, "failed"),
    ];
    let tail = [
        (exchange.unstarted, "unstarted"),
        (kind.ends.near.cpu, "cpu"),
        (group::START_LATE_SECONDS, "began"),
    ];
    head.into_iter().chain(late).chain(tail).collect()
}

/// The numbers of one host about the load that it made.
#[derive(Debug, Clone, PartialEq)]
struct Generator<'a> {
    host: &'a str,
    /// In the order of the headings.
    numbers: Vec<Option<f64>>,
    /// False when it did not deliver its numbers.
    complete: bool,
}

/// A table per measured phase whose load several hosts made; nothing for other runs.
pub fn blocks(view: &View) -> Vec<Block> {
    tables(view).map(Block::Table).collect()
}

/// The same tables, for the terminal too.
pub fn tables<'a>(view: &'a View<'_>) -> impl Iterator<Item = Table> + 'a {
    view.measured().filter_map(|phase| {
        let (headings, generators) = generators(phase)?;
        (generators.len() > 1).then(|| table(phase, &headings, &generators))
    })
}

/// The generators of a phase and their columns; `None` for a load between hosts of the run.
fn generators(phase: &PhaseRecord) -> Option<(Vec<Heading>, Vec<Generator<'_>>)> {
    let kind = phase.kind().filter(|kind| kind.by_label)?;
    let Family::Exchange(exchange) = kind.family else {
        return None;
    };
    let headings = headings(kind, exchange);
    let mut own: HashMap<&str, Vec<&FlowResult>> = HashMap::new();
    for flow in &phase.result.flows {
        own.entry(&flow.from).or_default().push(flow);
    }
    let hosts = hosts_that_ask(phase).into_iter();
    let generators = hosts.map(|host| generator(host, &own[host], exchange, &headings));
    let generators = generators.collect();
    Some((headings, generators))
}

fn generator<'a>(
    host: &'a str,
    flows: &[&FlowResult],
    exchange: &Exchange,
    headings: &[Heading],
) -> Generator<'a> {
    let kind = |flow: &FlowResult, word: &str| flow.labels.get("kind").is_some_and(|k| k == word);
    // The samples of a transaction have a flow of their own.
    let counted = || flows.iter().filter(|flow| !kind(flow, "transaction"));
    let each = |metric: Metric| counted().filter_map(move |flow| metric.of(&flow.metrics));
    let value = |metric: Metric| match metric.fold {
        _ if metric == exchange.error_ratio => failed(counted().copied(), exchange),
        _ if metric == exchange.unstarted => {
            let sum = each(metric).reduce(|a, b| a + b);
            sum.filter(|n| *n > 0.0)
        }
        Fold::Sum => each(metric).reduce(|a, b| a + b),
        _ => each(metric).reduce(f64::max),
    };
    Generator {
        host,
        numbers: headings.iter().map(|(metric, _)| value(*metric)).collect(),
        complete: flows.iter().all(|flow| flow.complete),
    }
}

/// Failed ones of all that were due: what a flow did not begin has failed, too.
fn failed<'a>(flows: impl Iterator<Item = &'a FlowResult>, exchange: &Exchange) -> Option<f64> {
    let (mut failed, mut due) = (0.0, 0.0);
    for flow in flows {
        let get = |metric: Metric| metric.of(&flow.metrics).unwrap_or(0.0);
        let asked = get(exchange.answered) + get(exchange.errors);
        let unstarted = get(exchange.unstarted);
        due += asked + unstarted;
        // A flow that asks counts what it did not begin; one that stands for a generator has no
        // ratio, and only that.
        failed += match exchange.error_ratio.of(&flow.metrics) {
            Some(ratio) => ratio * (asked + unstarted),
            None => unstarted,
        };
    }
    (due > 0.0).then(|| failed / due)
}

fn title(key: &str) -> Text {
    Text::new(format!("report-generators-{key}"))
}

fn table(phase: &PhaseRecord, headings: &[Heading], generators: &[Generator<'_>]) -> Table {
    let values = |at: usize| generators.iter().filter_map(move |one| one.numbers[at]);
    let shown: Vec<(usize, Scale)> = (0..headings.len())
        .filter(|at| values(*at).next().is_some())
        .map(|at| (at, Scale::of(values(at), headings[at].0.unit)))
        .collect();
    let mut columns = vec![Column {
        title: Text::new("report-generators-host").into(),
        unit: String::new(),
        numeric: false,
    }];
    columns.extend(shown.iter().map(|(at, scale)| Column {
        title: title(headings[*at].1).into(),
        unit: scale.unit.clone(),
        numeric: true,
    }));
    let rows = generators.iter().map(|one| {
        let mut row = vec![match one.complete {
            true => Cell::word(one.host),
            false => Cell::word(Text::new("report-flows-incomplete").word("flow", one.host)),
        }];
        row.extend(shown.iter().map(|(at, scale)| {
            let value = one.numbers[*at];
            value.map_or_else(Cell::missing, |v| Cell::number(scale.show(v), v))
        }));
        row
    });
    Table {
        title: Text::new("report-generators-table")
            .word("phase", phase.name.clone())
            .into(),
        rows: rows.collect(),
        columns,
        marked: None,
        tools: true,
    }
}

#[cfg(test)]
mod tests {
    use sokudo_i18n::{I18n, Lang};
    use sokudo_model::{Labels, PhaseResult, kinds};

    use super::*;

    fn flow(from: &str, to: &str, metrics: &[(&str, f64)]) -> FlowResult {
        let metrics = metrics.iter().map(|(name, value)| ((*name).into(), *value));
        FlowResult {
            from: from.into(),
            to: to.into(),
            metrics: metrics.collect(),
            complete: true,
            ..FlowResult::default()
        }
    }

    fn phase(workload: &str, flows: Vec<FlowResult>) -> PhaseRecord {
        let result = PhaseResult {
            flows,
            ..PhaseResult::default()
        };
        PhaseRecord::plain("measure", workload, (0, 1), result)
    }

    #[test]
    fn labels_of_a_host_are_added_and_transactions_are_not() {
        let mut transaction = flow("a", "all", &[("http.requests", 100.0)]);
        transaction.labels = Labels::from([("kind".into(), "transaction".into())]);
        let asked = |to: &str, n: f64, failed: f64| {
            let metrics = [
                ("http.requests", n),
                ("http.errors", 0.0),
                ("http.error_ratio", failed),
            ];
            flow("a", to, &metrics)
        };
        let mut gone = flow("b", "*", &[]);
        gone.complete = false;
        let phase = phase(
            "jmx",
            vec![
                flow(
                    "a",
                    "*",
                    &[
                        ("http.unstarted_requests", 10.0),
                        ("http.client_cpu_ratio", 0.5),
                    ],
                ),
                asked("one", 30.0, 0.1),
                asked("two", 60.0, 0.0),
                transaction,
                gone,
            ],
        );
        let (headings, generators) = generators(&phase).expect("a load by label");
        // 3 of 90 failed, and 10 more were due.
        let of = |key| {
            let at = headings.iter().position(|heading| heading.1 == key);
            generators[0].numbers[at.expect("a heading")]
        };
        let [requests, failed] = ["answers", "failed"].map(of);
        let [unstarted, cpu] = ["unstarted", "cpu"].map(of);
        assert_eq!(
            (requests, unstarted, cpu),
            (Some(90.0), Some(10.0), Some(0.5))
        );
        assert!((failed.unwrap_or(0.0) - 0.13).abs() < 1e-12, "{failed:?}");
        assert_eq!((generators[1].host, generators[1].complete), ("b", false));
        let table = table(&phase, &headings, &generators);
        assert!(
            table
                .rows
                .iter()
                .all(|row| row.len() == table.columns.len())
        );
    }

    #[test]
    fn every_column_has_a_title() {
        for lang in Lang::ALL {
            let i18n = I18n::new(lang);
            let http = kinds::http::KIND;
            for (_, key) in headings(&http, &kinds::http::EXCHANGE) {
                assert!(i18n.has(&title(key).key), "{lang:?}: {key}");
            }
        }
    }

    #[test]
    fn other_workloads_have_no_generators() {
        assert!(generators(&phase("rr", vec![flow("a", "b", &[])])).is_none());
    }
}
