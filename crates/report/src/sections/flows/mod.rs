//! What did each flow do?

use sokudo_model::{FlowResult, PhaseRecord, Text, Unit, load, metric};

use crate::block::{Block, Cell, Column, Table};
use crate::matrix;
use crate::names;
use crate::number::Scale;
use crate::view::{self, View};

/// Columns of the flow table, where any flow has the number.
const COLUMNS: &[&str] = &[
    "group.start_late_seconds",
    "datagram.sent_packets",
    "datagram.received_packets",
    "datagram.delivered_bits_per_second",
    "datagram.loss_ratio",
    "datagram.lost_at_sender_packets",
    "datagram.lost_on_path_packets",
    "datagram.lost_at_receiver_host_packets",
    "datagram.lost_at_receiver_socket_packets",
    "datagram.out_of_order_packets",
    "datagram.duplicate_packets",
    "datagram.jitter_seconds",
    "datagram.sender_cpu_ratio",
    "datagram.receiver_cpu_ratio",
    "probe.sent_packets",
    "probe.answered_packets",
    "probe.loss_up_ratio",
    "probe.loss_down_ratio",
    "probe.late_packets",
    "probe.unsent_packets",
    "probe.jitter_up_seconds",
    "probe.jitter_down_seconds",
    "probe.clock_error_seconds",
    "probe.sender_cpu_ratio",
    "probe.server_cpu_ratio",
    "rr.transactions",
    "rr.transactions_per_second",
    "rr.errors",
    "rr.window_full_ratio",
    "rr.late_ratio",
    "rr.latency_sd_seconds",
    "rr.client_cpu_ratio",
    "rr.server_cpu_ratio",
    "crr.connections",
    "crr.connections_per_second",
    "crr.errors",
    "crr.window_full_ratio",
    "crr.late_ratio",
    "crr.latency_sd_seconds",
    "crr.client_cpu_ratio",
    "crr.server_cpu_ratio",
    "stream.goodput_bits_per_second",
    "stream.received_bytes",
    "stream.missing_bytes",
    "stream.retransmitted_segments",
    "stream.smoothed_rtt_seconds",
    "stream.write_blocked_ratio",
    "stream.read_idle_ratio",
    "stream.receive_window_limited_ratio",
    "stream.send_buffer_limited_ratio",
    "stream.sender_cpu_ratio",
    "stream.receiver_cpu_ratio",
];

/// A table per measured phase, the subject's unfolded, and who reached whom how well as a matrix.
pub fn blocks(view: &View) -> Vec<Block> {
    let subject = view.subject().map(|p| p.name.as_str());
    // The trials of a search are in its own table. Load on a server goes to labels, not to hosts:
    // its generators have a table of their own.
    let between_hosts = |p: &&PhaseRecord| !matches!(p.workload.as_str(), "http" | "jmx");
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

/// What a flow carried over its time, for workloads without a rate of their own.
const CARRIED: &str = "carried";

/// True when the flows have a rate of their own.
fn has_rate(phase: &PhaseRecord) -> bool {
    let own = [
        "datagram.delivered_bits_per_second",
        "stream.goodput_bits_per_second",
    ];
    let mut flows = phase.result.flows.iter();
    flows.any(|flow| own.iter().any(|name| value(flow, name).is_some()))
}

/// A flow's number; bit rates and loss also from what they follow from.
fn value(flow: &FlowResult, name: &str) -> Option<f64> {
    flow.metrics.get(name).copied().or_else(|| match name {
        "datagram.delivered_bits_per_second" => view::delivered_bits(&flow.metrics),
        "datagram.loss_ratio" => view::loss(&flow.metrics),
        CARRIED => load::carried(&flow.metrics).map(load::Carried::bits_per_second),
        _ => None,
    })
}

fn table(phase: &PhaseRecord) -> Table {
    let flows = &phase.result.flows;
    let present: Vec<(&str, Scale)> = COLUMNS
        .iter()
        .filter(|name| flows.iter().any(|f| value(f, name).is_some()))
        .map(|name| {
            let values = flows.iter().filter_map(|f| value(f, name));
            (*name, Scale::of(values, metric::unit_of(name)))
        })
        .collect();
    let mut columns = vec![Column {
        title: Text::new("report-column-flow").into(),
        unit: String::new(),
        numeric: false,
    }];
    columns.extend(present.iter().map(|(name, scale)| Column {
        title: names::metric(name),
        unit: scale.unit.clone(),
        numeric: true,
    }));
    let rows = flows.iter().map(|flow| {
        let mut row = vec![flow_cell(flow)];
        row.extend(present.iter().map(|(name, scale)| {
            let value = value(flow, name);
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
        .map(|f| value(f, "datagram.loss_ratio").unwrap_or(0.0));
    let (row, loss) = losses.enumerate().max_by(|a, b| a.1.total_cmp(&b.1))?;
    (flows.len() > 1 && loss > 0.0).then_some(row)
}

/// Delivered rate and loss from each host to each other, when at least three take part.
fn matrices(phase: &PhaseRecord) -> Vec<Block> {
    let hosts = view::hosts_of(phase);
    if hosts.len() < 3 {
        return Vec::new();
    }
    [
        (
            "report-flows-matrix-rate",
            "datagram.delivered_bits_per_second",
            Unit::BitsPerSecond,
        ),
        (
            "report-flows-matrix-rate",
            "stream.goodput_bits_per_second",
            Unit::BitsPerSecond,
        ),
        ("report-flows-matrix-rate", CARRIED, Unit::BitsPerSecond),
        (
            "report-flows-matrix-loss",
            "datagram.loss_ratio",
            Unit::Ratio,
        ),
    ]
    .into_iter()
    .filter(|(_, name, _)| *name != CARRIED || !has_rate(phase))
    .filter(|(_, name, _)| phase.result.flows.iter().any(|f| value(f, name).is_some()))
    .map(|(title, name, unit)| Block::Table(matrix(phase, &hosts, title, name, unit)))
    .collect()
}

fn matrix(phase: &PhaseRecord, hosts: &[&str], title: &str, name: &str, unit: Unit) -> Table {
    let flows = &phase.result.flows;
    let between = |from: &str, to: &str| {
        let pair = flows.iter().filter(|f| f.from == from && f.to == to);
        let values: Vec<f64> = pair.filter_map(|f| value(f, name)).collect();
        match unit {
            // Parallel flows of one pair add up; of their losses the worst counts.
            Unit::Ratio => values.into_iter().reduce(f64::max),
            _ => values.into_iter().reduce(|a, b| a + b),
        }
    };
    matrix::matrix(Text::new(title), hosts, unit, between)
}
