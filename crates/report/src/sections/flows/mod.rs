//! Section: the numbers of each flow.

use sokudo_model::kinds::{self, datagram};
use sokudo_model::metrics::group;
use sokudo_model::{FlowResult, Metric, PhaseRecord, Text, Unit};

use crate::block::{Block, Cell, Column, Table};
use crate::matrix;
use crate::names;
use crate::number::Scale;
use crate::view::{self, View};

/// Columns of the flow table: when each flow began, then those of the phase's own metrics that are
/// columns.
fn columns_of(phase: &PhaseRecord) -> impl Iterator<Item = Metric> {
    let sources = match phase.kind() {
        Some(kind) => vec![kind.metrics],
        // Several workloads together have flows of several kinds.
        None => kinds::SOURCES.to_vec(),
    };
    let all = sources.into_iter().flatten().copied();
    let columns = all.filter(|metric| metric.is_column);
    std::iter::once(group::START_LATE_SECONDS).chain(columns)
}

/// A table per measured phase, the subject's unfolded, and a matrix of rates and losses between hosts.
pub fn blocks(view: &View) -> Vec<Block> {
    let subject = view.subject().map(|p| p.name.as_str());
    // The trials of a search are in its own table. Load on a server goes to labels, not to hosts:
    // its generators have a table of their own.
    let between_hosts = |p: &&PhaseRecord| !p.kind().is_some_and(|kind| kind.by_label);
    let phases: Vec<&PhaseRecord> = view
        .measured()
        .filter(|p| !p.result.flows.is_empty())
        .filter(between_hosts)
        .collect();
    let several = phases.len() > 1;
    let mut out = Vec::new();
    for phase in phases {
        let mut blocks = matrices(phase);
        blocks.push(Block::Table(table(phase)));
        if !several {
            return blocks;
        }
        out.push(Block::Details {
            title: Text::new("report-flows-of")
                .word("phase", phase.name.clone())
                .word("n", phase.result.flows.len().to_string())
                .into(),
            open: Some(phase.name.as_str()) == subject || view::hosts_of(phase).len() > 2,
            blocks,
        });
    }
    out
}

/// A flow's number; bit rates and loss also from what they follow from.
fn value(flow: &FlowResult, metric: Metric) -> Option<f64> {
    let derived = || match metric {
        _ if metric == datagram::DELIVERED_BITS_PER_SECOND => view::delivered_bits(&flow.metrics),
        _ if metric == datagram::LOSS_RATIO => view::loss(&flow.metrics),
        _ => None,
    };
    metric.of(&flow.metrics).or_else(derived)
}

/// One number of a flow.
type Value = fn(&FlowResult) -> Option<f64>;

/// Bits per second that a flow carried: a rate of its own, or its payload over its time.
fn rate(flow: &FlowResult) -> Option<f64> {
    let own = datagram::DELIVERED_BITS_PER_SECOND;
    let carried = || kinds::carried(&flow.metrics).map(kinds::Carried::bits_per_second);
    value(flow, own).or_else(carried)
}

fn table(phase: &PhaseRecord) -> Table {
    let flows = &phase.result.flows;
    let present: Vec<(Metric, Scale)> = columns_of(phase)
        .filter(|metric| flows.iter().any(|f| value(f, *metric).is_some()))
        .map(|metric| {
            let values = flows.iter().filter_map(|f| value(f, metric));
            (metric, Scale::of(values, metric.unit))
        })
        .collect();
    let mut columns = vec![Column {
        title: Text::new("report-column-flow").into(),
        unit: String::new(),
        numeric: false,
    }];
    columns.extend(present.iter().map(|(metric, scale)| Column {
        title: names::metric(metric.name),
        unit: scale.unit.clone(),
        numeric: true,
    }));
    let rows = flows.iter().map(|flow| {
        let mut row = vec![flow_cell(flow)];
        row.extend(present.iter().map(|(metric, scale)| {
            let value = value(flow, *metric);
            value.map_or_else(Cell::missing, |v| Cell::number(scale.show(v), v))
        }));
        row
    });
    Table {
        title: Text::new("report-flows-table")
            .word("phase", phase.name.clone())
            .into(),
        rows: rows.collect(),
        columns,
        marked: worst(flows),
        tools: true,
    }
}

fn flow_cell(flow: &FlowResult) -> Cell {
    let name = view::flow_name(flow);
    match flow.complete {
        true => Cell::word(name),
        false => Cell::word(Text::new("report-flows-incomplete").word("flow", name)),
    }
}

/// The flow that lost most, when there are several and any lost.
fn worst(flows: &[FlowResult]) -> Option<usize> {
    let losses = flows
        .iter()
        .map(|f| value(f, datagram::LOSS_RATIO).unwrap_or(0.0));
    let (row, loss) = losses.enumerate().max_by(|a, b| a.1.total_cmp(&b.1))?;
    (flows.len() > 1 && loss > 0.0).then_some(row)
}

/// Delivered rate and loss from each host to each other, when at least three take part.
fn matrices(phase: &PhaseRecord) -> Vec<Block> {
    let hosts = view::hosts_of(phase);
    if hosts.len() < 3 {
        return Vec::new();
    }
    let of: [(&str, Unit, Value); 2] = [
        ("report-flows-matrix-rate", Unit::BitsPerSecond, rate),
        ("report-flows-matrix-loss", Unit::Ratio, |flow| {
            value(flow, datagram::LOSS_RATIO)
        }),
    ];
    of.into_iter()
        .filter(|(_, _, value)| phase.result.flows.iter().any(|f| value(f).is_some()))
        .map(|(title, unit, value)| Block::Table(matrix(phase, &hosts, title, unit, value)))
        .collect()
}

fn matrix(phase: &PhaseRecord, hosts: &[&str], title: &str, unit: Unit, value: Value) -> Table {
    let flows = &phase.result.flows;
    let between = |from: &str, to: &str| {
        let pair = flows.iter().filter(|f| f.from == from && f.to == to);
        let values: Vec<f64> = pair.filter_map(value).collect();
        match unit {
            // Parallel flows of one pair add up; of their losses the worst counts.
            Unit::Ratio => values.into_iter().reduce(f64::max),
            _ => values.into_iter().reduce(|a, b| a + b),
        }
    };
    matrix::matrix(Text::new(title), hosts, unit, between)
}
